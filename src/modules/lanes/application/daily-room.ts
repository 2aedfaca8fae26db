import { Injectable } from '@nestjs/common';
import { signerKey, signersOf } from '../../../kernel/signer-id.js';
import type { PendingTx } from '../../ledger/index.js';
import { SignerPolicies, SpendLedger, verdict } from '../../policies/index.js';

/** What waits for the authorizations of others, and the least wei that it can cost. */
export interface Awaiting extends Pick<PendingTx, 'tx' | 'request'> {
  readonly cost: bigint;
}

/**
 * Whether the daily amounts have room for what shall wait for others: they hold back their own payloads for it, again each time that it is held where it
 * gets its nonce. {@link NonceGate} decides. Costs no statement for signers without daily amounts.
 */
@Injectable()
export class DailyRoom {
  constructor(
    private readonly policies: SignerPolicies,
    private readonly spending: SpendLedger,
  ) {}

  /** @returns why there is no room, by id; without those that have it */
  async lacking(items: readonly Awaiting[]): Promise<ReadonlyMap<string, string>> {
    const seen = await this.spending.seen(this.policies.present.withDailyLimit(signersOf(items.map(({ tx }) => tx))));
    return new Map(
      items.flatMap(({ tx, request, cost }): [string, string][] => {
        const spent = seen.get(signerKey(tx.signer));
        if (!spent) return [];
        const { value } = request.payload;
        const needs = { value, fees: cost - value };
        return this.policies.present
          .judge(tx.signer, (policy) => verdict(policy, request, { spent, needs }))
          .flatMap((judged): [string, string][] =>
            !judged.dryRun && judged.verdict.kind === 'held' ? [[tx.id, judged.verdict.reason]] : [],
          );
      }),
    );
  }
}
