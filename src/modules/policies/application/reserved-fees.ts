import { Injectable } from '@nestjs/common';
import type { SlotRef } from '../../signers/index.js';
import { SpendLedger } from '../domain/spend-ledger.js';
import { SignerPolicies } from './signer-policies.js';

/** The most wei of fees that another attempt of a slot may cost. Asks the database only for signers with daily amounts. */
@Injectable()
export class ReservedFees {
  constructor(
    private readonly policies: SignerPolicies,
    private readonly spending: SpendLedger,
  ) {}

  /** By `slotKey`. What only reports limits nothing. */
  async of(slots: readonly SlotRef[]): Promise<ReadonlyMap<string, bigint>> {
    const limited = slots.filter(({ signer }) => {
      const policy = this.policies.of(signer);
      return policy?.dailyFees != null && !policy.dryRun;
    });
    const reserved = await this.spending.reserved(null, limited);
    return new Map([...reserved].map(([slot, { fees }]) => [slot, fees]));
  }
}
