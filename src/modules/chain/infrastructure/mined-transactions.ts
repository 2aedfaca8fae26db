import type { Address, Hash } from '../../../kernel/hex.js';
import type { ChainId, Nonce } from '../../../kernel/signer-id.js';
import type { MinedQuestion, MinedTransactions, SentTransaction } from '../domain/sent-transaction.js';
import type { RpcReply, RpcRequest } from './rpc/json-rpc.js';
import { blockHeader, hexQuantity, parsedOrNull, quantity } from './parse-answer.js';
import { transactionsOf } from './pooled-transactions.js';
import type { RpcPool } from './rpc/rpc-pool.js';

/** Blocks with all their transactions in one read. */
const FULL_BLOCKS_PER_CALL = 16;
/** The most blocks that one search reads: some hours on a chain with a block every two seconds. */
const MAX_BLOCKS_READ = 5_000;
/** The search for the start time goes back 2^20 blocks at most, which are weeks to months. */
const MAX_DISTANCE_POWER = 20;

/**
 * Finds the mined transactions of accounts since a time, by reading blocks from the head down. Accounts whose transaction count did not
 * change since then are not searched. Null when no endpoint answered.
 */
export async function minedTransactions(
  pool: RpcPool,
  head: number,
  questions: readonly MinedQuestion[],
): Promise<(MinedTransactions | null)[]> {
  if (questions.length === 0) return [];
  const before = await lastBlockBefore(pool, head, Math.min(...questions.map(({ since }) => since)));
  const idle = await idleSince(pool, before, head, questions);
  const walk = new Walk(
    questions.filter((question) => !idle.has(question.account)),
    pool.chainId,
  );
  for (let to = head; to > before && !walk.done && head - to < MAX_BLOCKS_READ; to -= FULL_BLOCKS_PER_CALL) {
    const heights = Array.from({ length: Math.min(FULL_BLOCKS_PER_CALL, to - before) }, (_, i) => to - i);
    const replies = await pool.read(heights.map((height) => block(height, true)));
    if (replies.some(({ kind }) => kind === 'failed')) return questions.map(() => null);
    for (const reply of replies) walk.read(reply);
  }
  const reached = walk.done || (walk.unbroken && head - before <= MAX_BLOCKS_READ);
  return questions.map(({ account, from }) => {
    if (idle.has(account)) return { transactions: [], complete: true };
    return { transactions: walk.of(account, from), complete: reached };
  });
}

/** Number of a block from before the time, not far below it; -1 when all blocks that were read are newer. */
async function lastBlockBefore(pool: RpcPool, head: number, since: number): Promise<number> {
  const distances = Array.from({ length: MAX_DISTANCE_POWER + 1 }, (_, power) => 2 ** power).filter(
    (each) => each <= head,
  );
  const heights = [...distances.map((distance) => head - distance), 0];
  const replies = await pool.read(heights.map((height) => block(height, false)));
  const older = replies.flatMap((reply) => {
    const header = parsedOrNull(reply, blockHeader);
    const isOlder = header !== null && header.timestamp !== null && header.timestamp < since;
    return isOlder ? [header.number] : [];
  });
  return Math.max(-1, ...older);
}

/** Accounts whose transaction count did not change since that block, at every endpoint that has both states. */
async function idleSince(
  pool: RpcPool,
  before: number,
  head: number,
  questions: readonly MinedQuestion[],
): Promise<ReadonlySet<Address>> {
  if (before < 0) return new Set();
  const requests = questions.flatMap(({ account }) => [count(account, before), count(account, head)]);
  const answers = await Promise.all(await pool.sendToAll(requests));
  const idle = questions.filter((_, index) => {
    const answered = answers.flatMap((replies) => {
      const [then, now] = [counted(replies[2 * index]), counted(replies[2 * index + 1])];
      return then === null || now === null ? [] : [then === now];
    });
    return answered.length > 0 && answered.every((same) => same);
  });
  return new Set(idle.map(({ account }) => account));
}

/** The transactions found so far. */
class Walk {
  private readonly found: SentTransaction[] = [];
  /** The parent of the lowest block that was read. */
  private parent: Hash | null = null;
  private isOverGap = false;
  private isBroken = false;

  constructor(
    private readonly questions: readonly MinedQuestion[],
    private readonly chainId: ChainId,
  ) {}

  /** The nonces of an account grow with the blocks: below its first nonce of interest nothing is left to find. */
  get done(): boolean {
    return this.questions.every(({ account, from }) =>
      this.found.some((each) => each.account === account && each.nonce <= from),
    );
  }

  /** A height without a block breaks nothing when the blocks around it are parent and child (docs/invariants.md, K4). */
  read(reply: RpcReply): void {
    if (reply.kind !== 'result' || reply.value === null) {
      this.isOverGap = true;
      return;
    }
    const header = parsedOrNull(reply, blockHeader);
    if (this.isOverGap && header?.hash !== this.parent) this.isBroken = true;
    this.isOverGap = false;
    this.parent = header?.parentHash ?? null;
    for (const { account } of this.questions) this.found.push(...transactionsOf(reply, account, this.chainId));
  }

  get unbroken(): boolean {
    return !this.isBroken && !this.isOverGap;
  }

  of(account: Address, from: Nonce): SentTransaction[] {
    return this.found.filter((each) => each.account === account && each.nonce >= from);
  }
}

function block(height: number, whole: boolean): RpcRequest {
  return { method: 'eth_getBlockByNumber', params: [hexQuantity(height), whole] };
}

function count(account: Address, height: number): RpcRequest {
  return { method: 'eth_getTransactionCount', params: [account, hexQuantity(height)] };
}

function counted(reply: RpcReply | undefined): Nonce | null {
  return parsedOrNull(reply, (value) => quantity(value, 'count'));
}
