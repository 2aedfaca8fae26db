import { Injectable } from '@nestjs/common';
import { maxOf } from '../../../kernel/quantities.js';
import { signerKey, type SignerId } from '../../../kernel/signer-id.js';
import { type Attempt, CommandedTxs, costOf, type RequestedTx } from '../../ledger/index.js';
import {
  type DailyNeed,
  type Held,
  NO_SPENDING,
  type PolicySet,
  type Refused,
  SignerPolicies,
  SpendLedger,
  type Spending,
  verdict,
} from '../../policies/index.js';
import { FeeRules } from '../../sending/index.js';
import { type Fence, slotKey } from '../../signers/index.js';

export type ReplacementAdmission =
  | { readonly kind: 'admitted' | 'later' }
  | { readonly kind: 'refused'; readonly reason: string };

const ADMITTED: ReplacementAdmission = { kind: 'admitted' };

/** What a replacement has to pass before it takes the slot of another tx: what a tx of the queue passes before it gets a nonce. */
@Injectable()
export class ReplacementGate {
  constructor(
    private readonly store: CommandedTxs,
    private readonly policies: SignerPolicies,
    private readonly spending: SpendLedger,
    private readonly fees: FeeRules,
  ) {}

  /** Why it can never take the place of the original; null when it may. */
  async refusal(replacement: RequestedTx): Promise<string | null> {
    return (await this.store.hasExpired(replacement.tx.id))
      ? 'the replacement expired'
      : this.policyRefusal(replacement, this.present, null);
  }

  /** By which a replacement is priced and judged, until it is admitted. */
  get present(): PolicySet {
    return this.policies.present;
  }

  /** Why its policy never allows it; null when it may. @param gasLimit null while it is not known */
  policyRefusal({ tx, request }: RequestedTx, policies: PolicySet, gasLimit: bigint | null): string | null {
    const { signer } = tx;
    const daily = gasLimit === null ? null : { spent: NO_SPENDING, needs: this.needOf(request, gasLimit) };
    const against = this.against(signer, request, policies, daily);
    return against === null ? null : inWords(against);
  }

  private against(
    signer: SignerId,
    request: RequestedTx['request'],
    policies: PolicySet,
    daily: DailyNeed | null,
  ): Refused | Held | null {
    const judged = policies.judge(signer, (policy) => verdict(policy, request, daily));
    return this.policies.enforced(judged, 'replace');
  }

  /**
   * Raises what is reserved for the slot to what the replacement can cost, where that is more. What it needs no more of asks for no room.
   * @param policies by which it was priced and judged
   * @returns `later` while its signer is paused or its account is stopped, a policy changed meanwhile, or a daily amount has no room for the difference; the reason when its
   * policy never allows it
   */
  async admit(
    fence: Fence,
    { tx, request }: RequestedTx,
    attempt: Attempt,
    policies: PolicySet,
  ): Promise<ReplacementAdmission> {
    const { signer } = tx;
    const { isPaused, policyMark } = await this.store.standing(fence, tx.id);
    if (isPaused || (await this.policies.at(policyMark, fence.tx)).mark !== policies.mark) return { kind: 'later' };
    if (policies.withDailyLimit([signer]).length === 0) return ADMITTED;
    const spent = (await this.spending.spent(fence, [{ signer, ...this.fees.capsFor(signer) }])).get(signerKey(signer));
    const own = (await this.spending.reserved(fence, [attempt])).get(slotKey(attempt)) ?? NO_SPENDING;
    const blobs = BigInt(request.payload.blobHashes?.length ?? 0);
    // Above its own fees when it has to outbid what is dearer.
    const signed = { value: 0n, fees: costOf({ value: 0n, gas: attempt.gasLimit, blobs }, attempt.fees) };
    const needs = highest(highest(own, signed), this.needOf(request, attempt.gasLimit));
    const others = spent ? { value: spent.value - own.value, fees: spent.fees - own.fees } : NO_SPENDING;
    const more = (name: keyof Spending): bigint => (needs[name] > own[name] ? needs[name] : 0n);
    const against = this.against(signer, request, policies, {
      spent: others,
      needs: { value: more('value'), fees: more('fees') },
    });
    if (against !== null) return against.kind === 'held' ? { kind: 'later' } : { ...against, reason: inWords(against) };
    await this.spending.reserve(fence, [{ signer, nonce: attempt.nonce, ...needs }]);
    return ADMITTED;
  }

  private needOf(request: RequestedTx['request'], gasLimit: bigint): Spending {
    return { value: request.payload.value, fees: this.fees.most(request.signer, request, gasLimit) };
  }
}

function inWords({ rule, reason }: Refused | Held): string {
  return `policy_refused: ${rule}: ${reason}`;
}

function highest(a: Spending, b: Spending): Spending {
  return { value: maxOf(a.value, b.value), fees: maxOf(a.fees, b.fees) };
}
