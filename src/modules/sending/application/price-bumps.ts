import { Injectable } from '@nestjs/common';
import { groupBy } from '../../../kernel/group-by.js';
import type { FeeQuote } from '../../chain/index.js';
import { Custody, type Lease, slotKey } from '../../signers/index.js';
import {
  type Attempt,
  AttemptRepository,
  type AttemptFees,
  isUnopposed,
  type ManagedTx,
  ManagedTxRepository,
  mayBeInPool,
  type StoredRequest,
} from '../../ledger/index.js';
import { type BumpResult, isBumpable } from '../domain/bump-decision.js';
import { atMarket } from '../domain/fee-policy.js';
import type { AttemptDraft } from './attempt-signer.js';
import { FeeRules, type SlotToBump } from './fee-rules.js';
import { bindingFor, refusedAtAnyHigherPrice, refusedForPrice, sameFees } from '../domain/fee-bump.js';
import { asFound } from '../domain/send-verdict.js';
import { gasLimitOf, noOpDraft, payloadDraft } from './drafts.js';
import { ReservedFees } from './reserved-fees.js';

/** A tx that is to get a higher price. */
export interface WantedBump {
  readonly tx: ManagedTx;
  /** A client asked for it: also when the tx is new, or its price above the market. */
  readonly force: boolean;
  /** It is the lowest of its signer that is due: where its price suffices, it is sent again, for a pool may have dropped it. */
  readonly mayBeDropped?: boolean;
  /** Fees that the client wants to pay at least; only with `force`. */
  readonly fees?: Partial<AttemptFees> | null;
  /** Of its signer, where gas is free; else null. Only with `force`. */
  readonly balance?: bigint | null;
}

/** What to sign for a tx, or what it has with the same price already, which no pool has; or why nothing. */
export type PricedBump = WantedBump &
  (
    | { readonly draft: AttemptDraft }
    | { readonly stored: Attempt }
    /** `again`: what is sent once more without a change. */
    | { readonly result: Exclude<BumpResult, 'bumped'>; readonly again?: Attempt }
  );

/** Finds the next price of txs that are in a pool, above every attempt of their slots, and drafts the same payload or no-op with it. */
@Injectable()
export class PriceBumps {
  constructor(
    private readonly attempts: AttemptRepository,
    private readonly repository: ManagedTxRepository,
    private readonly fees: FeeRules,
    private readonly reserved: ReservedFees,
    private readonly custody: Custody,
  ) {}

  async execute(quote: FeeQuote, leases: readonly Lease[], wanted: readonly WantedBump[]): Promise<PricedBump[]> {
    const stored = await this.attempts.ofSlots(wanted.map(({ tx }) => ({ signer: tx.signer, nonce: tx.nonce })));
    const bySlot = groupBy(stored.map(asFound), slotKey);
    const requested = await this.requested(wanted);
    const requests = new Map(requested.map(({ tx, request }) => [tx.id, request]));
    const reserved = await this.reserved.of(leases, requested);
    return wanted.map((bump) => {
      const slot = slotKey(bump.tx);
      return this.priced(
        quote,
        bump,
        bySlot.get(slot) ?? [],
        requests.get(bump.tx.id) ?? null,
        reserved.get(slot) ?? null,
      );
    });
  }

  /** No-ops have no request of a client. */
  private requested(wanted: readonly WantedBump[]): ReturnType<ManagedTxRepository['requested']> {
    const payloads = wanted.filter(({ tx }) => tx.kind === 'payload' && !tx.isClosing);
    return this.repository.requested(payloads.map(({ tx }) => tx.id));
  }

  /** @param request null for a no-op */
  private priced(
    quote: FeeQuote,
    bump: WantedBump,
    ofSlot: readonly Attempt[],
    request: StoredRequest | null,
    reserved: bigint | null,
  ): PricedBump {
    const { tx, balance = null } = bump;
    const newest = ofSlot.findLast(({ txId }) => txId === tx.id);
    if (this.custody.isExternal(tx.signer)) return { ...bump, result: 'not_possible' };
    if (!newest || !isBumpable(tx, newest) || (!bump.force && isRefusedAtAnyPrice(newest, ofSlot)))
      return { ...bump, result: 'not_possible' };
    const { type } = newest;
    // Of what is signed: nodes may have wanted more than its newest attempt has.
    const gasLimit = request === null ? newest.gasLimit : gasLimitOf({ tx });
    const slot = {
      signer: tx.signer,
      request: limitsOf(bump, request),
      atLeast: bump.fees ?? {},
      attempts: bindingFor(tx.id, ofSlot, quote.blockNumber),
      type,
      gasLimit,
      reserved,
      forGas: balance === null ? null : balance - (request?.payload.value ?? 0n),
    };
    const price = this.fees.bumped({ ...slot, because: reasonOf(bump, newest) }, quote);
    if (price.kind === 'above_market' && bump.mayBeDropped === true && isInPool(tx, newest))
      return { ...bump, result: price.kind, again: newest };
    if (price.kind !== 'fees') return { ...bump, result: price.kind };
    // A pool takes no replacement of another type.
    const draft =
      request === null
        ? noOpDraft(tx, price.fees, quote.blockNumber, type, gasLimit)
        : payloadDraft({ tx, request }, price.fees, quote.blockNumber, type);
    // As after a refusal for want of funds: what a pool has asks for the same next price each time.
    const stored = ofSlot.find((attempt) => attempt.txId === tx.id && isSame(attempt, draft));
    return stored ? { ...bump, stored } : { ...bump, draft };
  }
}

/** A node took it, and nothing was said against it since: what is refused is sent again after its own pauses, and has an end. */
function isInPool({ progress: { lastError } }: ManagedTx, newest: Attempt): boolean {
  return newest.status === 'ACCEPTED' && lastError === null && isUnopposed(newest);
}

function isSame(attempt: Attempt, { kind, type, gasLimit, fees }: AttemptDraft): boolean {
  return (
    attempt.kind === kind && attempt.type === type && attempt.gasLimit === gasLimit && sameFees(attempt.fees, fees)
  );
}

/** A client that asks for a bump may pay more than it wanted at first. Until then its own fees are the most that it pays. */
function limitsOf({ force }: WantedBump, request: StoredRequest | null): SlotToBump['request'] {
  if (request === null || !force) return request;
  return { ...atMarket(request.speed), payload: request.payload };
}

/**
 * Whether nodes refuse what a pool had of it, and a higher price as well. Each bump would begin the count of their refusals again, so that it has
 * no end. What is said of a payload is not said of the no-op that closes its slot.
 */
function isRefusedAtAnyPrice({ txId, kind }: Attempt, ofSlot: readonly Attempt[]): boolean {
  const had = ofSlot.filter((attempt) => attempt.txId === txId && attempt.kind === kind && mayBeInPool(attempt));
  const newest = had.at(-1);
  return newest !== undefined && refusedAtAnyHigherPrice(newest);
}

function reasonOf({ tx, force }: WantedBump, newest: Attempt): SlotToBump['because'] {
  if (force) return 'forced';
  return refusedForPrice(newest) ? { refusal: tx.progress.lastError ?? '' } : 'timer';
}
