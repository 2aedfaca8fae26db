import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database/database.js';
import type { CustodiedSigner } from '../domain/custody.js';
import { SignerDirectory } from '../domain/signer-directory.js';

const REGISTER = {
  name: 'signer_register',
  text: `
    INSERT INTO signer (chain_id, address, custody)
    SELECT * FROM unnest($1::bigint[], $2::text[], $3::jsonb[]) AS s (chain_id, address, custody) ORDER BY 1, 2
        ON CONFLICT (chain_id, address) DO UPDATE SET custody = excluded.custody WHERE signer.custody <> excluded.custody`,
};

@Injectable()
export class PgSignerDirectory extends SignerDirectory {
  constructor(private readonly database: Database) {
    super();
  }

  async register(signers: readonly CustodiedSigner[]): Promise<void> {
    await this.database.query(REGISTER, [
      signers.map(({ signer }) => signer.chainId),
      signers.map(({ signer }) => signer.address),
      signers.map(({ reference }) => JSON.stringify(reference)),
    ]);
  }
}
