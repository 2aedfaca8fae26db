import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database/database.js';
import { CallbackEndpoints } from '../application/intake/callback-endpoints.js';

const EXISTS = {
  name: 'callback_exists',
  text: 'SELECT FROM webhook_endpoint e WHERE e.endpoint_id = $1 AND e.deleted_at IS NULL',
};

@Injectable()
export class PgCallbackEndpoints extends CallbackEndpoints {
  constructor(private readonly database: Database) {
    super();
  }

  async exists(endpointId: string): Promise<boolean> {
    return (await this.database.query(EXISTS, [endpointId])).rows.length > 0;
  }
}
