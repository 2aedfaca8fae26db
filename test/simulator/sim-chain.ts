import {
  type BlockHeader,
  type BroadcastOutcome,
  type FeeQuote,
  type ReceiptLookup,
  RpcUnavailable,
} from '../../src/modules/chain/index.js';
import { ModelChain, type ModelTx } from '../support/model-chain.js';
import { Random } from './random.js';

const GWEI = 1_000_000_000n;

/** Answers that say "not this time". */
const PASSING_REFUSALS = ['insufficient_funds', 'txpool_full', 'underpriced'] as const;

/** How likely each fault is while faults are on. */
export interface FaultRates {
  readonly lostRequest: number;
  readonly lostAnswer: number;
  readonly refusedForNow: number;
  readonly noReceipt: number;
  readonly noEstimate: number;
}

export const NO_FAULTS: FaultRates = { lostRequest: 0, lostAnswer: 0, refusedForNow: 0, noReceipt: 0, noEstimate: 0 };

/** The model chain with weather: fees that move with every block, faults by chance, payloads that revert or are refused. */
export class SimChain extends ModelChain {
  rates = NO_FAULTS;
  /** Calldata that no node takes. */
  readonly poison = new Set<string>();
  /** Calldata that reverts when it is mined. */
  readonly reverting = new Set<string>();

  private readonly asked = new Map<string, number>();

  constructor(private readonly seed: number) {
    super();
    this.provesReceipts = seed % 2 === 0;
    this.faults.status = ({ data }) => (this.reverting.has(data) ? 'reverted' : undefined);
    this.faults.broadcast = (tx) => this.faultOf(tx);
    this.faults.receipt = (hash) => this.receiptFault(hash);
    this.faults.estimate = ({ data }) =>
      this.luck(`estimate ${data}`).chance(this.rates.noEstimate)
        ? { kind: 'unavailable', message: 'timeout' }
        : undefined;
  }

  get height(): number {
    return this.tip().number;
  }

  /** Of an endpoint that lags. */
  async headBehind(lag: number): Promise<BlockHeader> {
    const [block] = await this.blocks([Math.max(0, this.height - lag)]);
    if (!block) throw new RpcUnavailable('rpc_unavailable', { chainId: this.chainId, method: 'head' }, 'no block');
    return block;
  }

  /** So that whoever signs again gets other bytes. */
  override async feeQuote(): Promise<FeeQuote> {
    const quote = await super.feeQuote();
    const tip = GWEI + BigInt(this.height % 7) * 10_000_000n + BigInt(this.luck('fees').between(0, 1_000_000));
    return { ...quote, tips: { slow: tip, standard: tip, fast: 2n * tip, urgent: 3n * tip } };
  }

  private faultOf(tx: ModelTx): { readonly outcome: BroadcastOutcome; readonly deliver: boolean } | undefined {
    if (this.poison.has(tx.data) && !this.pooled().some(({ hash }) => hash === tx.hash))
      return { deliver: false, outcome: { kind: 'rejected', errorClass: 'oversized_data', message: 'oversized data' } };
    const luck = this.luck(tx.hash);
    const lost = { kind: 'unknown', errorClass: 'transient', message: 'timeout' } as const;
    if (luck.chance(this.rates.lostRequest)) return { deliver: false, outcome: lost };
    if (luck.chance(this.rates.lostAnswer)) return { deliver: true, outcome: lost };
    if (!luck.chance(this.rates.refusedForNow)) return undefined;
    const errorClass = luck.pick(PASSING_REFUSALS);
    return { deliver: false, outcome: { kind: 'rejected', errorClass, message: errorClass } };
  }

  private receiptFault(hash: string): ReceiptLookup | undefined {
    const luck = this.luck(`receipt ${hash}`);
    if (!luck.chance(this.rates.noReceipt)) return undefined;
    return luck.chance(0.5) ? { kind: 'unavailable', message: 'indexing is in progress' } : { kind: 'none' };
  }

  /** Depends on what is asked and how often, and not on what happens beside it: nodes at once change nothing for each other. */
  private luck(question: string): Random {
    const times = (this.asked.get(question) ?? 0) + 1;
    this.asked.set(question, times);
    let mixed = this.seed;
    for (const character of `${question} ${times}`) mixed = (Math.imul(mixed, 31) + character.charCodeAt(0)) | 0;
    return new Random(mixed);
  }
}
