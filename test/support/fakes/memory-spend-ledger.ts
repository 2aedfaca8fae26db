import { signerKey, type SignerId } from '../../../src/kernel/signer-id.js';
import { SpendLedger, type Spending } from '../../../src/modules/policies/index.js';
import { Fence, slotKey, type SlotRef } from '../../../src/modules/signers/index.js';
import { fakeOf } from './fake-of.js';

/** Wei. Nothing of it ends. */
export class MemorySpendLedger extends SpendLedger {
  readonly reserves = new Map<string, SlotRef & Spending>();
  /** How often something was asked or written. */
  calls = 0;
  /** Until the oldest of what is spent is a day old. */
  nextInMs: number | null = null;

  async spent(_fence: Fence, signers: Parameters<SpendLedger['spent']>[1]): ReturnType<SpendLedger['spent']> {
    if (signers.length > 0) this.calls += 1;
    return new Map(
      signers.map(({ signer }) => {
        const own = [...this.reserves.values()].filter((each) => signerKey(each.signer) === signerKey(signer));
        const sum = (name: keyof Spending): bigint => own.reduce((total, each) => total + each[name], 0n);
        return [signerKey(signer), { value: sum('value'), fees: sum('fees'), nextInMs: this.nextInMs }];
      }),
    );
  }

  async seen(signers: readonly SignerId[]): ReturnType<SpendLedger['seen']> {
    return this.spent(
      fakeOf(Fence, {}),
      signers.map((signer) => ({ signer, maxFeePerGas: 0n, maxFeePerBlobGas: 0n })),
    );
  }

  async reserveInFlight(_fence: Fence, signers: readonly unknown[]): Promise<void> {
    if (signers.length > 0) this.calls += 1;
  }

  async reserved(_fence: Fence | null, slots: readonly SlotRef[]): ReturnType<SpendLedger['reserved']> {
    if (slots.length > 0) this.calls += 1;
    return new Map(
      slots.flatMap((slot) => {
        const own = this.reserves.get(slotKey(slot));
        return own ? [[slotKey(slot), own] as const] : [];
      }),
    );
  }

  async reserve(_fence: Fence, reserves: readonly (SlotRef & Spending)[]): Promise<void> {
    if (reserves.length > 0) this.calls += 1;
    for (const one of reserves) this.reserves.set(slotKey(one), one);
  }
}
