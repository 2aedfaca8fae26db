import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database/database.js';
import { CallbackEndpoints } from '../application/callback-endpoints.js';

const EXISTING = {
  name: 'callbacks_existing',
  text: 'SELECT e.endpoint_id FROM webhook_endpoint e WHERE e.endpoint_id = ANY($1::uuid[]) AND e.account_id = $2 AND e.deleted_at IS NULL',
};

@Injectable()
export class PgCallbackEndpoints extends CallbackEndpoints {
  constructor(private readonly database: Database) {
    super();
  }

  async existing(endpointIds: readonly string[], account: string): Promise<ReadonlySet<string>> {
    const { rows } = await this.database.query<{ endpoint_id: string }>(EXISTING, [endpointIds, account]);
    return new Set(rows.map(({ endpoint_id }) => endpoint_id));
  }
}
