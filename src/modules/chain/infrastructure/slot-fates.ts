import type { BlockHeader, ReceiptLookup } from '../domain/block.js';
import type { SlotFate, SlotQuestion } from '../domain/slot-fate.js';
import type { RpcReply, RpcRequest } from './json-rpc.js';
import { nonceUsers, UNREAD } from './nonce-users.js';
import { blockHeader, parsedOrNull, quantity } from './parse-answer.js';
import { lookup } from './receipt-lookups.js';
import type { RpcPool } from './rpc-pool.js';

/** What one endpoint says about all the slots. */
interface Testimony {
  /** Of the endpoint, read after the nonces: by this block they were what it said. */
  readonly head: BlockHeader | null;
  readonly slots: readonly { readonly passed: boolean; readonly lookups: readonly ReceiptLookup[] }[];
}

/**
 * Asks every usable endpoint, each for itself: the nonce of one and the missing receipt of another, which lags, would prove
 * nothing together. One that does not answer keeps a slot open. Behind one URL there may be several nodes all the same, so
 * whoever is said to have used a nonce is looked for in the blocks, too: a block with one of ours outweighs any missing receipt.
 */
export async function slotFates(pool: RpcPool, questions: readonly SlotQuestion[]): Promise<SlotFate[]> {
  if (questions.length === 0) return [];
  const requests = [
    ...questions.map(({ account }) => call('eth_getTransactionCount', account, 'latest')),
    call('eth_getBlockByNumber', 'latest', false),
    ...questions.flatMap(({ hashes }) => hashes.map((hash) => call('eth_getTransactionReceipt', hash))),
  ];
  const answers = await Promise.all(await pool.sendToAll(requests));
  const testimonies = answers.map((replies) => testimonyOf(questions, replies));
  const fates = questions.map((_, index) => fateOf(testimonies, index));
  return withUsers(pool, questions, fates);
}

async function withUsers(
  pool: RpcPool,
  questions: readonly SlotQuestion[],
  fates: readonly SlotFate[],
): Promise<SlotFate[]> {
  const passed = questions.flatMap((slot, i) => (fates[i]?.kind === 'passed' ? [{ slot, head: fates[i].head }] : []));
  const users = await nonceUsers(
    (requests) => pool.read(requests),
    passed.map(({ slot }) => slot),
    Math.max(...passed.map(({ head }) => head.number)),
  );
  const userOf = new Map(passed.map(({ slot }, i) => [slot, users[i] ?? null]));
  return fates.map((fate, i): SlotFate => {
    const slot = questions[i];
    const user = slot === undefined ? undefined : userOf.get(slot);
    if (fate.kind !== 'passed' || !slot || !user) return fate;
    if (user === UNREAD) return { kind: 'open' };
    return slot.hashes.includes(user.txHash) ? { kind: 'ours', block: user.block } : { ...fate, user };
  });
}

function call(method: string, ...params: readonly unknown[]): RpcRequest {
  return { method, params };
}

function testimonyOf(questions: readonly SlotQuestion[], replies: readonly RpcReply[]): Testimony {
  let at = questions.length + 1;
  const slots = questions.map(({ nonce, hashes }, index) => {
    const count = parsedOrNull(replies[index], (value) => quantity(value, 'count'));
    const lookups = hashes.map((hash) => lookup(hash, replies[at++]));
    return { passed: count !== null && count > nonce, lookups };
  });
  return { head: parsedOrNull(replies[questions.length], blockHeader), slots };
}

function fateOf(testimonies: readonly Testimony[], index: number): SlotFate {
  const slots = testimonies.flatMap(({ slots: all }) => all[index] ?? []);
  const found = slots.flatMap(({ lookups }) => lookups).find((answer) => answer.kind === 'found');
  if (found) return { kind: 'mined', receipt: found.receipt };
  const [head] = testimonies.flatMap((testimony) => testimony.head ?? []).sort((a, b) => b.number - a.number);
  const agreed = slots.every(({ passed, lookups }) => passed && lookups.every(({ kind }) => kind === 'none'));
  const headsKnown = testimonies.every((testimony) => testimony.head !== null);
  return head !== undefined && agreed && headsKnown ? { kind: 'passed', head, user: null } : { kind: 'open' };
}
