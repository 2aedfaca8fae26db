import type { Address, Hash } from '../../../kernel/hex.js';
import { range } from '../../../kernel/range.js';
import type { Nonce } from '../../../kernel/signer-id.js';
import type { BlockRef } from '../domain/block.js';
import type { NonceUser, NonceQuestion } from '../domain/nonce-use.js';
import type { RpcReply, RpcRequest } from './rpc/json-rpc.js';
import { address, blockHeader, fields, hash, hexQuantity, list, parsedOrNull, quantity } from './parse-answer.js';

/** Full nodes keep the state of as many blocks; an older use is found by nodes that keep more. */
const STATE_KEPT = 128;
/** Heights apart in the first of two rounds: the second asks for those between two of them. */
const BLOCKS_PER_CALL = 12;
/** Blocks read whole in one look. Those that were left out are another look's. */
const MOST_BLOCKS = 8;

/** 2^32 by the golden ratio: multiples of it spread evenly (Knuth). */
const GOLDEN = 2_654_435_761;

/** Nobody looked. */
export const UNREAD = 'unread';

type Ask = (requests: readonly RpcRequest[]) => Promise<RpcReply[]>;
type Slot = Pick<NonceQuestion, 'account' | 'nonce'>;
type BlockWithSenders = BlockRef & { readonly txs: readonly Sent[] };
type Sent = Slot & { readonly txHash: Hash };

/**
 * Names the transactions that used nonces, each by the block in which the account's count went past it. Null where that cannot be
 * told: the state of that block is gone, or nobody sent the transaction (a set-code authorization of EIP-7702 uses a nonce, too).
 * `unread` where it could, and there were too many blocks to read; each look chooses others.
 *
 * @param ask one endpoint, or several that agree; whatever it does not answer is not known
 * @param head number of a block by which all nonces were used
 * @param look counts the looks
 */
export async function nonceUsers(
  ask: Ask,
  slots: readonly Slot[],
  head: number,
  look: number,
): Promise<(NonceUser | typeof UNREAD | null)[]> {
  if (slots.length === 0) return [];
  const counts = new Counts(ask);
  await counts.ask(slots, () => strides(head));
  await counts.ask(slots, (slot) => counts.between(slot));
  const heights = slots.map((slot) => counts.heightOf(slot));
  const wanted = someOf([...new Set(heights.flatMap((height) => height ?? []))], look);
  const replies = await ask(
    wanted.map((height) => ({ method: 'eth_getBlockByNumber', params: [hexQuantity(height), true] })),
  );
  const blocks = new Map(wanted.map((height, i) => [height, parsedOrNull(replies[i], blockWithSenders)]));
  return slots.map(({ account, nonce }, i) => {
    const height = heights[i] ?? null;
    if (height !== null && !blocks.has(height)) return UNREAD;
    const block = height === null ? null : blocks.get(height);
    const user = block?.txs.find((tx) => tx.account === account && tx.nonce === nonce);
    return block && user ? { txHash: user.txHash, block: { number: block.number, hash: block.hash } } : null;
  });
}

/** Others at each look, in no order that a caller could fall in step with: none is left out for ever. The same again for the same look. */
function someOf(heights: readonly number[], look: number): number[] {
  const start = (Math.imul(look + 1, GOLDEN) >>> 0) % Math.max(1, heights.length);
  return [...heights.slice(start), ...heights.slice(0, start)].slice(0, MOST_BLOCKS);
}

function strides(head: number): number[] {
  const lowest = Math.max(0, head - STATE_KEPT);
  const heights: number[] = [];
  for (let height = head; height > lowest; height -= BLOCKS_PER_CALL) heights.push(height);
  return [...heights, lowest];
}

/** Transaction counts of accounts at heights, as far as they were answered. */
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

  /** The heights not yet asked for, of which one used the nonce. */
  between(slot: Slot): number[] {
    const { unused, used } = this.around(slot);
    return unused === null || used === null ? [] : range(unused + 1, used - 1);
  }

  /** Null when it cannot be told. */
  heightOf(slot: Slot): number | null {
    const { unused, used } = this.around(slot);
    return unused !== null && used === unused + 1 ? used : null;
  }

  /** The highest block known not to have used the nonce, and the lowest known to have. */
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
    };
  });
  return { number, hash: own, txs };
}
