import { Injectable } from '@nestjs/common';
import { inSlices } from '../../../kernel/in-slices.js';
import type { Hash } from '../../../kernel/hex.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { ReassignNonces } from '../../nonces/index.js';
import type { Attempt, ManagedTx } from '../../transactions/index.js';
import { DueReceipts, type DueTx, MAX_TXS_PER_CALL } from './due-receipts.js';
import { LookUpReceipts } from './look-up-receipts.js';
import { PostponeReceiptChecks } from './postpone-receipt-checks.js';
import { ReceiptMetrics } from './receipt-metrics.js';
import { type MinedAttempt, RecordMined } from './record-mined.js';

/** Requests receipts by hash of txs that were not found in a block for too long, of all their attempts: blocks can be missed. */
@Injectable()
export class CheckReceipts {
  constructor(
    private readonly due: DueReceipts,
    private readonly lookUp: LookUpReceipts,
    private readonly recordMined: RecordMined,
    private readonly postpone: PostponeReceiptChecks,
    private readonly reassign: ReassignNonces,
    private readonly metrics: ReceiptMetrics,
  ) {}

  async execute(chainId: ChainId): Promise<void> {
    const due = await this.due.execute(chainId);
    await Promise.all(inSlices(due, MAX_TXS_PER_CALL).map((part) => this.check(chainId, part)));
  }

  private async check(chainId: ChainId, due: readonly DueTx[]): Promise<void> {
    // Txs that compete for one slot have the same attempts.
    const attempts = [...new Map(due.flatMap((item) => item.attempts).map((one) => [one.txHash, one])).values()];
    const lookups = await this.lookUp.execute(chainId, attempts);
    const found = attempts.flatMap((attempt): MinedAttempt[] => {
      const lookup = lookups.get(attempt.txHash);
      return lookup?.kind === 'found' ? [{ signer: attempt.signer, attempt, receipt: lookup.receipt }] : [];
    });
    await this.recordMined.execute(chainId, found);
    const mined = new Map(found.map(({ attempt }) => [attempt.txHash, attempt.txId]));
    const missing = due
      .filter((item) => !item.attempts.some(({ txHash }) => mined.has(txHash)))
      .map((item) => ({
        ...item,
        answered: item.attempts.every(({ txHash }) => lookups.get(txHash)?.kind === 'none'),
      }));
    this.metrics.checked('found', found.length);
    this.metrics.checked('none', missing.filter(({ answered }) => answered).length);
    this.metrics.checked('error', missing.filter(({ answered }) => !answered).length);
    // A tx that rests while a rival is mined stays as it is, and would be due again at once.
    const resting = due.filter(({ tx, attempts: own }) => tx.isResting && hasMinedRival(tx, own, mined));
    await this.postpone.execute(chainId, [...missing, ...resting.map((item) => ({ ...item, answered: true }))]);
    await this.reassign.execute(
      chainId,
      missing.filter(({ tx, answered }) => answered && tx.isInDoubt),
    );
  }
}

function hasMinedRival(tx: ManagedTx, attempts: readonly Attempt[], mined: ReadonlyMap<Hash, string | null>): boolean {
  return attempts.some(({ txHash }) => mined.has(txHash) && mined.get(txHash) !== tx.id);
}
