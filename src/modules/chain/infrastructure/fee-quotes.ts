import type { Clock } from '../../../kernel/clock.js';
import type { FeeQuote } from '../domain/fee-quote.js';
import { FEE_HISTORY_BLOCKS, parseFeeHistory, quoteFrom, TIP_PERCENTILES } from './fee-history.js';
import { hexQuantity, quantity } from './parse-answer.js';
import type { RpcReader } from './rpc-reader.js';

/** A quote is good for one head, and for no longer than this. Milliseconds. */
const TTL_MS = 1_000;

/** The market of one chain: asked at most once a second and head, however many lanes want to know. */
export class FeeQuotes {
  private headSeen = 0;
  private last: { readonly at: number; readonly quote: FeeQuote } | null = null;
  private asking: Promise<FeeQuote> | null = null;

  constructor(
    private readonly rpc: RpcReader,
    private readonly clock: Clock,
    /** Wei per gas. */
    private readonly minTip: bigint,
  ) {}

  /** A newer head ends the quote of the older one. */
  sawHead(blockNumber: number): void {
    this.headSeen = Math.max(this.headSeen, blockNumber);
  }

  /** @throws RpcUnavailable */
  async current(): Promise<FeeQuote> {
    const { last } = this;
    if (last !== null && this.clock.monotonicMs() - last.at < TTL_MS && last.quote.blockNumber >= this.headSeen)
      return last.quote;
    this.asking ??= this.ask().finally(() => (this.asking = null));
    return this.asking;
  }

  private async ask(): Promise<FeeQuote> {
    const at = this.clock.monotonicMs();
    const params = [hexQuantity(FEE_HISTORY_BLOCKS), 'latest', TIP_PERCENTILES];
    const history = await this.rpc.one('eth_feeHistory', params, parseFeeHistory);
    const isQuiet = history.tips.every((tips) => tips.length === 0);
    const suggested = isQuiet
      ? await this.rpc.one('eth_maxPriorityFeePerGas', [], (value) => quantity(value, 'tip'))
      : null;
    const quote = quoteFrom(history, suggested, this.minTip);
    this.last = { at, quote };
    return quote;
  }
}
