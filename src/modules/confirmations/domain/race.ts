import type { Receipt } from '../../chain/index.js';
import type { ManagedTx } from '../../ledger/index.js';

/*
 * Several txs compete for one slot: an original, its replacement, perhaps a replacement of that one, and so on. The chain decides which of
 * them is mined. The newest one holds the slot and is sent again; all are watched.
 */

/** A tx that is mined, and the others of its slot. */
export interface Race {
  readonly winner: ManagedTx;
  /** Of the winner, as it was when the race was found. */
  readonly receipt: Receipt | null;
  readonly rivals: readonly ManagedTx[];
}

/** @param others rivals of any of the winners; the winners may be among them */
export function racesOf(winners: readonly ManagedTx[], others: readonly ManagedTx[]): Race[] {
  return winners.map((winner) => ({
    winner,
    receipt: winner.progress.receipt,
    rivals: others.filter(
      ({ id, signer, progress: { nonce } }) =>
        id !== winner.id &&
        nonce === winner.progress.nonce &&
        signer.address === winner.signer.address &&
        signer.chainId === winner.signer.chainId,
    ),
  }));
}

/** A tx of the slot was mined: the others rest. */
export function restWhileMined({ rivals }: Race): ManagedTx[] {
  return changed(rivals.filter(isLive), (rival) => rival.rivalMined());
}

/** A reorg orphaned the block of the mined tx: the others compete again, and one that was withdrawn rests again. */
export function competeAgain({ winner, rivals }: Race): ManagedTx[] {
  if (rivals.some(({ progress }) => progress.withdrawnReplacement === winner.id))
    winner.withdrawn('every endpoint had refused it, and a reorg orphaned its block');
  return changed(rivals.filter(isLive), (rival) => rival.rivalOrphaned());
}

/** The mined tx is final. What it replaced ends REPLACED; what was to replace it ends DROPPED. */
export function endRace({ winner, receipt, rivals }: Race): ManagedTx[] {
  if (!receipt) return [];
  const older = olderThan(winner, rivals);
  return changed(rivals.filter(isLive), (rival) =>
    rival.lostRace(older.has(rival.id) ? 'REPLACED' : 'DROPPED', winner.id, receipt),
  );
}

/**
 * A reorg that is deeper than finality orphaned the block that had decided the race. The winner is reopened already.
 * @returns the rivals that compete again
 */
export function reopenRace({ winner, rivals }: Race, orphaned: string): ManagedTx[] {
  const losers = rivals.filter(({ progress: { receipt } }) => receipt?.txHash === orphaned);
  // The block of another tx made only those FAILED that had been withdrawn: they rest again, and what they replace is sent.
  const refusals = new Map(
    losers.flatMap(({ id, state, progress }) => (state === 'FAILED' ? [[id, progress.failureReason ?? '']] : [])),
  );
  const reopened = changed(losers, (loser) => loser.reorged());
  for (const loser of losers) {
    const original = [winner, ...losers].find(({ id }) => id === loser.progress.replaces);
    const refusal = refusals.get(loser.id);
    if (refusal === undefined) {
      if (original === winner) winner.racesAgain(loser.id);
      continue;
    }
    loser.withdrawn(refusal);
    original?.raceWithdrawn(loser.id);
  }
  return reopened;
}

/** The one that holds the slot, and is sent again: nothing replaces it, and it was not withdrawn. */
export function newestOf(txs: readonly ManagedTx[]): ManagedTx | undefined {
  return txs.find(({ progress, isWithdrawn }) => progress.replacedBy === null && !isWithdrawn);
}

/** Looks from replacement to original: a tx has one original, but more than one replacement when the first ones failed. */
function olderThan(winner: ManagedTx, rivals: readonly ManagedTx[]): ReadonlySet<string> {
  const older = new Set<string>();
  let { replaces } = winner.progress;
  while (replaces !== null && !older.has(replaces)) {
    older.add(replaces);
    const original = replaces;
    replaces = rivals.find(({ id }) => id === original)?.progress.replaces ?? null;
  }
  return older;
}

function isLive({ state }: ManagedTx): boolean {
  return state === 'ALLOCATED' || state === 'IN_MEMPOOL';
}

function changed(txs: readonly ManagedTx[], change: (tx: ManagedTx) => void): ManagedTx[] {
  for (const tx of txs) change(tx);
  return [...txs];
}
