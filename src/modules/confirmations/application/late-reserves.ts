import { Injectable } from '@nestjs/common';
import type { SignerId } from '../../../kernel/signer-id.js';
import { DatabaseWatch } from '../../../platform/database/database-watch.js';
import { LaneMemory, SignerFeeCaps } from '../../ledger/index.js';
import { SignerPolicies, SpendLedger } from '../../policies/index.js';
import type { Fence } from '../../signers/index.js';

/**
 * Reserves what becomes final without a reserve: it was found on the chain, opened by a deep reorg, or sent before there was a policy. Only what had a
 * reserve is written down as spent. For signers without daily amounts, and where all in flight is known to have a reserve, it costs no statement.
 */
@Injectable()
export class LateReserves {
  constructor(
    private readonly policies: SignerPolicies,
    private readonly spending: SpendLedger,
    private readonly caps: SignerFeeCaps,
    private readonly memory: LaneMemory,
    private readonly watch: DatabaseWatch,
  ) {}

  /** Call before the commit changes the txs. @param signers of those that become final */
  make(fence: Fence, signers: readonly SignerId[]): Promise<void> {
    const { mark } = this.policies.present;
    // Under the fence, so the connection of this commit counts: a server that lost commits may not have what is remembered.
    const remembers = !this.watch.hasReconnected;
    const limited = this.policies.present
      .withDailyLimit(signers)
      .filter((signer) => !remembers || !this.memory.hasReserves(signer, fence.tokenFor(signer), mark));
    return this.spending.reserveInFlight(
      fence,
      limited.map((signer) => ({ signer, ...this.caps.of(signer) })),
    );
  }
}
