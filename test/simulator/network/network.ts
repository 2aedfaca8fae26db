import { Random } from '../random.js';
import { Seen } from '../seen.js';
import { SimChain } from '../sim-chain.js';
import { Curses } from './curses.js';
import { Headers, type StatusOf } from './encode.js';
import { Luck } from './luck.js';
import { Needs } from './needs.js';
import { drawRules, type Rules } from './rules.js';
import { NO_FAULTS, type Surroundings } from './surroundings.js';
import { type Limits, SimEndpoint } from './sim-endpoint.js';
import { type LieKind, TRUTH, type View } from './view.js';

/** The chain, those who mine it, and the endpoints through which alone the nodes of ours know it. */
export class Network implements Surroundings {
  readonly rules: Rules;
  readonly seen = new Seen();
  readonly chain: SimChain;
  readonly curses = new Curses();
  readonly needs = new Needs();
  readonly hanging = new Set<string>();
  readonly luck: Luck;
  readonly headers: Headers;
  readonly endpoints: readonly SimEndpoint[];
  rates = NO_FAULTS;
  /** Whether nodes refuse most payloads. */
  readonly isPicky: boolean;
  /** The one that may lie: the others outvote it (I13). One that is alone lies at one block only, once. */
  private readonly mayLie: SimEndpoint | undefined;
  private lies = 0;

  /** @param focus the only lie of the first of three endpoints; null for a world of chance */
  constructor(
    seed: number,
    random: Random,
    readonly focus: LieKind | null,
  ) {
    this.luck = new Luck(seed);
    this.rules = drawRules(random, seed);
    this.chain = new SimChain(this.rules, this.seen);
    this.headers = new Headers(seed % 2 === 0, this.statusOf);
    const count = focus !== null ? 3 : random.weighted(COUNTS);
    if (count === 2) this.seen.note('a chain with two endpoints');
    this.endpoints = Array.from({ length: count }, (_, index) => new SimEndpoint(index, this, random.chance(0.8)));
    this.mayLie = focus !== null ? this.endpoints[0] : random.chance(0.8) ? random.pick(this.endpoints) : undefined;
    for (const endpoint of this.endpoints) if (random.chance(0.15)) endpoint.limits = limits(random);
    const strength = new Random(seed ^ WEIGHT_SALT).pick([Infinity, Infinity, 1, 2, 3]);
    for (const endpoint of this.endpoints) endpoint.strength = strength;
    const ofKeepers = new Random(seed ^ KEEP_SALT);
    for (const endpoint of this.endpoints) endpoint.keepsRefused = ofKeepers.pick([0, 0.3, 1]);
    if (ofKeepers.chance(0.4)) this.refuseSendsAtTimes(seed);
    this.isPicky = ofKeepers.chance(0.25);
    const { shortOfRoom, room } = this.rules;
    for (const { pool, index } of this.endpoints)
      if (shortOfRoom === 'everybody' || (shortOfRoom === 'one endpoint' && index === 0)) pool.room = room;
  }

  describe(): string {
    const words = this.endpoints.map(({ index, limits, hasBlockReceipts, keepsRefused }) => {
      const { calls, bytes, words: how } = limits;
      const limited = calls < Infinity ? ` (at most ${calls} calls and ${bytes} bytes, else ${how})` : '';
      const keeps = keepsRefused > 0 ? ` (keeps ${keepsRefused} of what it refuses)` : '';
      return `endpoint ${index}${limited}${hasBlockReceipts ? '' : ' (no eth_getBlockReceipts)'}${keeps}`;
    });
    const { finality, maxFeePerGas, deepReorgs, steepFees, shortOfRoom } = this.rules;
    const rules = `finality by ${finality}, fees up to ${maxFeePerGas ?? 'the default'}${deepReorgs ? ', deep reorgs' : ''}${steepFees ? ', steep fees' : ''}, pools short of room: ${shortOfRoom}`;
    return `${words.join(', ')}; liar: ${this.mayLie?.index ?? 'none'}; ${rules}`;
  }

  get liar(): SimEndpoint | null {
    return this.mayLie && (this.endpoints.length > 2 || this.lies === 0) ? this.mayLie : null;
  }

  /** Too few endpoints for one that lies to be outvoted. */
  get isBelievedAlone(): boolean {
    return this.endpoints.length < 3 && this.lies > 0;
  }

  tellLies(view: View): void {
    if (!this.mayLie) return;
    this.mayLie.view = { ...view, otherChain: this.mayLie.view.otherChain };
    this.lies += 1;
  }

  /** Every fault that ends by itself has ended. What a provider does not take at once it never does. */
  faultsOff(): void {
    this.rates = NO_FAULTS;
    this.curses.lift();
    for (const endpoint of this.endpoints) {
      endpoint.refusesSends = () => false;
      endpoint.isWell();
      endpoint.view = TRUTH;
    }
    this.gossip();
    this.chain.calm();
  }

  isAlone(endpoint: number): boolean {
    return this.endpoints.every(({ index, takesSends }) => index === endpoint || !takesSends);
  }

  readonly statusOf: StatusOf = ({ data }) => (this.chain.reverting.has(data) ? 'reverted' : 'success');

  mine(limit = Infinity): void {
    this.gossip();
    this.evict();
    this.chain.trimPool();
    const luck = this.luck.about('block maker');
    this.chain.makeBlock(limit, luck.chance(this.rates.otherRival) ? luck : null, this.luck.about('keeper'));
    this.endLoneLie();
    for (const endpoint of this.endpoints) endpoint.prune();
  }

  reorg(depth: number, drop: boolean): void {
    const luck = this.luck.about('branch');
    if (luck.chance(0.4)) this.chain.reorg(depth, { drop });
    else this.chain.rebranch(depth, drop, luck);
    this.endLoneLie();
    this.gossip();
  }

  /** Nodes tell each other, and those who mine, what they have. */
  gossip(): void {
    const connected = this.endpoints.filter(({ isolated }) => !isolated);
    for (const { pool } of connected) for (const tx of pool.all()) this.chain.offer(tx);
    for (const endpoint of connected) {
      const { pool, index } = endpoint;
      for (const tx of this.chain.pooled()) if (this.curses.accepts(index, tx.data)) pool.take(tx, endpoint.head);
    }
  }

  /** During some blocks nothing leaves any node of ours. */
  private refuseSendsAtTimes(seed: number): void {
    for (const endpoint of this.endpoints)
      endpoint.refusesSends = () => new Random(seed ^ (SEND_SALT + this.chain.height)).chance(0.3);
  }

  /** Pools drop what they kept at first and do not want any more; who makes a block may have it still. */
  private evict(): void {
    for (const { hash, data } of this.chain.pooled()) {
      if (!this.curses.isEvicted(data) || !this.luck.about(`eviction of ${hash}`).chance(0.6)) continue;
      this.chain.forget(hash);
      for (const { pool } of this.endpoints) pool.remove(hash);
      this.seen.note('pools drop a payload that they had accepted');
    }
  }

  endLoneLie(): void {
    if (this.endpoints.length > 2 || !this.mayLie?.isLying) return;
    const { behind, kept, index, state, receipts, otherChain } = this.mayLie.view;
    this.mayLie.view = { ...TRUTH, behind, kept, index, state, receipts, otherChain };
  }

  dropPools(): void {
    this.chain.dropPool();
    for (const { pool } of this.endpoints) pool.clear();
  }
}

/** So that what else a seed says stays as it was. */
const WEIGHT_SALT = 0x6c6f6164;
const KEEP_SALT = 0x6b656570;
const SEND_SALT = 0x73656e64;

const COUNTS = [
  { weight: 30, value: 1 },
  { weight: 20, value: 2 },
  { weight: 50, value: 3 },
] as const;

function limits(random: Random): Limits {
  return {
    calls: random.pick([1, 2, 3, 5]),
    // Two of our transactions are more than the smallest.
    bytes: random.pick([500, 1_000, Infinity]),
    words: random.pick(['413', 'one error object', 'one error in a list']),
  };
}
