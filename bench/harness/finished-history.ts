import { RpcClient } from './rpc-client.js';
import type { Stack } from './stack.js';
import type { TxLog } from './tx-log.js';

/** What differs between a real finished transaction and its copies; null for what the database makes up itself. */
const DIFFERENCES: Readonly<Record<string, Readonly<Record<string, string | null>>>> = {
  managed_tx: {
    tx_id: 'o.tx_id',
    signer: 'o.signer',
    nonce: 'o.nonce',
    request_id: "'old-' || o.n",
    tx_hash: 'o.hash',
  },
  signer_nonce_allocation: { tx_id: 'o.tx_id', signer: 'o.signer', nonce: 'o.nonce', tx_hash: 'o.hash' },
  tx_attempt: { tx_id: 'o.tx_id', signer: 'o.signer', nonce: 'o.nonce', tx_hash: 'o.hash' },
  tx_event: { tx_id: 'o.tx_id', tx_hash: 'CASE WHEN t.tx_hash IS NOT NULL THEN o.hash END', xid: null, seq: null },
};
const PIECE = 50_000;

/**
 * Fills the tables of a stack whose services stand still with finished transactions of its own signers: copies of one
 * that was really executed, with its slot, attempt and events, and the chain's nonces set to match. So the tables are as
 * the service itself fills them, whatever it writes.
 */
export async function addFinished(stack: Stack, count: number, say: (line: string) => void): Promise<void> {
  const { log, addresses } = stack;
  const signers = addresses.map((address) => address.toLowerCase());
  const [example] = await log.query<{ tx_id: string }>(
    "SELECT tx_id FROM managed_tx WHERE state = 'CONFIRMED' LIMIT 1",
  );
  const [cursor] = await log.query<{ next: string }>('SELECT max(next_nonce)::text AS next FROM signer_nonce_cursor');
  if (!example || !cursor) throw new Error('there is no finished transaction to copy');
  const firstNonce = Number(cursor.next);
  await log.query('CREATE TEMPORARY TABLE old_one (n int, tx_id uuid, hash text, signer text, nonce bigint)');
  for (let from = 0; from < count; from += PIECE) {
    const size = Math.min(PIECE, count - from);
    await name(log, from, size, signers, firstNonce);
    for (const table of Object.keys(DIFFERENCES)) await copy(log, table, example.tx_id);
    say(`${from + size} of ${count} finished transactions are in the tables`);
  }
  // As autovacuum would have done long ago.
  await log.query('VACUUM ANALYZE');
  await log.query('CHECKPOINT');
  await setNonces(stack.chain.url, addresses, firstNonce + Math.ceil(count / signers.length));
}

/** Round robin over the signers. Ids grow with time, and these are of the days before. */
async function name(log: TxLog, from: number, count: number, signers: readonly string[], nonce: number): Promise<void> {
  await log.query('TRUNCATE old_one');
  await log.query(
    `INSERT INTO old_one
     SELECT n, uuidv7(make_interval(secs => n * 0.1) - interval '10 days'), '0x' || md5('a' || n) || md5('b' || n),
            ($3::text[])[1 + n % $4::int], $5::bigint + n / $4::int
       FROM generate_series($1::int, $2::int) AS n`,
    [from, from + count - 1, signers, signers.length, nonce],
  );
}

async function copy(log: TxLog, table: string, example: string): Promise<void> {
  const differs = DIFFERENCES[table] ?? {};
  const columns = await log.query<{ name: string }>(
    'SELECT column_name AS name FROM information_schema.columns WHERE table_name = $1 ORDER BY ordinal_position',
    [table],
  );
  const copied = columns.map(({ name }) => name).filter((column) => differs[column] !== null);
  const values = copied.map((column) => differs[column] ?? `t.${column}`);
  await log.query(
    `INSERT INTO ${table} (${copied.join(', ')})
     SELECT ${values.join(', ')} FROM ${table} t CROSS JOIN old_one o WHERE t.tx_id = $1 ORDER BY o.n`,
    [example],
  );
}

/** The next transaction of each of these accounts has this nonce. */
async function setNonces(chainUrl: string, addresses: readonly string[], nonce: number): Promise<void> {
  const rpc = new RpcClient(chainUrl, 1);
  try {
    await rpc.batch(
      'anvil_setNonce',
      addresses.map((address) => [address, `0x${nonce.toString(16)}`]),
    );
  } finally {
    await rpc.close();
  }
}
