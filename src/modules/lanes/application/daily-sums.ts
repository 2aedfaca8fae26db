import { Injectable } from '@nestjs/common';
import { groupBy } from '../../../kernel/group-by.js';
import { signerKey, type SignerId, signersOf } from '../../../kernel/signer-id.js';
import { LaneMemory, SignerFeeCaps } from '../../ledger/index.js';
import {
  hasDailyRoom,
  NO_SPENDING,
  plus,
  type PolicySet,
  SpendLedger,
  type Spending,
  type Spent,
} from '../../policies/index.js';
import type { Fence } from '../../signers/index.js';

/** What a tx needs of the daily amounts of its signer. */
export interface DailyNeeds extends Spending {
  readonly signer: SignerId;
}

/**
 * What signers have spent or reserved of their daily amounts. Each sum costs three statements, and only the owner reserves. So it is remembered under the
 * lease, and what slots reserve later is added ({@link LaneMemory}). What ended meanwhile is still in it, so it is rather too high, and is summed up again
 * where it leaves no room for all that waits. It is forgotten when a commit fails, and when something may be in flight for more than is reserved.
 */
@Injectable()
export class DailySums {
  constructor(
    private readonly spending: SpendLedger,
    private readonly caps: SignerFeeCaps,
    private readonly memory: LaneMemory,
  ) {}

  /**
   * @param needed by all that may get nonces in this transaction
   * @returns by {@link signerKey}
   */
  async spent(fence: Fence, policies: PolicySet, needed: readonly DailyNeeds[]): Promise<ReadonlyMap<string, Spent>> {
    const bySigner = groupBy(needed, ({ signer }) => signerKey(signer));
    const known = new Map<string, Spent>();
    for (const [key, own] of bySigner) {
      const sum = this.withRoom(fence, policies, own);
      if (sum) known.set(key, { ...sum, nextInMs: null });
    }
    const unknown = signersOf(needed).filter((signer) => !known.has(signerKey(signer)));
    const summed = await this.spending.spent(
      fence,
      unknown.map((signer) => ({ signer, ...this.caps.of(signer) })),
    );
    for (const signer of unknown) {
      const sum = summed.get(signerKey(signer));
      if (sum) this.memory.summedUp(signer, fence.tokenFor(signer), policies.mark, sum);
    }
    return new Map([...known, ...summed]);
  }

  /** What is remembered, when it leaves room for all of them. */
  private withRoom(fence: Fence, policies: PolicySet, own: readonly DailyNeeds[]): Spending | null {
    const [first] = own;
    const spent = first ? this.memory.dailySum(first.signer, fence.tokenFor(first.signer), policies.mark) : null;
    if (!first || !spent) return null;
    const needs = own.reduce(plus, NO_SPENDING);
    return policies.of(first.signer).every((policy) => hasDailyRoom(policy, { spent, needs })) ? spent : null;
  }
}
