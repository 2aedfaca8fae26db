import { Injectable } from '@nestjs/common';
import { CrashPoints } from '../../../kernel/crash-points.js';
import { Log } from '../../../platform/logging/log.js';
import type { ChainConnector, FeeQuote } from '../../chain/index.js';
import { FencedUnitOfWork, type Lease, leasesFor, NonceLedger } from '../../signers/index.js';
import {
  type Attempt,
  AttemptRepository,
  LaneMemory,
  ManagedTx,
  ManagedTxRepository,
  type RequestedTx,
  TxMetrics,
} from '../../transactions/index.js';
import { type AttemptDraft, AttemptSigner, NotEncodable } from './attempt-signer.js';
import { FeeRules } from './fee-rules.js';
import { bisectOnFailure } from '../../../platform/scheduling/bisect-on-failure.js';
import { gasLimitOf, payloadDraft } from './payload-draft.js';

export interface SignedTx {
  readonly tx: ManagedTx;
  readonly attempt: Attempt;
}

type Signing =
  { readonly item: RequestedTx; readonly attempt: Attempt } | { readonly item: RequestedTx; readonly error: string };

/** Signs outside any transaction and commits the bytes; nothing may be sent that is not returned from here (I5). */
@Injectable()
export class SignAttempts {
  constructor(
    private readonly signer: AttemptSigner,
    private readonly unitOfWork: FencedUnitOfWork,
    private readonly attempts: AttemptRepository,
    private readonly repository: ManagedTxRepository,
    private readonly ledger: NonceLedger,
    private readonly memory: LaneMemory,
    private readonly fees: FeeRules,
    private readonly metrics: TxMetrics,
    private readonly crashPoints: CrashPoints,
    private readonly log: Log,
  ) {}

  /** @param allocated txs that hold a slot and have no attempt yet */
  async execute(
    chain: ChainConnector,
    quote: FeeQuote,
    leases: readonly Lease[],
    allocated: readonly RequestedTx[],
  ): Promise<SignedTx[]> {
    if (allocated.length === 0) return [];
    const signings = await this.sign(allocated, (item) =>
      payloadDraft(item, this.fees.clamped(chain.chainId, item.request, gasLimitOf(item), quote)),
    );
    this.crashPoints.reached('after_sign');
    return bisectOnFailure(
      signings,
      (piece) => this.persist(leases, piece),
      (poison, error) => this.leaveUnsigned(poison, error),
    );
  }

  private async sign(items: readonly RequestedTx[], draft: (item: RequestedTx) => AttemptDraft): Promise<Signing[]> {
    try {
      const attempts = await this.signer.sign(items.map(draft));
      return items.flatMap((item, index) => {
        const attempt = attempts[index];
        return attempt ? [{ item, attempt }] : [];
      });
    } catch (error) {
      if (!(error instanceof NotEncodable)) throw error;
      const [only] = items;
      // One that cannot be encoded must not stop its neighbours.
      if (items.length > 1) return (await Promise.all(items.map((item) => this.sign([item], draft)))).flat();
      return only ? [{ item: only, error: error.message }] : [];
    }
  }

  /** It keeps its slot, and every step tries again: freeing the nonce would hide a bug behind a lost payload. */
  private async leaveUnsigned({ item }: Signing, error: unknown): Promise<void> {
    this.memory.forget([item.tx.signer]);
    this.log.error('attempt cannot be stored', { txId: item.tx.id, error });
  }

  private async persist(leases: readonly Lease[], signings: readonly Signing[]): Promise<SignedTx[]> {
    const covered = leasesFor(
      leases,
      signings.map(({ item }) => item.tx.signer),
    );
    const signed = await this.unitOfWork.run(covered, 'sign', async (fence) => {
      const copies = signings.map((signing) => ({ ...signing, tx: ManagedTx.rehydrate(signing.item.tx.progress) }));
      for (const copy of copies) {
        if ('attempt' in copy) copy.tx.signed(copy.attempt.txHash, copy.attempt.fees);
        else copy.tx.failed(`cannot be signed: ${copy.error}`);
      }
      await this.attempts.insert(
        fence,
        copies.flatMap((copy) => ('attempt' in copy ? [copy.attempt] : [])),
      );
      // Never signed, so nothing can be out: the slot is free again.
      await this.ledger.release(
        fence,
        copies.flatMap((copy) => ('error' in copy ? [{ signer: copy.tx.signer, nonce: copy.tx.nonce }] : [])),
      );
      await this.repository.save(
        fence,
        copies.flatMap((copy) => ('error' in copy ? [copy.tx] : [])),
      );
      // Their rows stay as they are, which saves a fifth of all row updates: the attempt says what was signed.
      await this.repository.note(
        fence,
        copies.flatMap((copy) => ('attempt' in copy ? [copy.tx] : [])),
      );
      return copies;
    });
    this.crashPoints.reached('after_persist');
    const failed = signed.flatMap((copy) => ('error' in copy ? [copy.tx] : []));
    this.metrics.entered(failed);
    for (const tx of failed) this.memory.gapOpened(tx.signer);
    for (const tx of failed)
      this.log.error('transaction cannot be signed', { txId: tx.id, error: tx.progress.failureReason });
    return signed.flatMap((copy) => ('attempt' in copy ? [{ tx: copy.tx, attempt: copy.attempt }] : []));
  }
}
