import { WEBHOOK_KEY, webhookSecrets } from '../support/webhook-secrets.js';
import { DEV_CHAIN } from '../support/builders.js';
import { ACTORS, type Neighbourhood } from './neighbourhood.js';
import { urlOf } from './poisoned-receivers.js';
import { markOf } from './poisoned-wire.js';

/** Of the poisoned actor. */
export const POISONED = 1_000;
/** Of each of the others, one a second. */
export const EACH = 7;
const EVERY_MS = 1_000;
/** Between actors: who becomes due when a round has just begun waits for the next one, alone too. */
const APART_MS = 170;

/** One item of one of the others. */
export interface Item {
  readonly actor: number;
  readonly n: number;
}

/** When it becomes due, from the start. */
export const dueMs = ({ actor, n }: Item): number => n * EVERY_MS + actor * APART_MS;

export const ITEMS_OF_OTHERS: readonly Item[] = Array.from({ length: ACTORS - 1 }, (_, at) => at + 1).flatMap((actor) =>
  Array.from({ length: EACH }, (_, n) => ({ actor, n })),
);

/** Of item `n`: the poisoned ones are due for long. */
const DUE_OF_OTHERS = `clock_timestamp() + (n * ${EVERY_MS} + $3::int * ${APART_MS}) * interval '1 ms'`;
const DUE_OF_POISONED = `clock_timestamp() - interval '10 minutes' + n * interval '1 ms'`;
const ID = `('01900000-0000-7000-8' || lpad(to_hex($3::int), 3, '0') || '-' || lpad(to_hex(n), 12, '0'))::uuid`;
const REPLACEMENT = ID.replace('0000-7000', '0001-7000');
/** See `markOf`. */
const MARK = `('0xfa' || lpad(to_hex($3::int), 4, '0') || lpad(to_hex(n), 58, '0'))`;
/** Of a tx `t`. */
export const ITEM = `('x' || substr(t.tx_id::text, 21, 3))::bit(12)::int AS actor, ('x' || right(t.tx_id::text, 6))::bit(24)::int AS n`;
export const IS_OTHERS = `substr(t.tx_id::text, 21, 3) <> '000'`;

/** Columns and their values in SQL; `due` stands for the time when the item is due. */
export type Columns = Readonly<Record<string, string>>;

/** @param table has a row per item: `n` is its number, `$1` the chain, `$2` the signer, `$3` the actor */
async function insert(lab: Neighbourhood, actor: number, table: string, columns: Columns): Promise<void> {
  const due = actor === 0 ? DUE_OF_POISONED : DUE_OF_OTHERS;
  const values = Object.values(columns).map((value) => value.replaceAll(/\bdue\b/g, due));
  const count = actor === 0 ? POISONED : EACH;
  await lab.run(
    `INSERT INTO ${table} (chain_id, ${Object.keys(columns).join()})
     SELECT k.chain_id, ${values.join()} FROM (SELECT $1::bigint AS chain_id, $2::text AS address, $3::int AS actor) k, generate_series(0, ${count - 1}) AS n`,
    [DEV_CHAIN, lab.signers[actor]?.address, actor],
  );
}

const TX: Columns = {
  tx_id: ID,
  signer: 'k.address',
  request_id: `'item-' || n`,
  request_hash: `'0x' || repeat('0', 64)`,
  to_address: `'0x' || repeat('7', 40)`,
  value: '0',
  data: `''`,
  options: `'{"speed": "standard"}'`,
  priority: '0',
};

/** Who has items: the others, and the poisoned one if there is poison. */
export function actors(isPoisoned: boolean): number[] {
  return Array.from({ length: ACTORS }, (_, actor) => actor).slice(isPoisoned ? 0 : 1);
}

export const waiting = (lab: Neighbourhood, actor: number, columns: Columns): Promise<void> =>
  insert(lab, actor, 'managed_tx', { ...TX, state: `'PENDING'`, ...columns });

/** Txs in a pool, with attempts that are only said to be signed. */
export async function inFlight(lab: Neighbourhood, actor: number, columns: Columns): Promise<void> {
  await insert(lab, actor, 'managed_tx', {
    ...TX,
    state: `'IN_MEMPOOL'`,
    nonce: 'n',
    gas_limit: '21000',
    tx_hash: MARK,
    ...columns,
  });
  await insert(lab, actor, 'tx_attempt', {
    tx_id: ID,
    signer: 'k.address',
    nonce: 'n',
    kind: `'payload'`,
    tx_hash: MARK,
    raw: `decode(substr(${MARK}, 3), 'hex')`,
    gas_limit: '21000',
    max_fee_per_gas: '3000000000',
    max_priority_fee_per_gas: '1000000000',
    status: `'ACCEPTED'`,
    fencing_token: '1',
    priced_at_block: '0',
  });
  await insert(lab, actor, 'signer_nonce_allocation', {
    signer: 'k.address',
    nonce: 'n',
    status: `'HELD'`,
    tx_id: ID,
    fencing_token: '1',
  });
  await lab.run(
    `INSERT INTO signer_nonce_cursor (chain_id, signer, next_nonce, fencing_token, last_synced_at) VALUES ($1, $2, $3, 1, clock_timestamp())`,
    [DEV_CHAIN, lab.signers[actor]?.address, actor === 0 ? POISONED : EACH],
  );
}

/** Txs in a pool, each of which its client wants to replace. */
export async function replaced(lab: Neighbourhood, actor: number): Promise<void> {
  await inFlight(lab, actor, {});
  await waiting(lab, actor, {
    tx_id: REPLACEMENT,
    request_id: `'replacement-' || n`,
    sub_state: `'REPLACING'`,
    replaces: ID,
    next_resubmit_at: `'infinity'`,
  });
  await insert(lab, actor, 'tx_command', {
    command_id: `gen_random_uuid()`,
    signer: 'k.address',
    tx_id: ID,
    kind: `'replace'`,
    request_id: `'command-' || n`,
    request_hash: `'0x' || repeat('0', 64)`,
    replacement: REPLACEMENT,
    status: `'QUEUED'`,
    due_at: 'due',
  });
}

/** Webhooks that wait, of an endpoint of this actor. */
export async function deliveries(lab: Neighbourhood, actor: number): Promise<void> {
  const id = `01900000-0000-7000-8000-${actor.toString(16).padStart(12, '0')}`;
  const secret = webhookSecrets(WEBHOOK_KEY).encrypted(`whsec_${Buffer.alloc(32).toString('base64')}`, id);
  await lab.run('INSERT INTO webhook_endpoint (endpoint_id, url, secret) VALUES ($1, $2, $3)', [
    id,
    urlOf(actor),
    secret,
  ]);
  const due = actor === 0 ? DUE_OF_POISONED : DUE_OF_OTHERS;
  await lab.run(
    `INSERT INTO webhook_delivery (endpoint_id, xid, seq, part, type, body, event_at, give_up_at, due_at)
     SELECT '${id}', '7'::xid8, n, 0, 'transaction.sent', '{}', clock_timestamp(), clock_timestamp() + interval '1 day', ${due.replace('$3', String(actor))}
       FROM generate_series(0, ${actor === 0 ? POISONED : EACH} - 1) AS n`,
  );
}

/** What is mined of the others, and of the poisoned one nothing. */
export function mine(lab: Neighbourhood, some: readonly number[]): void {
  for (const actor of some)
    for (let n = 0; n < (actor === 0 ? 0 : EACH); n += 1) {
      const hash = markOf(actor, n);
      const from = lab.signers[actor]?.address;
      const fees = { maxFeePerGas: 3_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };
      if (from) lab.chain.force({ hash, from, nonce: BigInt(n), data: '0x01', raw: hash, ...fees });
    }
  lab.chain.mine();
}
