import type { Clock } from '../../../kernel/clock.js';
import type { BlockHeader } from '../domain/block.js';
import type { FeeQuote } from '../domain/fee-quote.js';
import { BaseFeeTrail, leaps, lowerMedian } from '../domain/fee-sanity.js';
import type { RpcPool } from './rpc/rpc-pool.js';
import type { RpcReader } from './rpc/rpc-reader.js';
import { toldQuotes } from './told-quotes.js';

/** A quote is good for one head, and for no longer than this. Milliseconds. */
const TTL_MS = 1_000;
/** How long the last sane quote stands in for one that is not. Milliseconds. */
const FRESH_MS = 60_000;

interface Known {
  readonly quote: FeeQuote;
  /** When it was told, monotonic milliseconds. */
  readonly at: number;
}

/**
 * The market of one chain: asked at most once a second and head, however many lanes want to know. A fee that is signed cannot be
 * taken back, so a quote is used only when it is sane: against the other endpoints, against the base fees of the heads, and, where
 * one endpoint tells it alone, against its own last quote.
 */
export class FeeQuotes {
  private headSeen = 0;
  private readonly trail = new BaseFeeTrail();
  private sane: Known | null = null;
  /** A leap that one endpoint told alone, and nobody confirmed yet. */
  private doubted: FeeQuote | null = null;
  private lastAsked = { at: Number.NEGATIVE_INFINITY, headSeen: 0 };
  private asking: Promise<FeeQuote> | null = null;

  constructor(
    private readonly pool: RpcPool,
    private readonly rpc: RpcReader,
    private readonly clock: Clock,
    /** Wei per gas. */
    private readonly minTip: bigint,
  ) {}

  /** A newer head ends the quote of the older one. */
  sawHead({ number, baseFeePerGas }: BlockHeader): void {
    this.headSeen = Math.max(this.headSeen, number);
    if (baseFeePerGas !== null) this.trail.saw({ number, fee: baseFeePerGas });
  }

  /** @throws RpcUnavailable also when all that is told is mad, and nothing sane was told lately */
  async current(): Promise<FeeQuote> {
    const { sane, lastAsked, headSeen } = this;
    const isOfThisHead = sane !== null && (sane.quote.blockNumber >= headSeen || lastAsked.headSeen === headSeen);
    if (isOfThisHead && this.clock.monotonicMs() - lastAsked.at < TTL_MS) return sane.quote;
    this.asking ??= this.ask().finally(() => (this.asking = null));
    return this.asking;
  }

  private async ask(): Promise<FeeQuote> {
    const at = this.clock.monotonicMs();
    const asked = { at, headSeen: this.headSeen };
    const told = await toldQuotes(this.pool, this.rpc, this.minTip);
    const quote = this.saneOf(told);
    if (quote !== null) this.sane = { quote, at };
    if (this.sane === null || at - this.sane.at > FRESH_MS)
      throw this.rpc.unavailable('eth_feeHistory', 'no endpoint tells fees that fit the last blocks');
    this.lastAsked = asked;
    return this.sane.quote;
  }

  private saneOf(told: readonly FeeQuote[]): FeeQuote | null {
    const fitting = told.filter((quote) => this.trail.allows(quote));
    const quote = lowerMedian(fitting);
    if (quote === null || (fitting.length === 1 && !this.isBelievedAlone(quote))) return null;
    this.doubted = null;
    return quote;
  }

  /** A leap of its tips counts when it is told as of another block, too. */
  private isBelievedAlone(quote: FeeQuote): boolean {
    const { sane, doubted } = this;
    if (sane === null || !leaps(sane.quote, quote)) return true;
    if (doubted !== null && doubted.blockNumber !== quote.blockNumber && !leaps(doubted, quote)) return true;
    this.doubted = doubted?.blockNumber === quote.blockNumber ? doubted : quote;
    return false;
  }
}
