import type { Address } from '../../../kernel/hex.js';
import type { Nonce } from '../../../kernel/signer-id.js';
import type { MinedQuestion, MinedTransactions, SentTransaction } from '../domain/sent-transaction.js';
import type { RpcReply, RpcRequest } from './rpc/json-rpc.js';
import { blockHeader, hexQuantity, parsedOrNull, quantity } from './parse-answer.js';
import { transactionsOf } from './pooled-transactions.js';
import type { RpcPool } from './rpc/rpc-pool.js';

/** Blocks with all their transactions in one call. */
const AT_ONCE = 16;
/** Blocks read at most: some hours on a chain of a block every two seconds. */
const MOST_BLOCKS = 5_000;
/** 2^20 blocks are months on most chains. */
const FARTHEST = 20;

/**
 * Finds what accounts had mined since a time, reading blocks from the head down. Blocks are read only where the account's count says
 * that it sent anything, or cannot say it, because the state of that block is gone. Null when no endpoint answered.
 */
export async function minedTransactions(
  pool: RpcPool,
  head: number,
  questions: readonly MinedQuestion[],
): Promise<(MinedTransactions | null)[]> {
  if (questions.length === 0) return [];
  const before = await lastBlockBefore(pool, head, Math.min(...questions.map(({ since }) => since)));
  const idle = await idleSince(pool, before, head, questions);
  const walk = new Walk(questions.filter((question) => !idle.has(question.account)));
  for (let to = head; to > before && !walk.done && head - to < MOST_BLOCKS; to -= AT_ONCE) {
    const heights = Array.from({ length: Math.min(AT_ONCE, to - before) }, (_, i) => to - i);
    const replies = await pool.read(heights.map((height) => block(height, true)));
    if (replies.some(({ kind }) => kind === 'failed')) return questions.map(() => null);
    for (const reply of replies) walk.read(reply);
  }
  const reached = walk.done || (walk.unbroken && head - before <= MOST_BLOCKS);
  return questions.map(({ account, from }) => {
    if (idle.has(account)) return { transactions: [], complete: true };
    return { transactions: walk.of(account, from), complete: reached };
  });
}

/** Number of a block from before the time, one of the newest; -1 when all blocks that are known are younger. */
async function lastBlockBefore(pool: RpcPool, head: number, since: number): Promise<number> {
  const distances = Array.from({ length: FARTHEST + 1 }, (_, power) => 2 ** power).filter((each) => each <= head);
  const heights = [...distances.map((distance) => head - distance), 0];
  const replies = await pool.read(heights.map((height) => block(height, false)));
  const older = replies.flatMap((reply) => {
    const header = parsedOrNull(reply, blockHeader);
    return header !== null && header.timestamp < since ? [header.number] : [];
  });
  return Math.max(-1, ...older);
}

/** Accounts whose count did not move since that block, by every endpoint that can tell. */
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
    const told = answers.flatMap((replies) => {
      const [then, now] = [counted(replies[2 * index]), counted(replies[2 * index + 1])];
      return then === null || now === null ? [] : [then === now];
    });
    return told.length > 0 && told.every((same) => same);
  });
  return new Set(idle.map(({ account }) => account));
}

/** What was found on the way down. */
class Walk {
  private readonly found: SentTransaction[] = [];
  unbroken = true;

  constructor(private readonly questions: readonly MinedQuestion[]) {}

  /** An account's nonces grow with the blocks: below its first one of interest there is nothing more. */
  get done(): boolean {
    return this.questions.every(({ account, from }) =>
      this.found.some((each) => each.account === account && each.nonce <= from),
    );
  }

  read(reply: RpcReply): void {
    if (reply.kind !== 'result' || reply.value === null) this.unbroken = false;
    for (const { account } of this.questions) this.found.push(...transactionsOf(reply, account));
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
