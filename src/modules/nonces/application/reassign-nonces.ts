import { Injectable } from '@nestjs/common';
import { groupBy } from '../../../kernel/group-by.js';
import { type ChainId, signerKey } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import type { BlockRef } from '../../chain/index.js';
import { AdoptSent, Findings } from '../../lost-commits/index.js';
import { type Lease, leasesFor, slotKey } from '../../signers/index.js';
import {
  type Attempt,
  AttemptRepository,
  createdMs,
  LaneMemory,
  LeasedWork,
  ManagedTx,
  ManagedTxRepository,
  WriteChanges,
} from '../../ledger/index.js';
import { ForeignNonces, type ForeignUse, type SlotInDoubt } from './foreign-nonces.js';
import type { SentSince } from './search-listings.js';

/** A tx whose nonce a node reports as used, and all its attempts. */
export interface TxInDoubt {
  readonly tx: ManagedTx;
  readonly attempts: readonly Attempt[];
}

export type ForeignSlot = ForeignUse<SlotInDoubt & Pick<TxInDoubt, 'tx'> & Pick<ManagedTx, 'signer'>>;

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
    private readonly adopt: AdoptSent,
    private readonly memory: LaneMemory,
    private readonly log: Log,
  ) {}

  async execute(chainId: ChainId, doubts: readonly TxInDoubt[]): Promise<void> {
    const used = await this.foreign.usedForGood(
      chainId,
      doubts.map(({ tx, attempts }) => ({
        tx,
        signer: tx.signer,
        slot: { signer: tx.signer, nonce: tx.nonce },
        hashes: attempts.map(({ txHash }) => txHash),
        since: sentSince(attempts),
      })),
    );
    await this.work.run(chainId, used, (leases, share) => this.reassign(leases, share));
  }

  /** The block that has an attempt of this tx, although no receipt was found; null when none is known. */
  ownBlock({ signer, nonce }: ManagedTx): BlockRef | null {
    return this.foreign.ownBlock({ signer, nonce });
  }

  /** Why it is not found out whether blocks list an attempt of this tx; null when nothing is wrong. */
  searchStop({ signer, nonce }: ManagedTx): string | null {
    return this.foreign.searchStop({ signer, nonce });
  }

  private async reassign(leases: readonly Lease[], used: readonly ForeignSlot[]): Promise<void> {
    const foreign = await this.foreignAmong(leases, used);
    const txs = foreign.length === 0 ? [] : await this.stillInDoubt(foreign);
    const users = new Map(foreign.map(({ tx, usedBy }) => [tx.id, usedBy?.txHash ?? null]));
    const lost = txs.map(({ signer, nonce }) => ({ signer, nonce, txHash: null }));
    const raced = txs.filter((tx) => tx.mayHaveRivals);
    const replaced = (await this.repository.rivals(raced)).filter(({ state }) => state === 'IN_MEMPOOL');
    for (const tx of replaced) tx.foreignTxUsedNonce(null);
    for (const tx of txs) tx.foreignTxUsedNonce(users.get(tx.id) ?? null);
    await this.write.execute(leases, 'nonce_sync', {
      txs: [...txs, ...replaced],
      attempts: { decided: lost },
      slots: { consumed: lost },
    });
  }

  /**
   * Compares what used a nonce with our own txs before it counts as foreign (rule F7 of docs/invariants.md): the database may have lost the
   * commit of a bump, a cancel or a replace. What is ours becomes an attempt, whose receipt is looked for next.
   * @returns the uses that are foreign. Those of lanes that have not begun are left out: what they sent is not all known yet.
   */
  protected async foreignAmong(leases: readonly Lease[], uses: readonly ForeignSlot[]): Promise<ForeignSlot[]> {
    const foreign: ForeignSlot[] = [];
    for (const use of uses) {
      const [lease] = leasesFor(leases, [use.slot.signer]);
      if (lease && !this.memory.needsRecovery(lease) && (await this.isForeign(lease, use))) foreign.push(use);
    }
    return foreign;
  }

  private async isForeign(lease: Lease, { slot: { signer, nonce }, usedBy }: ForeignSlot): Promise<boolean> {
    const next = nonce + 1n;
    const outlook = { signer, cursor: next, open: [], inFlightFrom: nonce, known: true, suspect: false, epoch: 0 };
    const sent = usedBy?.sent ? [usedBy.sent] : [];
    const adopted = await this.adopt.execute(lease, new Findings(outlook, next, sent, 0n, true, false));
    // Null: a waiting tx was changed meanwhile, and the next look compares again.
    if (adopted === null || adopted.length > 0) return false;
    this.log.warn('nonce used by a foreign transaction', {
      signer: signerKey(signer),
      nonce,
      usedBy: usedBy?.txHash ?? null,
    });
    return true;
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
        tx.attemptsAmong(bySlot.get(slotKey(tx)) ?? []).length === known.get(tx.id),
    );
  }
}

function sentSince(attempts: readonly Attempt[]): SentSince {
  const blocks = attempts.flatMap(({ pricedAtBlock }) => pricedAtBlock ?? []);
  return {
    block: blocks.length < attempts.length ? null : Math.min(...blocks),
    time: Math.min(...attempts.map(({ txId }) => createdMs(txId))),
  };
}
