import type { Clock } from '../../../kernel/clock.js';
import type { BlockHeader } from '../domain/block.js';
import type { FeeQuote } from '../domain/fee-quote.js';
import { AcceptedBaseFee, hasTipJump, lowerMedian } from '../domain/fee-sanity.js';
import { endpointQuotes } from './endpoint-quotes.js';
import type { RpcPool } from './rpc/rpc-pool.js';
import type { RpcReader } from './rpc/rpc-reader.js';

/** A quote is used for one head, and not longer than this. */
const QUOTE_TTL_MS = 1_000;
/** How long the last sane quote replaces quotes that are not sane. */
const MAX_QUOTE_AGE_MS = 60_000;

interface SaneQuote {
  readonly quote: FeeQuote;
  /** When it was read, monotonic milliseconds. */
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
  private sane: SaneQuote | null = null;
  /** A jump of the tips that only one endpoint reported, and that no second observation has confirmed. */
  private unconfirmed: FeeQuote | null = null;
  private lastRead = { at: Number.NEGATIVE_INFINITY, newestHead: 0 };
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

  /** @throws RpcUnavailable also when no quote is sane, and the last sane quote is too old */
  async current(): Promise<FeeQuote> {
    const { sane, lastRead, newestHead } = this;
    const isOfThisHead = sane !== null && (sane.quote.blockNumber >= newestHead || lastRead.newestHead === newestHead);
    if (isOfThisHead && this.clock.monotonicMs() - lastRead.at < QUOTE_TTL_MS) return sane.quote;
    this.reading ??= this.read().finally(() => (this.reading = null));
    return this.reading;
  }

  private async read(): Promise<FeeQuote> {
    const at = this.clock.monotonicMs();
    const thisRead = { at, newestHead: this.newestHead };
    const quote = this.saneOf(await endpointQuotes(this.pool, this.rpc, this.minTip));
    if (quote !== null) this.sane = { quote, at };
    if (this.sane === null || at - this.sane.at > MAX_QUOTE_AGE_MS)
      throw this.rpc.unavailable('eth_feeHistory', 'no endpoint quotes fees that fit the base fees of the last blocks');
    this.lastRead = thisRead;
    return this.sane.quote;
  }

  private saneOf(quotes: readonly FeeQuote[]): FeeQuote | null {
    const fitting = this.fitting(quotes);
    const quote = lowerMedian(fitting);
    if (quote === null || (fitting.length === 1 && !this.isAcceptedAlone(quote))) return null;
    this.unconfirmed = null;
    return quote;
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

  /** A jump of the tips is accepted when a quote of another block has it, too. */
  private isAcceptedAlone(quote: FeeQuote): boolean {
    const { sane, unconfirmed } = this;
    if (sane === null || !hasTipJump(sane.quote, quote)) return true;
    if (unconfirmed !== null && unconfirmed.blockNumber !== quote.blockNumber && !hasTipJump(unconfirmed, quote))
      return true;
    this.unconfirmed = unconfirmed?.blockNumber === quote.blockNumber ? unconfirmed : quote;
    return false;
  }
}
