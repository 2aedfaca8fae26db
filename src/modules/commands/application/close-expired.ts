import { Injectable } from '@nestjs/common';
import { chanceOf, jittered } from '../../../kernel/backoff.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { Turns } from '../../../platform/scheduling/turns.js';
import { type Lease, LeaseManager, leasesFor } from '../../signers/index.js';
import { BegunWork, CommandedTxs, type ManagedTx, ManagedTxRepository, WriteChanges } from '../../ledger/index.js';
import { commandVerdict } from '../domain/command-verdict.js';
import { CloseUnwanted } from './close-unwanted.js';

const MAX_TXS_AT_ONCE = 500;
/** Before another try to close what could not be closed. */
const PAUSE_MS = 10_000;

/**
 * Ends txs whose `expiresAt` has passed: those that wait without a nonce, also of paused signers and behind parked txs, and closes the slots of
 * those in flight.
 */
@Injectable()
export class CloseExpired {
  private readonly expiryTurns = new Turns<ManagedTx>(MAX_TXS_AT_ONCE, ({ signer }) => signer.address);

  constructor(
    private readonly leases: LeaseManager,
    private readonly store: CommandedTxs,
    private readonly work: BegunWork,
    private readonly repository: ManagedTxRepository,
    private readonly unwanted: CloseUnwanted,
    private readonly write: WriteChanges,
  ) {}

  async execute(chainId: ChainId): Promise<void> {
    const signers = this.leases.heldOn(chainId).map(({ signer }) => signer.address);
    const expired = await this.expiryTurns.take(chainId, signers, (some, perSigner) =>
      this.store.expired(chainId, some, perSigner),
    );
    const left = new Map(expired.map((tx) => [tx.id, tx]));
    try {
      await this.work.run(chainId, expired, async (leases, share) => {
        // Read again: the signer's worker may have changed them since, or a client moved their end. Then the next look decides.
        const read = await this.repository.byIds(share.map(({ id }) => id));
        const txs = read.filter((tx) => tx.progress.version === left.get(tx.id)?.progress.version);
        const undecided = await this.drop(
          leases,
          txs.filter((tx) => tx.state === 'PENDING'),
        );
        const goOn = await this.unwanted.close(
          leases,
          'expire',
          txs
            .filter((tx) => commandVerdict('cancel', tx).kind === 'by_owner')
            .map((tx) => ({ tx, reason: 'expired before it was mined', end: (copy) => copy.expired() })),
        );
        for (const { id } of share) if (!undecided.has(id) && !goOn.includes(id)) left.delete(id);
      });
    } finally {
      await this.store.postponeClosing([...left.keys()].map((id) => ({ id, inMs: jittered(PAUSE_MS, chanceOf(id)) })));
    }
  }

  /** @returns the ids of those to look at later: a client or a lane is changing them */
  private async drop(leases: readonly Lease[], waiting: readonly ManagedTx[]): Promise<ReadonlySet<string>> {
    const undecided = new Set(waiting.map(({ id }) => id));
    if (waiting.length === 0) return undecided;
    const signers = waiting.map(({ signer }) => signer);
    await this.write.ofPending(leasesFor(leases, signers), 'expire', waiting, (locked) => {
      const txs = waiting.filter(({ id }) => locked.has(id));
      for (const tx of txs) tx.expired();
      return { txs };
    });
    for (const { id, state } of waiting) if (state !== 'PENDING') undecided.delete(id);
    return undecided;
  }
}
