import type { HttpAnswer } from '../../../src/modules/chain/infrastructure/rpc/http-post.js';
import { type Call, Methods, type Standpoint } from './methods.js';
import { type PoolHead, SimPool } from './sim-pool.js';
import type { Surroundings } from './surroundings.js';
import { TRUTH, type View, ViewedChain } from './view.js';

/** Why there is no answer at all. */
export type Outage = 'refuses connections' | 'times out' | 'resets' | 'is busy' | 'bad gateway';

/** A provider's limits for one HTTP request. */
export interface Limits {
  readonly calls: number;
  readonly bytes: number;
  /** How it says that a batch is too large. */
  readonly words: '413' | 'one error object' | 'one error in a list';
}

export const TOO_LARGE = 'batch too large';
const NO_LIMITS: Limits = { calls: Infinity, bytes: Infinity, words: '413' };

/** One JSON-RPC node, or the proxy in front of it: its own view of the chain, its own pool, its own way of being away. */
export class SimEndpoint implements Standpoint {
  view: View = TRUTH;
  outage: Outage | null = null;
  limits: Limits = NO_LIMITS;
  /** Estimates of one request that it makes in time. */
  strength = Infinity;
  /** How likely it keeps what it refuses in words: the next block may have it. */
  keepsRefused = 0;
  /** Whether nobody gets a connection to send anything now, as where a provider has other machines for it. */
  refusesSends: () => boolean = () => false;
  /** Cut off from the other nodes: it hears of nothing, and nobody hears what is sent to it. */
  isolated = false;
  /** Grows when another node may be behind the URL: connections that were open are lost. */
  generation = 0;
  readonly pool: SimPool;
  private readonly methods = new Methods(this);

  constructor(
    readonly index: number,
    readonly network: Surroundings,
    /** Some nodes have no `eth_getBlockReceipts`. */
    readonly hasBlockReceipts: boolean,
  ) {
    this.pool = new SimPool(network.seen);
  }

  get seen(): ViewedChain {
    return new ViewedChain(this.network.chain, this.view, this.index);
  }

  /** As its pool knows the chain. */
  get head(): PoolHead {
    const { seen } = this;
    return { countOf: (account) => seen.countAt(account, seen.tip), baseFee: this.network.chain.baseFee };
  }

  /** What it says may be untrue, and not only old or missing. */
  get isLying(): boolean {
    const { ahead, branch, denies, counts, fees, reverts, flips, invents } = this.view;
    return (
      ahead > 0 || branch !== null || denies !== 'none' || counts !== 0n || fees !== 1n || reverts || flips || invents
    );
  }

  get takesSends(): boolean {
    return this.outage === null && !this.view.otherChain && !this.refusesSends();
  }

  /** Another chain's node answers at the URL from now on, or the right one again. */
  moveTo(otherChain: boolean): void {
    if (this.view.otherChain === otherChain) return;
    this.view = { ...this.view, otherChain };
    this.generation += 1;
  }

  /** The trouble is over; lies are not. */
  isWell(): void {
    this.outage = null;
    this.isolated = false;
    this.moveTo(false);
    const { behind, kept, index, state, receipts } = TRUTH;
    this.view = { ...this.view, behind, kept, index, state, receipts };
  }

  /** Whether it gets to know nothing of these calls. */
  refuses(calls: readonly Call[]): boolean {
    if (this.outage === 'refuses connections') return true;
    if (!calls.some(({ method }) => method === 'eth_sendRawTransaction') || !this.refusesSends()) return false;
    this.network.seen.note('a connection for sends alone is refused');
    return true;
  }

  /** @throws as a transport does */
  receive(body: string): HttpAnswer {
    const calls = callsIn(body);
    const luck = this.network.luck.about(
      `${this.index} ${calls.map(({ method, params }) => method + String(params[0])).join()}`,
    );
    const { lostRequest, lostAnswer } = this.network.rates;
    if (this.refuses(calls)) throw connectionRefused();
    if (this.outage !== null) return this.failToAnswer(this.outage, calls, luck.chance(0.5));
    if (luck.chance(lostRequest)) throw timeout();
    const tooLarge = this.tooLarge(calls, body);
    if (tooLarge) return tooLarge;
    if (this.isTooHeavy(calls)) throw timeout();
    const answers = calls.flatMap((call) => this.methods.answer(call) ?? []);
    if (answers.length === 0 || luck.chance(lostAnswer)) throw timeout();
    return ok(body.startsWith('[') ? answers : answers[0]);
  }

  /** A pool forgets what was mined, by what its node has seen of the chain. */
  prune(): void {
    const { seen } = this;
    this.pool.prune((account) => seen.countAt(account, seen.tip));
    for (const tx of this.pool.all())
      if (this.network.chain.purses.most(tx) > this.network.chain.balanceAt(tx.from, seen.tip)) {
        this.pool.remove(tx.hash);
        this.network.seen.note('a pool drops what cannot be paid any more');
      }
  }

  private failToAnswer(outage: Outage, calls: readonly Call[], arrives: boolean): HttpAnswer {
    const isHeard = outage !== 'refuses connections' && outage !== 'is busy';
    if (isHeard && arrives) for (const call of calls) this.methods.answer(call);
    switch (outage) {
      case 'refuses connections':
        throw connectionRefused();
      case 'times out':
        throw timeout();
      case 'resets':
        throw Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
      case 'is busy':
        return { statusCode: 429, retryAfter: arrives ? '1' : undefined, text: 'Too Many Requests' };
      case 'bad gateway':
        return { statusCode: 502, retryAfter: undefined, text: 'Bad Gateway' };
    }
  }

  /** A light call has its answer in time, a heavy one or many of them do not. */
  private isTooHeavy(calls: readonly Call[]): boolean {
    const { hanging, seen } = this.network;
    const estimates = calls.filter(({ method }) => method === 'eth_estimateGas');
    const hangs = estimates.some(({ params: [call] }) => hanging.has((call as { readonly data: string }).data));
    if (hangs)
      seen.note(estimates.length > 1 ? 'an estimate that hangs, among others' : 'an estimate that hangs, alone');
    else if (estimates.length > this.strength) seen.note('a batch of estimates that is too heavy');
    return hangs || estimates.length > this.strength;
  }

  private tooLarge(calls: readonly Call[], body: string): HttpAnswer | null {
    if (calls.length < 2 || (calls.length <= this.limits.calls && body.length <= this.limits.bytes)) return null;
    const error = { code: -32600, message: TOO_LARGE };
    switch (this.limits.words) {
      case '413':
        return { statusCode: 413, retryAfter: undefined, text: 'Request Entity Too Large' };
      case 'one error object':
        return ok({ jsonrpc: '2.0', id: null, error });
      case 'one error in a list':
        return ok([{ jsonrpc: '2.0', id: calls[0]?.id, error }]);
    }
  }
}

export function callsIn(body: string): readonly Call[] {
  return [JSON.parse(body) as Call | readonly Call[]].flat();
}

function connectionRefused(): Error {
  return Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
}

function timeout(): Error {
  return Object.assign(new Error('the operation timed out'), { name: 'TimeoutError' });
}

function ok(answer: unknown): HttpAnswer {
  return { statusCode: 200, retryAfter: undefined, text: JSON.stringify(answer) };
}
