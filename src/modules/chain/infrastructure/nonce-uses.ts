import type { BlockHeader, BlockRef, ReceiptLookup } from '../domain/block.js';
import { sufficient } from '../domain/evidence.js';
import type { NonceUse, NonceQuestion } from '../domain/nonce-use.js';
import type { RpcReply, RpcRequest } from './rpc/json-rpc.js';
import { nonceUsers, UNREAD } from './nonce-users.js';
import { blockHeader, fields, hash, parsedOrNull, quantity, smallNumber } from './parse-answer.js';
import { lookup } from './receipt-lookups.js';
import type { RpcPool } from './rpc/rpc-pool.js';
import type { EndpointAnswer } from './rpc/hearing.js';

/** The block of a transaction; null when it is in none, or not known; `unsaid` when that was not answered. */
type Place = BlockRef | 'unsaid' | null;

/** What one endpoint says about all the slots. */
interface AccountAnswer {
  readonly isCurrent: boolean;
  /** Of the endpoint, read after the nonces: by this block they were what it said. */
  readonly head: BlockHeader | null;
  readonly slots: readonly {
    readonly passed: boolean;
    readonly lookups: readonly ReceiptLookup[];
    readonly places: readonly Place[];
  }[];
}

/**
 * Asks every configured endpoint of the right chain, each for itself: the nonce of one and the missing receipt of another, which
 * lags, would prove nothing together. Any of them that is silent, lags or has no state keeps a slot open. Behind one URL there may be several nodes all the same, so
 * whoever is said to have used a nonce is looked for in the blocks, too: a block with one of ours outweighs any missing receipt.
 */
export async function nonceUses(pool: RpcPool, questions: readonly NonceQuestion[], look: number): Promise<NonceUse[]> {
  if (questions.length === 0) return [];
  const requests = [
    ...questions.map(({ account }) => call('eth_getTransactionCount', account, 'latest')),
    call('eth_getBlockByNumber', 'latest', false),
    ...questions.flatMap(({ hashes }) => hashes.map((each) => call('eth_getTransactionReceipt', each))),
    // Where receipts and state are pruned, the transactions mostly are not.
    ...questions.flatMap(({ hashes }) => hashes.map((each) => call('eth_getTransactionByHash', each))),
  ];
  const answers = (await pool.answers('move_payload', requests)).map((told) => accountAnswer(questions, told));
  const fates = questions.map((_, index) => fateOf(answers, index));
  return withUsers(pool, questions, fates, look);
}

async function withUsers(
  pool: RpcPool,
  questions: readonly NonceQuestion[],
  fates: readonly NonceUse[],
  look: number,
): Promise<NonceUse[]> {
  const passed = questions.flatMap((slot, i) => (fates[i]?.kind === 'passed' ? [{ slot, head: fates[i].head }] : []));
  const users = await nonceUsers(
    (requests) => pool.read(requests),
    passed.map(({ slot }) => slot),
    Math.max(...passed.map(({ head }) => head.number)),
    look,
  );
  const userOf = new Map(passed.map(({ slot }, i) => [slot, users[i] ?? null]));
  return fates.map((fate, i): NonceUse => {
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

function accountAnswer(questions: readonly NonceQuestion[], { replies, isCurrent }: EndpointAnswer): AccountAnswer {
  let at = questions.length + 1;
  let placeAt = at + questions.reduce((sum, { hashes }) => sum + hashes.length, 0);
  const slots = questions.map(({ nonce, hashes }, index) => {
    const count = parsedOrNull(replies[index], (value) => quantity(value, 'count'));
    const lookups = hashes.map((hash) => lookup(hash, replies[at++]));
    const places = hashes.map(() => placeOf(replies[placeAt++]));
    return { passed: count !== null && count > nonce, lookups, places };
  });
  return { isCurrent, head: parsedOrNull(replies[questions.length], blockHeader), slots };
}

function fateOf(answers: readonly AccountAnswer[], index: number): NonceUse {
  const slots = answers.flatMap(({ slots: all }) => all[index] ?? []);
  const found = slots.flatMap(({ lookups }) => lookups).find((answer) => answer.kind === 'found');
  if (found) return { kind: 'mined', receipt: found.receipt };
  const places = slots.flatMap((slot) => slot.places);
  const block = places.find((place) => place !== null && place !== 'unsaid');
  if (block) return { kind: 'ours', block };
  const denials = answers.map((answer) => (denies(answer, index) ? answer : null));
  const head = highestHead(sufficient('move_payload', denials) ?? []);
  return head === null ? { kind: 'open' } : { kind: 'passed', head, user: null };
}

/** It has mined past the nonce, knows every transaction of ours not to be mined, and says as of which block. */
function denies({ slots, head }: AccountAnswer, index: number): boolean {
  const slot = slots[index];
  if (slot === undefined || head === null || !slot.passed || slot.places.includes('unsaid')) return false;
  return slot.lookups.every(({ kind }) => kind === 'none');
}

/** Not that of an endpoint far ahead, if there are others: such a block may never come, and would never be final. */
function highestHead(answers: readonly AccountAnswer[]): BlockHeader | null {
  const current = answers.filter(({ isCurrent }) => isCurrent);
  const heads = (current.length > 0 ? current : answers).flatMap(({ head }) => head ?? []);
  return heads.toSorted((a, b) => b.number - a.number)[0] ?? null;
}

function placeOf(reply: RpcReply | undefined): Place {
  if (reply?.kind !== 'result') return 'unsaid';
  if (reply.value === null) return null;
  const parsed = parsedOrNull(reply, place);
  return parsed === null ? 'unsaid' : parsed.block;
}

function place(value: unknown): { readonly block: Place } {
  const { blockNumber, blockHash } = fields(value, 'transaction');
  if (blockHash === null || blockHash === undefined) return { block: null };
  const number = smallNumber(blockNumber, 'transaction.blockNumber');
  return { block: { number, hash: hash(blockHash, 'transaction.blockHash') } };
}
