import { Injectable } from '@nestjs/common';
import type { Hash } from '../../../kernel/hex.js';
import { type ChainId, signersOf } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import { Metrics } from '../../../platform/metrics/metrics.js';
import type { BlockRef, Receipt } from '../../chain/index.js';
import { LeasedWork, ManagedTx, ManagedTxRepository, WriteChanges } from '../../ledger/index.js';
import { leasesFor } from '../../signers/index.js';
import type { MinedVerdict } from '../domain/mined-verdict.js';
import { competeAgain, endRace, type Race, racesOf } from '../domain/race.js';
import { LateReserves } from './late-reserves.js';

/** The evidence that settles MINED txs. */
export interface Settlement {
  /** The newest followed block, for the confirmation events; null when no tx became final. */
  readonly head: BlockRef | null;
  /** The receipts that were read now, by transaction hash. */
  readonly fresh: ReadonlyMap<Hash, Receipt>;
  readonly verdictOf: (receipt: Receipt) => MinedVerdict;
}

/** Writes the verdicts on MINED txs: a final tx ends, a tx whose block was orphaned goes back to the mempool. */
@Injectable()
export class SettleTxs {
  constructor(
    private readonly work: LeasedWork,
    private readonly repository: ManagedTxRepository,
    private readonly write: WriteChanges,
    private readonly reserves: LateReserves,
    private readonly metrics: Metrics,
    private readonly log: Log,
  ) {}

  /** @returns how many txs left the state MINED */
  async execute(chainId: ChainId, mined: readonly ManagedTx[], settlement: Settlement): Promise<number> {
    let decided = 0;
    await this.work.run(chainId, mined, async (leases, share) => {
      // Read again: the signer's worker may have changed them since.
      const txs = (await this.repository.byIds(share.map((tx) => tx.id))).filter((tx) => tx.state === 'MINED');
      const verdicts = new Map(
        txs.flatMap(({ id, progress: { receipt } }): [string, MinedVerdict][] =>
          receipt ? [[id, settlement.verdictOf(receipt)]] : [],
        ),
      );
      const withVerdict = (verdict: MinedVerdict): ManagedTx[] => txs.filter(({ id }) => verdicts.get(id) === verdict);
      const [final, gone, changed] = [withVerdict('final'), withVerdict('gone'), withVerdict('changed')];
      // The mined attempt consumes the slot, and it need not be the newest. The slot of a payload that gets another nonce is nobody's from now
      // on, like one that a foreign transaction used: a reorg that is deeper than finality then frees it for a fill.
      const consumed = final.map(({ id, signer, nonce, progress }) => ({
        signer,
        nonce,
        holder: id,
        txHash: (progress.closing?.as === 'PENDING' && progress.closing.won ? null : progress.receipt?.txHash) ?? null,
      }));
      const races = await this.races([...final, ...gone]);
      for (const tx of final) tx.settled('execution reverted', settlement.head);
      for (const tx of gone) tx.reorged();
      for (const tx of changed) this.correct(tx, settlement.fresh);
      const rivals = decideRaces(races);
      const changes = {
        txs: [...new Set([...final, ...gone, ...changed, ...rivals])],
        attempts: { reopened: gone.filter(isOpen) },
        slots: { consumed },
      };
      if (changes.txs.length > 0)
        await this.write.underFence(leasesFor(leases, signersOf(changes.txs)), 'settle', async (fence) => {
          await this.reserves.make(fence, signersOf(final));
          return changes;
        });
      this.metrics.count('confirmations_newFork_total', gone.length);
      decided += final.length + gone.length;
    });
    return decided;
  }

  private async races(decided: readonly ManagedTx[]): Promise<Race[]> {
    const raced = decided.filter((tx) => tx.mayHaveRivals);
    return racesOf(raced, [...(await this.repository.rivals(raced)), ...raced]);
  }

  /** Two answers about a receipt differ. It is read once more at the next block, which shows the right one. */
  private correct(tx: ManagedTx, fresh: Settlement['fresh']): void {
    const receipt = tx.progress.receipt && fresh.get(tx.progress.receipt.txHash);
    if (!receipt) return;
    this.log.error('receipt changed between two reads', { txId: tx.id, status: receipt.status });
    tx.receiptChanged(receipt);
  }
}

/** Final ones first: after a reorg, another tx of the same slot may be MINED in an orphaned block, and ends with its race. */
function decideRaces(races: readonly Race[]): ManagedTx[] {
  const ended = races.filter(({ winner }) => !isOpen(winner)).flatMap(endRace);
  return [...ended, ...races.filter(({ winner }) => isOpen(winner)).flatMap(competeAgain)];
}

function isOpen({ state }: ManagedTx): boolean {
  return state === 'IN_MEMPOOL';
}
