import type { FeeQuote, Speed } from '../../chain/index.js';
import { maxOf, minOf } from '../../../kernel/quantities.js';
import type { Price, TxFacts } from './tx-facts.js';

/** What a first attempt of this speed would offer now, without the caps of chain or client. */
export function marketPrice({ baseFeePerGas, hasBaseFee, tips }: FeeQuote, speed: Speed): Price {
  const tip = tips[speed];
  return { maxFeePerGas: hasBaseFee ? 2n * baseFeePerGas + tip : tip, maxPriorityFeePerGas: tip };
}

/** What a first attempt would offer for blob gas now. */
export function marketBlobFee({ blobBaseFee }: FeeQuote): bigint {
  return 2n * (blobBaseFee ?? 1n);
}

/** @param attempts fees of the attempts that may be out */
export function priceFacts(quote: FeeQuote, speed: Speed, attempts: readonly Price[]): NonNullable<TxFacts['price']> {
  const highest = highestOf(attempts);
  return {
    highestAttempt: highest,
    market: marketPrice(quote, speed),
    congestedTip: quote.congestedTip,
    aboveMarket: highest && effectiveTip(highest, quote) >= quote.congestedTip,
  };
}

function highestOf([first, ...others]: readonly Price[]): Price | null {
  if (!first) return null;
  return others.reduce(
    (highest, price) => ({
      maxFeePerGas: maxOf(highest.maxFeePerGas, price.maxFeePerGas),
      maxPriorityFeePerGas: maxOf(highest.maxPriorityFeePerGas, price.maxPriorityFeePerGas),
    }),
    first,
  );
}

/** What a block producer would get for each gas in the next block. */
function effectiveTip({ maxFeePerGas, maxPriorityFeePerGas }: Price, { baseFeePerGas }: FeeQuote): bigint {
  return minOf(maxPriorityFeePerGas, maxFeePerGas - baseFeePerGas);
}
