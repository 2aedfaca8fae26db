import type { BlockHeader, ReceiptLookup } from '../domain/block.js';
import type { SlotFate, SlotQuestion } from '../domain/slot-fate.js';
import type { RpcReply, RpcRequest } from './json-rpc.js';
import { blockHeader, MalformedAnswer, quantity } from './parse-answer.js';
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
 * nothing together. One that does not answer keeps a slot open.
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
  return questions.map((_, index) => fateOf(testimonies, index));
}

function call(method: string, ...params: readonly unknown[]): RpcRequest {
  return { method, params };
}

function testimonyOf(questions: readonly SlotQuestion[], replies: readonly RpcReply[]): Testimony {
  let at = questions.length + 1;
  const slots = questions.map(({ nonce, hashes }, index) => {
    const count = valueOf(replies[index], (value) => quantity(value, 'count'));
    const lookups = hashes.map((hash) => lookup(hash, replies[at++]));
    return { passed: count !== null && count > nonce, lookups };
  });
  return { head: valueOf(replies[questions.length], blockHeader), slots };
}

function fateOf(testimonies: readonly Testimony[], index: number): SlotFate {
  const slots = testimonies.flatMap(({ slots: all }) => all[index] ?? []);
  const found = slots.flatMap(({ lookups }) => lookups).find((answer) => answer.kind === 'found');
  if (found) return { kind: 'mined', receipt: found.receipt };
  const [head] = testimonies.flatMap((testimony) => testimony.head ?? []).sort((a, b) => b.number - a.number);
  const agreed = slots.every(({ passed, lookups }) => passed && lookups.every(({ kind }) => kind === 'none'));
  const headsKnown = testimonies.every((testimony) => testimony.head !== null);
  return head !== undefined && agreed && headsKnown ? { kind: 'passed', head } : { kind: 'open' };
}

/** null for anything but an answer of the right shape. */
function valueOf<T>(reply: RpcReply | undefined, parse: (value: unknown) => T): T | null {
  if (reply?.kind !== 'result' || reply.value === null) return null;
  try {
    return parse(reply.value);
  } catch (error) {
    if (error instanceof MalformedAnswer) return null;
    throw error;
  }
}
