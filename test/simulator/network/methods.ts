import { type Address, parseAddress, parseHex } from '../../../src/kernel/hex.js';
import type { ModelBlock, ModelTx } from '../../support/model-chain.js';
import { DEV_CHAIN } from '../../support/builders.js';
import { hex, receiptsOf, type StatusOf, transaction } from './encode.js';
import { feeHistory } from './fee-history.js';
import { tipAt } from './market.js';
import { wordsOf } from './refusal-texts.js';
import type { Luck } from './luck.js';
import type { Surroundings } from './surroundings.js';
import type { View, ViewedChain } from './view.js';
import type { PoolHead, SimPool } from './sim-pool.js';

export interface Call {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

export interface Answer {
  readonly jsonrpc: '2.0';
  readonly id: number;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** From where an answer is given. */
export interface Standpoint {
  readonly index: number;
  readonly network: Surroundings;
  readonly view: View;
  readonly seen: ViewedChain;
  readonly pool: SimPool;
  readonly hasBlockReceipts: boolean;
  readonly keepsRefused: number;
  readonly head: PoolHead;
}

/** Of the call that is estimated. */
interface Estimated {
  readonly data: string;
  readonly from: string;
  readonly value?: string;
}

const OTHER_CHAIN = 1;
/** Answers that say "not this time". */
const PASSING_REFUSALS = ['insufficient_funds', 'txpool_full', 'underpriced'] as const;

/** The node said no. */
class NodeRefused extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}

/** What one endpoint answers to each method, by its own view. */
export class Methods {
  private readonly handlers: Readonly<Record<string, (params: readonly unknown[]) => unknown>> = {
    eth_chainId: () => hex(this.at.view.otherChain ? OTHER_CHAIN : DEV_CHAIN),
    eth_blockNumber: () => hex(this.at.seen.tip),
    eth_getBlockByNumber: ([tag, full]) => this.block(this.taggedHeight(tag), full === true),
    eth_getBlockByHash: ([hash, full]) => this.block(this.at.seen.blockOf(String(hash))?.number ?? -1, full === true),
    eth_getBlockReceipts: ([hash]) => this.blockReceipts(String(hash)),
    eth_getTransactionReceipt: ([hash]) => this.receipt(String(hash)),
    eth_getTransactionByHash: ([hash]) => this.transaction(String(hash)),
    eth_getTransactionCount: ([account, tag]) => this.count(parseAddress(String(account)), String(tag)),
    txpool_contentFrom: ([account]) => this.contentFrom(parseAddress(String(account))),
    eth_getBalance: ([account]) => hex(this.balance(parseAddress(String(account)))),
    // No simulated account has code.
    eth_getCode: () => '0x',
    eth_estimateGas: ([call]) => this.estimate(call as Estimated),
    eth_feeHistory: ([blocks, , percentiles]) => this.feeHistory(Number(blocks), percentiles as number[]),
    eth_maxPriorityFeePerGas: () => hex(tipAt(this.at.network.chain.baseFee) * this.at.view.fees),
    eth_sendRawTransaction: ([raw]) => this.send(String(raw)),
  };

  constructor(private readonly at: Standpoint) {}

  /** Null: no answer to this one. */
  answer({ id, method, params }: Call): Answer | null {
    const handler = this.handlers[method];
    try {
      if (!handler) throw new NodeRefused(-32601, `the method ${method} does not exist/is not available`);
      const result = handler(params);
      return result === undefined ? null : { jsonrpc: '2.0', id, result };
    } catch (error) {
      if (!(error instanceof NodeRefused)) throw error;
      return { jsonrpc: '2.0', id, error: { code: error.code, message: error.message } };
    }
  }

  private taggedHeight(tag: unknown): number {
    const { network, seen } = this.at;
    if (tag !== 'safe' && tag !== 'finalized') return this.height(tag);
    if (network.chain.tags.isAbsent) {
      network.seen.note('a tag that no node knows');
      throw new NodeRefused(-39001, `${tag} block not found`);
    }
    network.seen.note(`finality by ${tag}`);
    return Math.min(seen.tip, network.chain.tags.of(tag));
  }

  private height(tag: unknown): number {
    return tag === 'latest' ? this.at.seen.tip : Number(tag);
  }

  private block(number: number, full: boolean): unknown {
    const block = number < 0 ? null : this.at.seen.blockAt(number);
    return block && this.at.network.headers.block(block, full);
  }

  private blockReceipts(hash: string): unknown {
    if (!this.at.hasBlockReceipts)
      throw new NodeRefused(-32601, 'the method eth_getBlockReceipts does not exist/is not available');
    const block = this.at.seen.blockOf(hash);
    if (!block || this.isForgotten(block.number)) return null;
    if (this.lags('receipts', block.number)) return [];
    return this.receiptsIn(block).filter((receipt) => !this.denies(String(receipt['transactionHash'])));
  }

  private receipt(hash: string): unknown {
    const luck = this.luck(`receipt ${hash}`);
    if (luck.chance(this.at.network.rates.noReceipt)) {
      if (luck.chance(0.5)) throw new NodeRefused(-32000, 'transaction indexing is in progress');
      return null;
    }
    const block = this.placeOf(hash);
    if (!block || this.isForgotten(block.number)) return null;
    return this.receiptsIn(block).find(({ transactionHash }) => transactionHash === hash);
  }

  private transaction(hash: string): unknown {
    const block = this.placeOf(hash);
    const isKnown = (each: ModelTx): boolean => each.hash === hash;
    const tx = block?.txs.find(isKnown) ?? this.at.pool.all().find(isKnown);
    return tx && !this.denies(hash) ? transaction(tx, block) : null;
  }

  /** The block of a transaction, or one that it is said to be in. */
  private placeOf(hash: string): ModelBlock | null {
    const { seen, view, pool } = this.at;
    if (this.denies(hash)) return null;
    const block = seen.placeOf(hash);
    const tx = pool.all().find((each) => each.hash === hash);
    const tip = seen.blockAt(seen.tip);
    if (block === null && view.invents && tx && tip) return { ...tip, txs: [...tip.txs, tx] };
    return block && this.lags('index', block.number) ? null : block;
  }

  private receiptsIn(block: ModelBlock): Record<string, unknown>[] {
    const { view, network } = this.at;
    const flipped: StatusOf = (tx) => (network.statusOf(tx) === 'success' ? 'reverted' : 'success');
    return receiptsOf(block, view.flips ? flipped : network.statusOf);
  }

  private count(account: Address, tag: string): string {
    const { seen, view, pool } = this.at;
    const number = tag === 'pending' || tag === 'latest' ? this.stateAt : this.height(tag);
    if (this.isForgotten(number))
      throw new NodeRefused(-32000, `missing trie node ${'ab'.repeat(32)} (path ) state is not available`);
    const mined = seen.countAt(account, number);
    if (view.state > 0) this.at.network.seen.note('an old transaction count');
    const count = (tag === 'pending' ? pool.pendingNonce(account, mined) : mined) + view.counts;
    return hex(count < 0n ? 0n : count);
  }

  /** Whether or not something is missing before them. */
  private contentFrom(account: Address): unknown {
    const own = this.at.pool.all().filter(({ from, hash }) => from === account && !this.denies(hash));
    const pending = Object.fromEntries(own.map((tx) => [tx.nonce.toString(), transaction(tx, null)]));
    return { pending, queued: {} };
  }

  /** The newest block whose state it has. */
  private get stateAt(): number {
    const { seen, view } = this.at;
    return Math.max(0, seen.tip - view.state);
  }

  /** Whether it does not have this yet, of one of its newest blocks. */
  private lags(what: 'index' | 'receipts', number: number): boolean {
    const { seen, view, network } = this.at;
    const isLate = number > seen.tip - view[what];
    if (isLate) network.seen.note(what === 'index' ? 'an old receipt index' : 'a block without its receipts');
    return isLate;
  }

  private balance(account: Address): bigint {
    return this.at.network.chain.balanceAt(account, this.stateAt);
  }

  private estimate({ data, from, value }: Estimated): string {
    const { network, view, seen } = this.at;
    const luck = this.luck(`estimate ${data}`);
    if (luck.chance(network.rates.noEstimate)) throw new NodeRefused(-32002, 'request timed out');
    if (view.reverts || network.needs.reverts(data, (needed) => seen.hasMined(needed)))
      throw new NodeRefused(3, 'execution reverted: not now');
    if (BigInt(value ?? 0) > this.balance(parseAddress(from)))
      throw new NodeRefused(-32000, 'insufficient funds for transfer');
    return hex(21_000);
  }

  private feeHistory(most: number, percentiles: readonly number[]): unknown {
    const { seen, view, network } = this.at;
    const first = Math.max(0, seen.tip + 1 - most);
    const numbers = Array.from({ length: seen.tip + 1 - first }, (_, index) => first + index);
    return feeHistory({
      blocks: numbers.flatMap((number) => seen.blockAt(number) ?? []),
      nextBaseFee: network.chain.blockAt(seen.tip + 1)?.baseFeePerGas ?? network.chain.baseFee,
      percentiles,
      jitter: BigInt((seen.tip % 7) * 10_000_000 + this.luck('fees').between(0, 1_000_000)),
      factor: view.fees,
    });
  }

  /** Undefined: no answer. */
  private send(raw: string): string | undefined {
    const { network, view, pool, keepsRefused } = this.at;
    const tx = network.chain.decode(parseHex(raw));
    network.chain.sent.push(tx);
    if (view.otherChain) throw new NodeRefused(-32000, 'invalid chain id for signer: have 31337 want 1');
    if (pool.has(tx.hash)) throw new NodeRefused(-32000, 'already known');
    try {
      return this.judge(tx);
    } catch (error) {
      if (error instanceof NodeRefused && this.luck(`keep ${tx.hash}`).chance(keepsRefused)) network.chain.keep(tx);
      throw error;
    }
  }

  private judge(tx: ModelTx): string | undefined {
    const { network, index } = this.at;
    if (tx.nonce < this.countFor(tx.from)) throw new NodeRefused(-32000, 'nonce too low');
    const luck = this.luck(tx.hash);
    if (luck.chance(network.rates.refusedForNow)) this.refuse(wordsOf(luck.pick(PASSING_REFUSALS), luck));
    const verdict = network.curses.sent(index, tx.data, network.isAlone(index));
    switch (verdict.kind) {
      case 'refuse':
        return this.refuse(verdict.words);
      case 'no answer':
        return undefined;
      case 'forget':
        return tx.hash;
      case 'take':
        return this.take(tx);
    }
  }

  private take(tx: ModelTx): string {
    const short = this.missing(tx);
    if (short !== null) throw new NodeRefused(-32000, short);
    const answer = this.at.pool.take(tx, { ...this.at.head, countOf: (account) => this.countFor(account) });
    if (answer !== 'taken') throw new NodeRefused(-32000, answer);
    return tx.hash;
  }

  private countFor(account: Address): bigint {
    const { seen, view } = this.at;
    const counted = seen.countAt(account, this.stateAt) + view.counts;
    return counted < 0n ? 0n : counted;
  }

  /** As geth: the whole queue of an account must be payable. Null: it is. */
  private missing(tx: ModelTx): string | null {
    const { network, pool } = this.at;
    const queued = pool.all().filter(({ from, nonce }) => from === tx.from && nonce !== tx.nonce);
    const cost = network.chain.purses.most(tx);
    const all = queued.reduce((sum, each) => sum + network.chain.purses.most(each), cost);
    const balance = this.balance(tx.from);
    if (all <= balance) return null;
    network.seen.note('a send is refused for want of funds');
    return `insufficient funds for gas * price + value: balance ${balance}, tx cost ${cost}, overshot ${all - balance}`;
  }

  private refuse({ code, message }: { readonly code: number; readonly message: string }): never {
    throw new NodeRefused(code, message);
  }

  private denies(hash: string): boolean {
    const { denies } = this.at.view;
    return denies === 'all' || (denies === 'some' && Number.parseInt(hash.slice(-1), 16) % 2 === 0);
  }

  private isForgotten(number: number): boolean {
    return number <= this.at.seen.tip - this.at.view.kept;
  }

  private luck(question: string): ReturnType<Luck['about']> {
    return this.at.network.luck.about(`${this.at.index} ${question}`);
  }
}
