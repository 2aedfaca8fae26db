import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import { minOf } from '../../../kernel/quantities.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { ChainRules, type FeeCaps, type FeeQuote, nodeTxFeeCap } from '../../chain/index.js';
import type { AttemptFees, TxRequest } from '../../transactions/index.js';
import { atMarket, bumpedFees, feesWithin, initialFees, tooDear } from '../domain/fee-policy.js';

/** An operator may raise a node's limit, so it is tried again after this. Milliseconds. */
const LIMIT_KNOWN_MS = 600_000;

/** Fees, or in words why there are none. */
export type Priced =
  { readonly fees: AttemptFees } | { readonly tooDear: string; readonly limitedBy: 'chain' | 'node' };

function atCaps({ maxFeePerGas, maxPriorityFeePerGas }: FeeCaps): AttemptFees {
  return { maxFeePerGas, maxPriorityFeePerGas: minOf(maxPriorityFeePerGas, maxFeePerGas) };
}

/** Every price that is signed comes from here, so none is above the caps of its chain (design, I13). */
@Injectable()
export class FeeRules {
  /** What the nodes of a chain said a transaction may cost, in wei; learned from their refusals. */
  private readonly nodeLimits = new Map<ChainId, { readonly wei: bigint; readonly until: number }>();

  constructor(
    private readonly rules: ChainRules,
    private readonly clock: Clock,
  ) {}

  /** For a payload. */
  price(chainId: ChainId, request: Pick<TxRequest, 'fees' | 'speed'>, gasLimit: bigint, quote: FeeQuote): Priced {
    const caps = this.rules.feeCaps(chainId);
    const dear = tooDear(request, quote, caps);
    if (dear !== null) return { tooDear: dear, limitedBy: 'chain' };
    const fees = initialFees(request, quote, caps);
    const limit = this.nodeLimit(chainId);
    const fitting = limit === null ? fees : feesWithin(limit, gasLimit, fees, quote);
    if (fitting) return { fees: fitting };
    return {
      tooDear: `all its gas would cost more than the ${limit} wei that the nodes allow for a transaction`,
      limitedBy: 'node',
    };
  }

  /** For a payload that holds a nonce already and must be signed, whatever the market says now. */
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
   * For a no-op: everything behind it waits. Null when the caps of the chain do not allow what it takes.
   * @param rival the highest price at the same nonce, which it must outbid
   */
  noOp(chainId: ChainId, quote: FeeQuote, rival: AttemptFees | null): AttemptFees | null {
    const caps = this.rules.feeCaps(chainId);
    if (tooDear(atMarket('fast'), quote, caps) !== null) return null;
    const market = initialFees(atMarket('fast'), quote, caps);
    // At the caps it cannot outbid a rival that is there already; but what every node refuses is in no pool, and needs no outbidding.
    return rival === null ? market : (bumpedFees(rival, market, caps) ?? atCaps(caps));
  }

  /** For a payload that was too dear for every node, which did not say what they allow: a quarter less. Null when that is too low. */
  lower(refused: AttemptFees, gasLimit: bigint, quote: FeeQuote): AttemptFees | null {
    return feesWithin((refused.maxFeePerGas * gasLimit * 3n) / 4n, gasLimit, refused, quote);
  }

  /** For a payload that was too cheap for every node. Null when its client or the caps of the chain do not allow more. */
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

  /** A node said that a transaction costs too much. */
  learnLimit(chainId: ChainId, message: string): void {
    const said = nodeTxFeeCap(message);
    if (said === null) return;
    const known = this.nodeLimit(chainId);
    const wei = known === null ? said : minOf(known, said);
    this.nodeLimits.set(chainId, { wei, until: this.clock.monotonicMs() + LIMIT_KNOWN_MS });
  }

  private nodeLimit(chainId: ChainId): bigint | null {
    const known = this.nodeLimits.get(chainId);
    return known !== undefined && this.clock.monotonicMs() < known.until ? known.wei : null;
  }
}
