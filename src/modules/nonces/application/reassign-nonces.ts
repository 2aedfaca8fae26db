import { Injectable } from '@nestjs/common';
import { groupBy } from '../../../kernel/group-by.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import { type Lease, slotKey } from '../../signers/index.js';
import {
  type Attempt,
  AttemptRepository,
  attemptsFor,
  LeasedWork,
  ManagedTx,
  ManagedTxRepository,
  WriteChanges,
} from '../../transactions/index.js';
import { ForeignNonces, type ForeignUse, type SlotInDoubt } from './foreign-nonces.js';

/** A tx whose nonce a node reports as used, and all its attempts. */
export interface TxInDoubt {
  readonly tx: ManagedTx;
  readonly attempts: readonly Attempt[];
}

type ForeignSlot = ForeignUse<SlotInDoubt & Pick<TxInDoubt, 'tx'> & Pick<ManagedTx, 'signer'>>;

/**
 * Handles foreign nonces: when a foreign transaction used the nonce of a tx for good, a payload goes back to PENDING and waits for another
 * nonce, and a fill is DROPPED because its gap is closed.
 */
@Injectable()
export class ReassignNonces {
  constructor(
    private readonly foreign: ForeignNonces,
    private readonly work: LeasedWork,
    private readonly repository: ManagedTxRepository,
    private readonly attempts: AttemptRepository,
    private readonly write: WriteChanges,
    private readonly log: Log,
  ) {}

  async execute(chainId: ChainId, doubts: readonly TxInDoubt[]): Promise<void> {
    const used = await this.foreign.execute(
      chainId,
      doubts.map(({ tx, attempts }) => ({
        tx,
        signer: tx.signer,
        slot: { signer: tx.signer, nonce: tx.nonce },
        hashes: attempts.map(({ txHash }) => txHash),
      })),
    );
    await this.work.run(chainId, used, (leases, share) => this.reassign(leases, share));
  }

  private async reassign(leases: readonly Lease[], used: readonly ForeignSlot[]): Promise<void> {
    const txs = await this.stillInDoubt(used);
    const users = new Map(used.map(({ tx, usedBy }) => [tx.id, usedBy]));
    const lost = txs.map(({ signer, nonce }) => ({ signer, nonce, txHash: null }));
    const raced = txs.filter((tx) => tx.mayHaveRivals);
    const replaced = (await this.repository.rivals(raced)).filter(({ state }) => state === 'IN_MEMPOOL');
    for (const tx of replaced) tx.foreignTxUsedNonce(null);
    for (const tx of txs) {
      const usedBy = users.get(tx.id) ?? null;
      this.log.warn('nonce used by a foreign transaction', { txId: tx.id, nonce: tx.nonce, usedBy });
      tx.foreignTxUsedNonce(usedBy);
    }
    await this.write.execute(leases, 'nonce_sync', {
      txs: [...txs, ...replaced],
      attempts: { decided: lost },
      slots: { consumed: lost },
    });
  }

  /** Reads the txs again: the proof does not hold when an attempt was added, or when state or nonce changed. */
  private async stillInDoubt(used: readonly ForeignSlot[]): Promise<ManagedTx[]> {
    const slots = new Map(used.map(({ tx, slot }) => [tx.id, slot]));
    const known = new Map(used.map(({ tx, hashes }) => [tx.id, hashes.length]));
    const bySlot = groupBy(await this.attempts.ofSlots([...slots.values()]), slotKey);
    return (await this.repository.byIds([...slots.keys()])).filter(
      (tx) =>
        tx.isInDoubt &&
        tx.nonce === slots.get(tx.id)?.nonce &&
        attemptsFor(tx, bySlot.get(slotKey(tx)) ?? []).length === known.get(tx.id),
    );
  }
}
