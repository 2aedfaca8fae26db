import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import { minOf } from '../../../kernel/quantities.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { ChainRules, type FeeCaps, type FeeQuote, nodeTxFeeCap } from '../../chain/index.js';
import type { AttemptFees, TxRequest } from '../../transactions/index.js';
import { atMarket, bumpedFees, feesWithin, initialFees, tooExpensive } from '../domain/fee-policy.js';

/** After this time the limit of a node is tried again, because its operator may raise it. */
const NODE_LIMIT_VALID_MS = 600_000;

/** Fees, or the reason why there are none. */
export type Priced =
  { readonly fees: AttemptFees } | { readonly tooExpensive: string; readonly limitedBy: 'chain' | 'node' };

function atCaps({ maxFeePerGas, maxPriorityFeePerGas }: FeeCaps): AttemptFees {
  return { maxFeePerGas, maxPriorityFeePerGas: minOf(maxPriorityFeePerGas, maxFeePerGas) };
}

/** Computes every price that is signed, so that none is above the caps of its chain (I13, docs/trust.md). */
@Injectable()
export class FeeRules {
  /** The most that the nodes of a chain allow a transaction to cost, in wei, as read from their refusals. */
  private readonly nodeLimits = new Map<ChainId, { readonly wei: bigint; readonly untilMs: number }>();

  constructor(
    private readonly rules: ChainRules,
    private readonly clock: Clock,
  ) {}

  /** The fees of a payload without an attempt. */
  price(chainId: ChainId, request: Pick<TxRequest, 'fees' | 'speed'>, gasLimit: bigint, quote: FeeQuote): Priced {
    const caps = this.rules.feeCaps(chainId);
    const reason = tooExpensive(request, quote, caps);
    if (reason !== null) return { tooExpensive: reason, limitedBy: 'chain' };
    const fees = initialFees(request, quote, caps);
    const limit = this.nodeLimit(chainId);
    const fitting = limit === null ? fees : feesWithin(limit, gasLimit, fees, quote);
    if (fitting) return { fees: fitting };
    return {
      tooExpensive: `the cost of all its gas is above the ${limit} wei that the nodes allow for a transaction`,
      limitedBy: 'node',
    };
  }

  /** The fees of a payload that holds a nonce already and must be signed at any market price. */
  clamped(
    chainId: ChainId,
    request: Pick<TxRequest, 'fees' | 'speed'>,
    gasLimit: bigint,
    quote: FeeQuote,
  ): AttemptFees {
    const priced = this.price(chainId, request, gasLimit, quote);
    return 'fees' in priced ? priced.fees : initialFees(request, quote, this.rules.feeCaps(chainId));
  }

  /**
   * The fees of a no-op, with urgency, because every transaction behind it waits. Null when they are above the caps of the chain.
   * @param rival the highest price at the same nonce, which the no-op must outbid
   */
  noOp(chainId: ChainId, quote: FeeQuote, rival: AttemptFees | null): AttemptFees | null {
    const caps = this.rules.feeCaps(chainId);
    if (tooExpensive(atMarket('fast'), quote, caps) !== null) return null;
    const market = initialFees(atMarket('fast'), quote, caps);
    // With the fees of the caps it cannot outbid a rival that a pool has. But a rival that every node refused is in no pool, so they are
    // tried.
    return rival === null ? market : (bumpedFees(rival, market, caps) ?? atCaps(caps));
  }

  /**
   * The fees after every node refused a payload as too expensive without a limit in the answer: a quarter less. Null when that is too low.
   */
  lower(refused: AttemptFees, gasLimit: bigint, quote: FeeQuote): AttemptFees | null {
    return feesWithin((refused.maxFeePerGas * gasLimit * 3n) / 4n, gasLimit, refused, quote);
  }

  /** The fees after every node refused a payload as too cheap. Null when the client or the caps of the chain do not allow more. */
  higher(
    chainId: ChainId,
    refused: AttemptFees,
    { fees, speed }: Pick<TxRequest, 'fees' | 'speed'>,
    quote: FeeQuote,
  ): AttemptFees | null {
    if (fees.maxFeePerGas !== null || fees.maxPriorityFeePerGas !== null) return null;
    const caps = this.rules.feeCaps(chainId);
    return bumpedFees(refused, initialFees({ fees, speed }, quote, caps), caps);
  }

  /** Remembers the limit in a node's refusal of an expensive transaction. */
  learnLimit(chainId: ChainId, message: string): void {
    const limit = nodeTxFeeCap(message);
    if (limit === null) return;
    const known = this.nodeLimit(chainId);
    const wei = known === null ? limit : minOf(known, limit);
    this.nodeLimits.set(chainId, { wei, untilMs: this.clock.monotonicMs() + NODE_LIMIT_VALID_MS });
  }

  private nodeLimit(chainId: ChainId): bigint | null {
    const known = this.nodeLimits.get(chainId);
    return known !== undefined && this.clock.monotonicMs() < known.untilMs ? known.wei : null;
  }
}
