import { Client } from 'pg';
import { DEV_CHAIN_ID } from './dev-accounts.js';
import type { SeenBlock } from './drift.js';
import { callRpc } from './json-rpc.js';

const LAST_FINAL = `
  SELECT block_number::text AS number, block_hash AS hash FROM managed_tx
   WHERE chain_id = $1 AND state = 'CONFIRMED' ORDER BY block_number DESC LIMIT 1`;

/** The dev chain according to the database. */
export interface ChainMemory {
  readonly hasHistory: boolean;
  readonly lastFinal: SeenBlock | null;
}

export async function readChainMemory(url: string): Promise<ChainMemory> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    // Before its first migration a database has neither table.
    const tables = "SELECT to_regclass('chain_block') IS NOT NULL AND to_regclass('managed_tx') IS NOT NULL AS made";
    if (!(await client.query<{ made: boolean }>(tables)).rows[0]?.made) return { hasHistory: false, lastFinal: null };
    const history = 'SELECT EXISTS (SELECT FROM chain_block) OR EXISTS (SELECT FROM managed_tx) AS any';
    const found = (await client.query<{ any: boolean }>(history)).rows[0]?.any ?? false;
    const final = (await client.query<{ number: string; hash: string }>(LAST_FINAL, [DEV_CHAIN_ID])).rows[0];
    return { hasHistory: found, lastFinal: final ? { number: Number(final.number), hash: final.hash } : null };
  } finally {
    await client.end();
  }
}

/** @returns null when the chain ends below `number` */
export async function hashAt(rpcUrl: string, number: number): Promise<string | null> {
  const block = await callRpc(rpcUrl, 'eth_getBlockByNumber', [`0x${number.toString(16)}`, false]);
  return typeof block === 'object' && block !== null && 'hash' in block ? String(block.hash).toLowerCase() : null;
}
