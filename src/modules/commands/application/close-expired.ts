import { Injectable } from '@nestjs/common';
import { type ChainId } from '../../../kernel/signer-id.js';
import { LeaseManager } from '../../signers/index.js';
import { LeasedWork, ManagedTxRepository } from '../../transactions/index.js';
import { CommandStore } from '../domain/command-store.js';
import { commandVerdict } from '../domain/command-verdict.js';
import { CloseUnwanted } from './close-unwanted.js';

const MAX_TXS_AT_ONCE = 500;

/** Closes txs in flight whose `expiresAt` has passed. Lanes drop those that have no nonce yet. */
@Injectable()
export class CloseExpired {
  constructor(
    private readonly leases: LeaseManager,
    private readonly store: CommandStore,
    private readonly work: LeasedWork,
    private readonly repository: ManagedTxRepository,
    private readonly close: CloseUnwanted,
  ) {}

  async execute(chainId: ChainId): Promise<void> {
    const signers = this.leases.heldOn(chainId).map((lease) => lease.signer);
    if (signers.length === 0) return;
    const expired = await this.store.expired(chainId, signers, MAX_TXS_AT_ONCE);
    await this.work.run(chainId, expired, async (leases, share) => {
      // Read again: the signer's worker may have changed them since.
      const txs = (await this.repository.byIds(share.map(({ id }) => id))).filter(
        (tx) => commandVerdict('cancel', tx).kind === 'by_owner',
      );
      await this.close.execute(
        leases,
        'expire',
        txs.map((tx) => ({ tx, reason: 'expired before it was mined', end: (copy) => copy.expired() })),
      );
    });
  }
}
