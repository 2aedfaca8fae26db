import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import { minOf } from '../../../kernel/quantities.js';
import type { ChainId, SignerId } from '../../../kernel/signer-id.js';
import { demandedFee, type FeeCaps, type FeeQuote, nodeTxFeeCap } from '../../chain/index.js';
import { type Attempt, type AttemptFees, costOf, mayBeInPool, SignerFeeCaps, type TxType } from '../../ledger/index.js';
import {
  atMarket,
  feesWithin,
  hasOnePrice,
  initialFees,
  NodeTxFeeLimits,
  onePrice,
  type PricedRequest,
  tooExpensive,
} from '../domain/fee-policy.js';
import {
  type Bump,
  bumpedFees,
  feesAtLeast,
  isAboveMarket,
  isFarAboveMarket,
  isNoBetter,
  isOffered,
  requestCaps,
  sameFees,
  highestFees,
  refusedForPrice,
} from '../domain/fee-bump.js';
import { noOpType, typeOfSlot } from '../domain/tx-type.js';

/** Fees, or the reason why there are none. */
export type Priced =
  | { readonly fees: AttemptFees }
  | { readonly tooExpensive: string; readonly limitedBy: 'chain' | 'node' };

/** A payload or a fill, as far as its price depends on it. */
export interface Priceable {
  readonly signer: SignerId;
  readonly request: PricedRequest;
  readonly gasLimit: bigint;
}

/** A slot that shall get another attempt at a higher price. */
export interface SlotToBump {
  readonly signer: SignerId;
  /** What the client asked for. Its own fees are the most that it pays. Null for a no-op. */
  readonly request: PricedRequest | null;
  /** Fees that a client wants to pay at least, as far as the caps allow. */
  readonly atLeast?: Partial<AttemptFees>;
  /** All attempts of the slot. */
  readonly attempts: readonly Attempt[];
  /** The type of the next attempt. */
  readonly type: TxType;
  readonly gasLimit: bigint;
  /** Wei that the account has for gas, where gas is free; else null. */
  readonly forGas?: bigint | null;
  /** Wei of fees that the daily amounts of its policy have for it; null without such a limit. */
  readonly reserved?: bigint | null;
  /**
   * `timer`: not mined in time, so the price is raised only while it is below the market. `forced`: a higher price is wanted whatever the
   * market. `refusal`: the words of a node for which the price is too low.
   */
  readonly because: 'timer' | 'forced' | { readonly refusal: string };
}

/** Computes every price that is signed, so that none is above the caps of its chain and signer (I13, docs/trust.md). */
@Injectable()
export class FeeRules {
  private readonly nodeLimits = new NodeTxFeeLimits();

  constructor(
    private readonly caps: SignerFeeCaps,
    private readonly clock: Clock,
  ) {}

  /** The most that a signer may offer, without the limits of a request: those of its chain, and its own. */
  capsFor(signer: SignerId): FeeCaps {
    return this.caps.of(signer);
  }

  /** The caps for a payload, or for a no-op, which no policy limits: what is behind it waits for it. */
  capsOf({ signer, request, gasLimit, reserved = null }: Pick<SlotToBump, keyof Priceable | 'reserved'>): FeeCaps {
    if (request === null) return this.caps.of(signer);
    const { maxFeePerBlobGas } = request.fees;
    return this.caps.ofPayload(signer, { gas: gasLimit, blobs: blobsOf(request), maxFeePerBlobGas }, reserved);
  }

  /** The fees of what has no attempt. */
  price(caps: FeeCaps, { signer, request, gasLimit }: Priceable, quote: FeeQuote): Priced {
    const reason = tooExpensive(request, quote, caps);
    if (reason !== null) return { tooExpensive: reason, limitedBy: 'chain' };
    const fees = initialFees(request, quote, caps);
    const limit = this.nodeLimit(signer.chainId);
    const fitting = limit === null ? fees : feesWithin(limit, gasLimit, fees, quote);
    if (fitting) return { fees: fitting };
    return {
      tooExpensive: `the cost of all its gas is above the ${limit} wei that the nodes allow for a transaction`,
      limitedBy: 'node',
    };
  }

  /** The same for what holds a nonce already and must be signed at any market price. */
  clamped(caps: FeeCaps, item: Priceable, quote: FeeQuote): AttemptFees {
    const priced = this.price(caps, item, quote);
    return 'fees' in priced ? priced.fees : initialFees(item.request, quote, caps);
  }

  /** The most wei of fees that a payload can cost at its caps; what a rollup charges for its data on L1 is not in it. */
  most(signer: SignerId, request: PricedRequest, gasLimit: bigint): bigint {
    const caps = this.capsOf({ signer, request, gasLimit });
    const { maxFeePerGas, gasPrice, maxFeePerBlobGas } = request.fees;
    return costOf(
      { value: 0n, gas: gasLimit, blobs: blobsOf(request) },
      {
        maxFeePerGas: minOf(caps.maxFeePerGas, maxFeePerGas ?? gasPrice ?? caps.maxFeePerGas),
        maxFeePerBlobGas: minOf(caps.maxFeePerBlobGas, maxFeePerBlobGas ?? caps.maxFeePerBlobGas),
      },
    );
  }

  /**
   * The fees of the next attempt of a slot: above all of its attempts that are out, or were refused only for their price, by what every
   * pool demands; not below the market; and what a node demanded.
   */
  bumped(slot: SlotToBump, quote: FeeQuote): Bump {
    const { request, atLeast = {}, attempts, type, because } = slot;
    const caps = this.capsOf(slot);
    const market = feesAtLeast(initialFees(request ?? atMarket('fast', type), quote, caps), atLeast, caps);
    const previous = highestFees(attempts);
    if (previous === null) return { kind: 'fees', fees: hasOnePrice(type) ? onePrice(market.maxFeePerGas) : market };
    if (because === 'timer' && isAboveMarket(previous, quote)) return { kind: 'above_market' };
    // Else one node that refuses every price pulls it up to the caps. A no-op has the slot to close.
    if (
      request !== null &&
      isVague(because, previous, quote) &&
      isFarAboveMarket(withTip(previous, type, quote), quote)
    )
      return { kind: 'above_market' };
    const outbidding = this.bump(slot, quote, market, previous);
    const bump = attempts.some(mayBeInPool) ? outbidding : this.orWithoutRival(outbidding, slot, quote, market);
    return isUnaffordable(bump, slot) ? { kind: 'unaffordable' } : bump;
  }

  /**
   * No pool has an attempt of the slot, so no price must be outbid, and the market is enough; but no price is tried twice at which nodes
   * refused.
   */
  private orWithoutRival(outbidding: Bump, slot: SlotToBump, quote: FeeQuote, market: AttemptFees): Bump {
    const bump = this.bump(slot, quote, market, null);
    if (bump.kind !== 'fees') return outbidding;
    const { fees } = bump;
    const refused = slot.attempts.filter(refusedForPrice).map((attempt) => attempt.fees);
    if (refused.every((each) => !isNoBetter(fees, each))) return bump;
    return outbidding.kind === 'capped' && refused.every((each) => !sameFees(fees, each)) ? bump : outbidding;
  }

  private bump(slot: SlotToBump, quote: FeeQuote, market: AttemptFees, rival: AttemptFees | null): Bump {
    const { signer, request, type, gasLimit, because } = slot;
    const configured = this.capsOf(slot);
    const caps = request === null ? configured : requestCaps(configured, request.fees, rival ?? market);
    return bumpedFees({
      rival,
      market,
      caps: this.withinNodeLimit(signer.chainId, caps, gasLimit),
      type,
      demanded: typeof because === 'object' ? demandedFee(because.refusal) : null,
      baseFeePerGas: quote.baseFeePerGas,
    });
  }

  /**
   * The fees of a no-op, with urgency, because every transaction behind it waits. As much as the caps allow, whatever the market asks: without
   * a no-op nothing competes with a payload that is not wanted any more. Where gas is free and the account cannot pay more, it is free, too: a
   * pool takes it that does not have the payload, or that lets an equal price replace (Besu). Null when they were refused as too cheap at the caps.
   * @param rivals the attempts at the same nonce, which the no-op must outbid
   * @param refusal the words of a node for which the last no-op was too cheap
   * @param forGas wei that the account has for gas, where gas is free; else null
   */
  noOp(
    signer: SignerId,
    quote: FeeQuote,
    rivals: readonly Attempt[],
    gasLimit: bigint,
    refusal: string | null = null,
    forGas: bigint | null = null,
  ): AttemptFees | null {
    const caps = this.caps.of(signer);
    const type = noOpType(typeOfSlot(rivals), quote);
    const because = refusal === null ? 'forced' : { refusal };
    const bump = this.bumped({ signer, request: null, attempts: rivals, type, gasLimit, forGas, because }, quote);
    // With the fees of the caps it cannot outbid a rival that a pool has. But a rival that every node refused is in no pool, so they are
    // tried once, also after a payload was refused with them: the words of a node about a payload need not be true.
    const fees = bump.kind === 'fees' ? bump.fees : bump.kind === 'unaffordable' ? FREE : atCaps(caps, type);
    const noOps = rivals.filter(({ kind }) => kind !== 'payload');
    return noOps.some((noOp) => refusedForPrice(noOp) && sameFees(noOp.fees, fees)) ? null : fees;
  }

  /**
   * The fees after every node refused a payload as too expensive without a limit in the answer: a quarter less, and within its caps, which may be
   * lower now. Null when that is too low.
   */
  lower(caps: FeeCaps, last: Pick<Attempt, 'fees' | 'type'>, gasLimit: bigint, quote: FeeQuote): AttemptFees | null {
    const { fees: refused, type } = last;
    const within = (name: keyof FeeCaps): bigint => minOf(refused[name] ?? 0n, caps[name]);
    const price = minOf((refused.maxFeePerGas * 3n) / 4n, caps.maxFeePerGas);
    // A gas price is no tip.
    const tip = hasOnePrice(type) ? refused.maxPriorityFeePerGas : within('maxPriorityFeePerGas');
    const blobs = refused.maxFeePerBlobGas && { maxFeePerBlobGas: within('maxFeePerBlobGas') };
    return feesWithin(price * gasLimit, gasLimit, { ...refused, maxPriorityFeePerGas: tip, ...blobs }, quote);
  }

  /** Remembers the limit in a node's refusal of an expensive transaction. */
  learnLimit(chainId: ChainId, message: string): void {
    const limit = nodeTxFeeCap(message);
    if (limit !== null) this.nodeLimits.learn(chainId, limit, this.clock.monotonicMs());
  }

  private withinNodeLimit(chainId: ChainId, caps: FeeCaps, gasLimit: bigint): FeeCaps {
    const limit = this.nodeLimit(chainId);
    if (limit === null || gasLimit === 0n) return caps;
    return { ...caps, maxFeePerGas: minOf(caps.maxFeePerGas, limit / gasLimit) };
  }

  private nodeLimit(chainId: ChainId): bigint | null {
    return this.nodeLimits.of(chainId, this.clock.monotonicMs());
  }
}

function blobsOf({ payload }: PricedRequest): bigint {
  return BigInt(payload?.blobHashes?.length ?? 0);
}

const FREE: AttemptFees = { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n };

function isUnaffordable(bump: Bump, { gasLimit, forGas = null }: SlotToBump): boolean {
  if (bump.kind !== 'fees' || forGas === null) return false;
  const cost = gasLimit * bump.fees.maxFeePerGas;
  return cost > 0n && cost > forGas;
}

/** The tip in a single gas price is what is above the base fee. */
function withTip(fees: AttemptFees, type: TxType, { baseFeePerGas }: FeeQuote): AttemptFees {
  return hasOnePrice(type) ? { ...fees, maxPriorityFeePerGas: fees.maxPriorityFeePerGas - baseFeePerGas } : fees;
}

/** A refusal that does not say what the node demands, or says an amount that was offered. */
function isVague(because: SlotToBump['because'], offered: AttemptFees, { baseFeePerGas }: FeeQuote): boolean {
  if (typeof because !== 'object') return false;
  const demanded = demandedFee(because.refusal);
  return demanded === null || isOffered(demanded, offered, baseFeePerGas);
}

function atCaps({ maxFeePerGas, maxPriorityFeePerGas, maxFeePerBlobGas }: FeeCaps, type: TxType): AttemptFees {
  if (hasOnePrice(type)) return onePrice(maxFeePerGas);
  const fees = { maxFeePerGas, maxPriorityFeePerGas: minOf(maxPriorityFeePerGas, maxFeePerGas) };
  return type === 3 ? { ...fees, maxFeePerBlobGas } : fees;
}
