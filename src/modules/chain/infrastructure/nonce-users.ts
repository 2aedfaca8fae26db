import type { Address, Hash } from '../../../kernel/hex.js';
import { range } from '../../../kernel/range.js';
import type { ChainId, Nonce } from '../../../kernel/signer-id.js';
import type { BlockRef } from '../domain/block.js';
import type { NonceUser, NonceQuestion } from '../domain/nonce-use.js';
import type { RpcReply, RpcRequest } from './rpc/json-rpc.js';
import { address, blockHeader, fields, hash, hexQuantity, list, parsedOrNull, quantity } from './parse-answer.js';
import { sentTransaction } from './sent-transaction-answer.js';

/** Full nodes keep the state of so many blocks; nodes that keep more find older uses. */
const STATE_KEPT_BLOCKS = 128;
/** Distance of the heights in the first pass; the second pass reads the heights between two of them. */
const STRIDE_BLOCKS = 12;
/** Full blocks read in one round; later rounds read the others. */
const MAX_BLOCKS_READ = 8;

/** 2^32 divided by the golden ratio: multiples of it are spread evenly (Knuth). */
const GOLDEN_RATIO_32_BIT = 2_654_435_761;

/** The block that has the transaction was not read in this round. */
export const BLOCK_NOT_READ = 'block not read';

type Ask = (requests: readonly RpcRequest[]) => Promise<RpcReply[]>;
type Slot = Pick<NonceQuestion, 'account' | 'nonce'>;
type BlockWithSenders = BlockRef & { readonly txs: readonly Sent[] };
type Sent = Slot & { readonly txHash: Hash; readonly answer: unknown };

/**
 * Finds the transactions that used nonces, by the block at which the transaction count of the account exceeded the nonce. Null when it
 * cannot be found: the state of that block is pruned, or no transaction used the nonce (an EIP-7702 authorization uses one, too).
 * {@link BLOCK_NOT_READ} when it could be found, but there were too many blocks to read; each round reads others.
 *
 * @param ask reads from one endpoint; requests that it does not answer are "not known"
 * @param head number of a block at which all nonces were used
 * @param round counts the calls
 */
export async function nonceUsers(
  ask: Ask,
  slots: readonly Slot[],
  head: number,
  round: number,
  chainId: ChainId,
): Promise<(NonceUser | typeof BLOCK_NOT_READ | null)[]> {
  if (slots.length === 0) return [];
  const counts = new Counts(ask);
  await counts.ask(slots, () => strides(head));
  await counts.ask(slots, (slot) => counts.between(slot));
  const heights = slots.map((slot) => counts.heightOf(slot));
  const wanted = someOf([...new Set(heights.flatMap((height) => height ?? []))], round);
  const replies = await ask(
    wanted.map((height) => ({ method: 'eth_getBlockByNumber', params: [hexQuantity(height), true] })),
  );
  const blocks = new Map(wanted.map((height, i) => [height, parsedOrNull(replies[i], blockWithSenders)]));
  return slots.map(({ account, nonce }, i) => {
    const height = heights[i] ?? null;
    if (height !== null && !blocks.has(height)) return BLOCK_NOT_READ;
    const block = height === null ? null : blocks.get(height);
    const user = block?.txs.find((tx) => tx.account === account && tx.nonce === nonce);
    if (!block || !user) return null;
    const sent = parsedOrNull({ kind: 'result', value: user.answer }, (value) => sentTransaction(value, chainId));
    return { txHash: user.txHash, block: { number: block.number, hash: block.hash }, sent };
  });
}

/** Chooses other heights in each round, in an order that never repeats with the rounds of a caller, so that each height has its turn. */
function someOf(heights: readonly number[], round: number): number[] {
  const start = (Math.imul(round + 1, GOLDEN_RATIO_32_BIT) >>> 0) % Math.max(1, heights.length);
  return [...heights.slice(start), ...heights.slice(0, start)].slice(0, MAX_BLOCKS_READ);
}

function strides(head: number): number[] {
  const lowest = Math.max(0, head - STATE_KEPT_BLOCKS);
  const heights: number[] = [];
  for (let height = head; height > lowest; height -= STRIDE_BLOCKS) heights.push(height);
  return [...heights, lowest];
}

/** The known transaction counts of accounts at heights. */
class Counts {
  private readonly known = new Map<Address, Map<number, Nonce>>();

  constructor(private readonly send: Ask) {}

  async ask(slots: readonly Slot[], heightsOf: (slot: Slot) => readonly number[]): Promise<void> {
    const questions = new Map<string, { readonly account: Address; readonly height: number }>();
    for (const slot of slots)
      for (const height of heightsOf(slot))
        questions.set(`${slot.account}@${height}`, { account: slot.account, height });
    const asked = [...questions.values()];
    const replies = await this.send(
      asked.map(({ account, height }) => ({
        method: 'eth_getTransactionCount',
        params: [account, hexQuantity(height)],
      })),
    );
    asked.forEach(({ account, height }, i) => {
      const count = parsedOrNull(replies[i], (value) => quantity(value, 'count'));
      if (count !== null) this.of(account).set(height, count);
    });
  }

  /** The heights of which one used the nonce, and whose counts are not known. */
  between(slot: Slot): number[] {
    const { unused, used } = this.around(slot);
    return unused === null || used === null ? [] : range(unused + 1, used - 1);
  }

  /** The height that used the nonce; null when it is not known. */
  heightOf(slot: Slot): number | null {
    const { unused, used } = this.around(slot);
    return unused !== null && used === unused + 1 ? used : null;
  }

  /** The highest block before the use of the nonce, and the lowest block after it, as far as known. */
  private around({ account, nonce }: Slot): { unused: number | null; used: number | null } {
    const counts = [...this.of(account)];
    const unused = counts.flatMap(([height, count]) => (count <= nonce ? [height] : []));
    const used = counts.flatMap(([height, count]) => (count > nonce ? [height] : []));
    return {
      unused: unused.length > 0 ? Math.max(...unused) : null,
      used: used.length > 0 ? Math.min(...used) : null,
    };
  }

  private of(account: Address): Map<number, Nonce> {
    const counts = this.known.get(account) ?? new Map<number, Nonce>();
    this.known.set(account, counts);
    return counts;
  }
}

function blockWithSenders(value: unknown): BlockWithSenders {
  const { number, hash: own } = blockHeader(value);
  const txs = list(fields(value, 'block')['transactions'], 'block.transactions').map((item): Sent => {
    const tx = fields(item, 'transaction');
    return {
      account: address(tx['from'], 'transaction.from'),
      nonce: quantity(tx['nonce'], 'transaction.nonce'),
      txHash: hash(tx['hash'], 'transaction.hash'),
      answer: item,
    };
  });
  return { number, hash: own, txs };
}
