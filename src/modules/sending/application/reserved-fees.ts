import { Injectable } from '@nestjs/common';
import { maxOf, minOf } from '../../../kernel/quantities.js';
import { signerKey, signersOf } from '../../../kernel/signer-id.js';
import { LaneMemory, type RequestedTx, WriteChanges } from '../../ledger/index.js';
import { NO_SPENDING, SignerPolicies, SpendLedger, type Spending } from '../../policies/index.js';
import { type Fence, type Lease, leasesFor, slotKey } from '../../signers/index.js';
import { gasLimitOf } from './drafts.js';
import { FeeRules } from './fee-rules.js';

interface Reserving extends RequestedTx {
  /** Wei of fees at its caps. */
  readonly most: bigint;
  /** Wei of fees of its signer within 24 hours. */
  readonly dailyFees: bigint;
}

/** The most wei of fees that another attempt of a payload may cost. Asks the database only for signers with daily fees. */
@Injectable()
export class ReservedFees {
  constructor(
    private readonly policies: SignerPolicies,
    private readonly spending: SpendLedger,
    private readonly fees: FeeRules,
    private readonly write: WriteChanges,
    private readonly memory: LaneMemory,
  ) {}

  /**
   * By `slotKey`. What only reports limits nothing. What has less reserved than its caps allow, because it was sent while there was another policy or
   * none, gets as much of that as the day has room for, before anything is signed.
   */
  async of(leases: readonly Lease[], items: readonly RequestedTx[]): Promise<ReadonlyMap<string, bigint>> {
    const limited = items.flatMap((item): Reserving[] => {
      const { signer } = item.tx;
      const dailyFees = this.policies.present.lowest(signer, 'dailyFees');
      if (dailyFees === null) return [];
      return [{ ...item, dailyFees, most: this.fees.most(signer, item.request, gasLimitOf(item)) }];
    });
    const reserved = await this.spending.reserved(
      null,
      limited.map(({ tx }) => tx),
    );
    const fees = new Map(limited.map(({ tx }) => [slotKey(tx), reserved.get(slotKey(tx))?.fees ?? 0n]));
    const lacking = limited.filter(({ tx, most }) => (reserved.get(slotKey(tx))?.fees ?? -1n) < most);
    return lacking.length === 0 ? fees : new Map([...fees, ...(await this.raised(leases, lacking))]);
  }

  private async raised(leases: readonly Lease[], lacking: readonly Reserving[]): Promise<[string, bigint][]> {
    const signers = signersOf(lacking.map(({ tx }) => tx));
    const daily = signers.map((signer) => ({ signer, ...this.fees.capsFor(signer) }));
    const raised: [string, bigint][] = [];
    await this.write.underFence(leasesFor(leases, signers), 'reserve', async (fence) => {
      raised.push(...(await this.raise(fence, lacking, new Map(await this.spending.spent(fence, daily)))));
      return {};
    });
    this.memory.sumUpAgain(signers);
    return raised;
  }

  private async raise(
    fence: Fence,
    lacking: readonly Reserving[],
    spent: Map<string, Spending>,
  ): Promise<[string, bigint][]> {
    const reserved = await this.spending.reserved(
      fence,
      lacking.map(({ tx }) => tx),
    );
    const reserves = lacking.map(({ tx: { signer, nonce }, request, most, dailyFees }) => {
      const key = signerKey(signer);
      const { value, fees } = spent.get(key) ?? NO_SPENDING;
      const own = reserved.get(slotKey({ signer, nonce }))?.fees ?? 0n;
      const more = maxOf(0n, minOf(most - own, dailyFees - fees));
      spent.set(key, { value, fees: fees + more });
      return { signer, nonce, value: request.payload.value, fees: own + more };
    });
    await this.spending.reserve(fence, reserves);
    return reserves.map((reserve) => [slotKey(reserve), reserve.fees]);
  }
}
