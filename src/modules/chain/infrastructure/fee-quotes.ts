import type { Clock } from '../../../kernel/clock.js';
import type { BlockHeader } from '../domain/block.js';
import type { FeeQuote } from '../domain/fee-quote.js';
import { AcceptedBaseFee, hasTipJump, LastAccepted, lowerMedian, withoutTipJump } from '../domain/fee-sanity.js';
import { endpointQuotes } from './endpoint-quotes.js';
import type { RpcPool } from './rpc/rpc-pool.js';
import type { RpcReader } from './rpc/rpc-reader.js';

/** A quote is used for one head, and not longer than this. */
const QUOTE_TTL_MS = 1_000;
/** How long the last sane quote replaces quotes that are not sane. */
const MAX_QUOTE_AGE_MS = 60_000;

interface Read {
  readonly quote: FeeQuote;
  readonly newestHead: number;
  /** Monotonic milliseconds. */
  readonly at: number;
}

/**
 * The fee quotes of one chain, read at most once per second and head, however many lanes ask. A signed fee cannot be taken back, so a
 * quote must be sane: compared with the quotes of the other endpoints, with the base fees of the heads, and, when only one endpoint
 * answered, with the last quote.
 */
export class FeeQuotes {
  private newestHead = 0;
  private readonly baseFees = new AcceptedBaseFee();
  private readonly sane = new LastAccepted<FeeQuote>(hasTipJump);
  /** When the last sane quote was read, monotonic milliseconds. */
  private saneAt = Number.NEGATIVE_INFINITY;
  private lastRead: Read | null = null;
  private reading: Promise<FeeQuote> | null = null;

  constructor(
    private readonly pool: RpcPool,
    private readonly rpc: RpcReader,
    private readonly clock: Clock,
    /** Wei per gas. */
    private readonly minTip: bigint,
  ) {}

  /** A newer head makes the quote of an older head invalid. */
  sawHead({ number, baseFeePerGas }: BlockHeader): void {
    this.newestHead = Math.max(this.newestHead, number);
    if (baseFeePerGas !== null) this.baseFees.saw({ number, fee: baseFeePerGas }, this.clock.monotonicMs());
  }

  /** @throws RpcUnavailable also when the heads have a base fee, the quotes have none, and the last sane quote is too old */
  async current(): Promise<FeeQuote> {
    const { lastRead, newestHead } = this;
    const isOfThisHead =
      lastRead !== null && (lastRead.quote.blockNumber >= newestHead || lastRead.newestHead === newestHead);
    if (isOfThisHead && this.clock.monotonicMs() - lastRead.at < QUOTE_TTL_MS) return lastRead.quote;
    this.reading ??= this.read().finally(() => (this.reading = null));
    return this.reading;
  }

  private async read(): Promise<FeeQuote> {
    const at = this.clock.monotonicMs();
    const { newestHead } = this;
    const quotes = await endpointQuotes(this.pool, this.rpc, this.minTip);
    const fitting = this.fitting(quotes);
    const quote = this.saneOf(fitting, at) ?? this.limited(fitting.length > 0 ? fitting : this.withinReach(quotes));
    if (quote === null)
      throw this.rpc.unavailable('eth_feeHistory', 'quotes of a gas price do not fit heads with a base fee');
    this.lastRead = { quote, newestHead, at };
    return quote;
  }

  /** A sane one of these quotes, or the last one for a while. */
  private saneOf(fitting: readonly FeeQuote[], at: number): FeeQuote | null {
    const quote = lowerMedian(fitting);
    if (quote !== null && this.isSane(quote, fitting.length === 1, at)) this.saneAt = at;
    return at - this.saneAt <= MAX_QUOTE_AGE_MS ? this.sane.value : null;
  }

  /** As much of a jump of the tips as is none: work goes on, and no price is mad. */
  private limited(quotes: readonly FeeQuote[]): FeeQuote | null {
    const quote = lowerMedian(quotes);
    return quote && this.sane.value ? withoutTipJump(this.sane.value, quote) : quote;
  }

  private withinReach(quotes: readonly FeeQuote[]): FeeQuote[] {
    return quotes.filter(({ hasBaseFee }) => hasBaseFee).map((quote) => this.baseFees.limited(quote));
  }

  private isSane(quote: FeeQuote, isAlone: boolean, at: number): boolean {
    if (isAlone) return this.sane.saw(quote, quote.blockNumber, at);
    this.sane.accept(quote);
    return true;
  }

  /** On a node that sees no heads, base fees of quotes confirm a jump in their place. */
  private fitting(quotes: readonly FeeQuote[]): FeeQuote[] {
    const allowed = (): FeeQuote[] => quotes.filter((quote) => this.baseFees.allows(quote));
    const now = allowed();
    const quote = lowerMedian(quotes);
    if (now.length > 0 || !quote?.hasBaseFee || quote.blockNumber <= this.newestHead) return now;
    this.baseFees.saw({ number: quote.blockNumber + 1, fee: quote.baseFeePerGas }, this.clock.monotonicMs());
    return allowed();
  }
}
