import type { BlockHeader, BlockRef, ReceiptLookup } from '../domain/block.js';
import { sufficient } from '../domain/evidence.js';
import type { NonceUse, NonceQuestion } from '../domain/nonce-use.js';
import type { RpcReply, RpcRequest } from './rpc/json-rpc.js';
import { nonceUsers, BLOCK_NOT_READ } from './nonce-users.js';
import { blockHash, blockHeader, fields, parsedOrNull, quantity, smallNumber } from './parse-answer.js';
import { lookup } from './receipt-lookups.js';
import type { RpcPool } from './rpc/rpc-pool.js';
import type { EndpointAnswer } from './rpc/quorum-reads.js';

/** The block of a transaction; null when it is in no block, or not known to the endpoint; `unknown` when the endpoint did not answer. */
type Place = BlockRef | 'unknown' | null;

/** The answers of one endpoint for all slots. */
interface AccountAnswer {
  readonly isCurrent: boolean;
  /** Head of the endpoint, read after the nonces: the transaction counts were valid at this block. */
  readonly head: BlockHeader | null;
  readonly slots: readonly {
    /** Null when it is not told. */
    readonly passed: boolean | null;
    readonly lookups: readonly ReceiptLookup[];
    readonly places: readonly Place[];
  }[];
}

/**
 * Asks every configured endpoint of the right chain, and evaluates each endpoint by itself: the transaction count of one endpoint and
 * the missing receipt of another, which lags, prove nothing together. An endpoint that does not answer, lags or has no state keeps a
 * slot open. Since one URL may lead to several nodes, the transaction that used the nonce is searched in the blocks, too: a block with
 * a transaction of ours outweighs any missing receipt.
 *
 * @param round counts the calls, see {@link nonceUsers}
 */
export async function nonceUses(
  pool: RpcPool,
  questions: readonly NonceQuestion[],
  round: number,
): Promise<NonceUse[]> {
  if (questions.length === 0) return [];
  const requests = [
    ...questions.map(({ account }) => call('eth_getTransactionCount', account, 'latest')),
    call('eth_getBlockByNumber', 'latest', false),
    ...questions.flatMap(({ hashes }) => hashes.map((each) => call('eth_getTransactionReceipt', each))),
    // A node that prunes receipts and state mostly keeps the transactions.
    ...questions.flatMap(({ hashes }) => hashes.map((each) => call('eth_getTransactionByHash', each))),
  ];
  const answers = (await pool.answers('move_payload', requests)).map((answer) => accountAnswer(questions, answer));
  const uses = questions.map((_, index) => useOf(answers, index));
  return withUsers(pool, questions, uses, round);
}

async function withUsers(
  pool: RpcPool,
  questions: readonly NonceQuestion[],
  uses: readonly NonceUse[],
  round: number,
): Promise<NonceUse[]> {
  const passed = questions.flatMap((slot, i) => (uses[i]?.kind === 'passed' ? [{ slot, head: uses[i].head }] : []));
  const users = await nonceUsers(
    (requests) => pool.read(requests),
    passed.map(({ slot }) => slot),
    Math.max(...passed.map(({ head }) => head.number)),
    round,
    pool.chainId,
  );
  const userOf = new Map(passed.map(({ slot }, i) => [slot, users[i] ?? null]));
  return uses.map((use, i): NonceUse => {
    const slot = questions[i];
    const user = slot === undefined ? undefined : userOf.get(slot);
    if (use.kind !== 'passed' || !slot || !user) return use;
    if (user === BLOCK_NOT_READ) return { kind: 'open' };
    return slot.hashes.includes(user.txHash) ? { kind: 'ours', block: user.block } : { ...use, user };
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
    return { passed: count === null ? null : count > nonce, lookups, places };
  });
  return { isCurrent, head: parsedOrNull(replies[questions.length], blockHeader), slots };
}

function useOf(answers: readonly AccountAnswer[], index: number): NonceUse {
  const slots = answers.flatMap(({ slots: all }) => all[index] ?? []);
  const found = slots.flatMap(({ lookups }) => lookups).find((answer) => answer.kind === 'found');
  if (found) return { kind: 'mined', receipt: found.receipt };
  const places = slots.flatMap((slot) => slot.places);
  const block = places.find((place) => place !== null && place !== 'unknown');
  if (block) return { kind: 'ours', block };
  const foreignUses = answers.map((answer) => (hasOnlyForeignUse(answer, index) ? answer : null));
  const head = highestHead(sufficient('move_payload', foreignUses) ?? []);
  if (head !== null) return { kind: 'passed', head, user: null };
  const told = slots.flatMap(({ passed }) => passed ?? []);
  const isFree = told.length > 0 && !told.includes(true);
  return isFree ? { kind: 'open', isFree } : { kind: 'open' };
}

/** The endpoint has a higher transaction count, has no receipt of any transaction of ours, and has a head. */
function hasOnlyForeignUse({ slots, head }: AccountAnswer, index: number): boolean {
  const slot = slots[index];
  if (slot === undefined || head === null || slot.passed !== true || slot.places.includes('unknown')) return false;
  return slot.lookups.every(({ kind }) => kind === 'none');
}

/** Not the head of an endpoint far ahead, if there are others: such a block may never exist, and would never be final. */
function highestHead(answers: readonly AccountAnswer[]): BlockHeader | null {
  const current = answers.filter(({ isCurrent }) => isCurrent);
  const heads = (current.length > 0 ? current : answers).flatMap(({ head }) => head ?? []);
  return heads.toSorted((a, b) => b.number - a.number)[0] ?? null;
}

function placeOf(reply: RpcReply | undefined): Place {
  if (reply?.kind !== 'result') return 'unknown';
  if (reply.value === null) return null;
  const parsed = parsedOrNull(reply, place);
  return parsed === null ? 'unknown' : parsed.block;
}

function place(value: unknown): { readonly block: Place } {
  const raw = fields(value, 'transaction');
  const inBlock = blockHash(raw['blockHash'], 'transaction.blockHash');
  if (inBlock === null) return { block: null };
  return { block: { number: smallNumber(raw['blockNumber'], 'transaction.blockNumber'), hash: inBlock } };
}
