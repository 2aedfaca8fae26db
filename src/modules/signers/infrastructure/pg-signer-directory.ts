import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database/database.js';
import type { SqlRunner, SqlValue } from '../../../platform/database/pg-tx.js';
import type { CustodiedSigner } from '../domain/custody.js';
import { SignerDirectory } from '../domain/signer-directory.js';

const REGISTER = {
  name: 'signer_register',
  text: `
    INSERT INTO signer (chain_id, address, custody)
    SELECT * FROM unnest($1::bigint[], $2::text[], $3::jsonb[]) AS s (chain_id, address, custody) ORDER BY 1, 2
        ON CONFLICT (chain_id, address) DO UPDATE SET custody = excluded.custody WHERE signer.custody <> excluded.custody`,
};

/** Another address of the same key. */
const MOVED = {
  name: 'signer_moved',
  text: `
    SELECT s.chain_id, s.address AS before, n.address AS now, n.custody ->> 'keyId' AS key_id
      FROM unnest($1::bigint[], $2::text[], $3::jsonb[]) AS n (chain_id, address, custody)
      JOIN signer s ON s.chain_id = n.chain_id AND s.custody = n.custody AND s.address <> n.address
     LIMIT 1`,
};

/** One after the other: each compares itself with what the others have stored. */
const TURN = { name: 'signer_register_turn', text: `SELECT pg_advisory_xact_lock(7250319)` };

/** Where each node was compared when it started, what is stored of a signer is what the others have. */
const DISAGREED = {
  name: 'signer_disagreed',
  text: `
    SELECT s.chain_id, s.address, s.custody ->> 'type' AS there
      FROM unnest($1::bigint[], $2::text[], $3::jsonb[]) AS n (chain_id, address, custody)
      JOIN signer s ON s.chain_id = n.chain_id AND s.address = n.address
     WHERE (s.custody ->> 'type' = 'external') <> (n.custody ->> 'type' = 'external')
       AND EXISTS (SELECT FROM node o JOIN node_key_set k ON k.key_set = o.key_set
                    WHERE o.node_id <> $4 AND o.last_seen_at > clock_timestamp() - $5::float8 * interval '1 ms'
                      AND n.chain_id || ':' || n.address = ANY(k.signers))
     LIMIT 1`,
};

@Injectable()
export class PgSignerDirectory extends SignerDirectory {
  constructor(private readonly database: Database) {
    super();
  }

  async register(signers: readonly CustodiedSigner[], self: string, windowMs: number): Promise<void> {
    await this.refuseMoved(signers);
    await this.database.transaction(async (tx) => {
      await tx.query(TURN, []);
      await refuseDisagreed(tx, signers, self, windowMs);
      await tx.query(REGISTER, columnsOf(signers));
    });
  }

  async refuseMoved(signers: readonly CustodiedSigner[]): Promise<void> {
    const ofServices = signers.filter(({ reference }) => reference.keyId !== undefined);
    if (ofServices.length === 0) return;
    const { rows } = await this.database.query<MovedRow>(MOVED, columnsOf(ofServices));
    for (const moved of rows)
      throw new Error(
        `the key ${moved.key_id} had the address ${moved.before} on chain ${moved.chain_id}, and has ${moved.now} now: name the key that it had, or the new one by an id of its own`,
      );
  }
}

/** One of them would sign for nonces that the other one gives to outside senders. */
async function refuseDisagreed(
  tx: SqlRunner,
  signers: readonly CustodiedSigner[],
  self: string,
  windowMs: number,
): Promise<void> {
  const { rows } = await tx.query<DisagreedRow>(DISAGREED, [...columnsOf(signers), self, windowMs]);
  for (const { chain_id, address, there } of rows)
    throw new Error(
      `the custody of ${address} on chain ${chain_id} is ${there} at a node that runs, and external at one of the two only: stop all nodes, and start them with one config`,
    );
}

interface DisagreedRow {
  readonly chain_id: string;
  readonly address: string;
  readonly there: string;
}

interface MovedRow {
  readonly chain_id: string;
  readonly before: string;
  readonly now: string;
  readonly key_id: string;
}

function columnsOf(signers: readonly CustodiedSigner[]): SqlValue[] {
  return [
    signers.map(({ signer }) => signer.chainId),
    signers.map(({ signer }) => signer.address),
    signers.map(({ reference }) => JSON.stringify(reference)),
  ];
}
