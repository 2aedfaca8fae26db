import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database/database.js';
import { type Callback, CallbackEndpoints } from '../application/callback-endpoints.js';

const EXISTING = {
  name: 'callbacks_existing',
  text: `
    SELECT EXISTS (SELECT FROM webhook_endpoint e WHERE e.endpoint_id = c.endpoint_id AND e.account_id = c.account_id AND e.deleted_at IS NULL) AS there
      FROM unnest($1::uuid[], $2::uuid[]) WITH ORDINALITY AS c (endpoint_id, account_id, position) ORDER BY c.position`,
};

@Injectable()
export class PgCallbackEndpoints extends CallbackEndpoints {
  constructor(private readonly database: Database) {
    super();
  }

  async exist(callbacks: readonly Callback[]): Promise<boolean[]> {
    const ids = callbacks.map(({ endpointId }) => endpointId);
    const accounts = callbacks.map(({ account }) => account);
    const { rows } = await this.database.query<{ there: boolean }>(EXISTING, [ids, accounts]);
    return rows.map(({ there }) => there);
  }
}
