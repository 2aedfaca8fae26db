import { Injectable } from '@nestjs/common';
import { ConfirmationsConfig } from '../../../config/lockstep-config.js';
import { inSlices } from '../../../kernel/in-slices.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import { Chains, type ReceiptLookup } from '../../chain/index.js';
import { FencedUnitOfWork, LeaseManager } from '../../signers/index.js';
import {
  type Attempt,
  AttemptRepository,
  LeasedWork,
  ManagedTx,
  ManagedTxRepository,
} from '../../transactions/index.js';
import { ReassignNonces } from '../../nonces/index.js';
import { ReceiptMetrics } from './receipt-metrics.js';
import { type MinedAttempt, RecordMined } from './record-mined.js';

const PER_WORKER = 50;
/** After an RPC error, which has not said "no receipt", and while a nonce is in doubt. */
const LOOK_AGAIN_MS = 2_000;

interface Asked {
  readonly tx: ManagedTx;
  readonly attempts: readonly Attempt[];
}

/** The safety net under the block walk: asks by hash for what was not seen mined for too long. Any attempt of the slot counts. */
@Injectable()
export class CheckReceipts {
  constructor(
    private readonly chains: Chains,
    private readonly leases: LeaseManager,
    private readonly work: LeasedWork,
    private readonly unitOfWork: FencedUnitOfWork,
    private readonly repository: ManagedTxRepository,
    private readonly attempts: AttemptRepository,
    private readonly recordMined: RecordMined,
    private readonly moveTaken: ReassignNonces,
    private readonly config: ConfirmationsConfig,
    private readonly metrics: ReceiptMetrics,
    private readonly log: Log,
  ) {}

  async execute(chainId: ChainId): Promise<void> {
    const signers = this.leases.heldOn(chainId).map((lease) => lease.signer);
    if (signers.length === 0) return;
    const due = await this.repository.dueForReceiptCheck(chainId, signers, this.config.receiptWorkers * PER_WORKER);
    const asked = await this.withAttempts(due);
    await Promise.all(inSlices(asked, PER_WORKER).map((part) => this.ask(chainId, part)));
  }

  private async withAttempts(txs: readonly ManagedTx[]): Promise<Asked[]> {
    const attempts = await this.attempts.ofSlots(txs.map((tx) => ({ signer: tx.signer, nonce: tx.nonce })));
    const byTx = new Map<string | null, Attempt[]>();
    for (const attempt of attempts) byTx.set(attempt.txId, [...(byTx.get(attempt.txId) ?? []), attempt]);
    return txs.map((tx) => ({ tx, attempts: byTx.get(tx.id) ?? [] }));
  }

  private async ask(chainId: ChainId, asked: readonly Asked[]): Promise<void> {
    const attempts = asked.flatMap((item) => item.attempts);
    const lookups = await this.lookUp(chainId, attempts);
    const found = attempts.flatMap((attempt): MinedAttempt[] => {
      const lookup = lookups.get(attempt.txHash);
      return lookup?.kind === 'found' ? [{ signer: attempt.signer, attempt, receipt: lookup.receipt }] : [];
    });
    await this.recordMined.execute(chainId, found);
    const mined = new Set(found.map(({ attempt }) => attempt.txId));
    const missing = asked
      .filter(({ tx }) => !mined.has(tx.id))
      .map(({ tx, attempts: own }) => ({
        tx,
        attempts: own,
        signer: tx.signer,
        answered: own.every(({ txHash }) => lookups.get(txHash)?.kind === 'none'),
      }));
    this.metrics.checked('found', found.length);
    this.metrics.checked('none', missing.filter(({ answered }) => answered).length);
    this.metrics.checked('error', missing.filter(({ answered }) => !answered).length);
    await this.postpone(chainId, missing);
    await this.moveTaken.execute(
      chainId,
      missing.filter(({ tx, answered }) => answered && tx.isInDoubt),
    );
  }

  private async lookUp(chainId: ChainId, attempts: readonly Attempt[]): Promise<ReadonlyMap<string, ReceiptLookup>> {
    try {
      const lookups = await this.chains.get(chainId).receipts(attempts.map(({ txHash }) => txHash));
      return new Map(
        attempts.flatMap(({ txHash }, index): [string, ReceiptLookup][] =>
          lookups[index] ? [[txHash, lookups[index]]] : [],
        ),
      );
    } catch (error) {
      this.log.warn('receipts cannot be asked for', { chainId, error });
      return new Map();
    }
  }

  private async postpone(
    chainId: ChainId,
    missing: readonly { readonly tx: ManagedTx; readonly signer: ManagedTx['signer']; readonly answered: boolean }[],
  ): Promise<void> {
    await this.work.run(chainId, missing, async (leases, share) => {
      const answered = new Map(share.map((item) => [item.tx.id, item.answered]));
      const txs = (await this.repository.byIds(share.map(({ tx }) => tx.id))).filter((tx) => tx.state === 'IN_MEMPOOL');
      for (const tx of txs)
        tx.receiptMissing(
          answered.get(tx.id) === true && !tx.isInDoubt ? this.config.staleReceiptTimeout : LOOK_AGAIN_MS,
        );
      await this.unitOfWork.run(leases, 'receipt_missing', (fence) => this.repository.save(fence, txs));
    });
  }
}
