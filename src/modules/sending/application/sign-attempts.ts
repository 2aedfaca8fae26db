import { Injectable } from '@nestjs/common';
import { CrashPoints } from '../../../kernel/crash-points.js';
import { InvariantViolation } from '../../../kernel/errors.js';
import { signerKey } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import type { FeeQuote } from '../../chain/index.js';
import { CustodyFailed, type Lease } from '../../signers/index.js';
import { type Attempt, LaneMemory, ManagedTx, type RequestedTx, WriteChanges } from '../../ledger/index.js';
import { type AttemptDraft, AttemptSigner, NotEncodable } from './attempt-signer.js';
import { bisectOnFailure } from '../../../platform/scheduling/bisect-on-failure.js';
import { FirstDrafts } from './first-drafts.js';
import type { Sending } from './send.js';

type Signing =
  | { readonly item: RequestedTx; readonly attempt: Attempt }
  | { readonly item: RequestedTx; readonly error: string };

/** Signs outside any transaction and commits the bytes. Only attempts that this class returns may be sent (docs/invariants.md, I5). */
@Injectable()
export class SignAttempts {
  constructor(
    private readonly signer: AttemptSigner,
    private readonly drafts: FirstDrafts,
    private readonly write: WriteChanges,
    private readonly memory: LaneMemory,
    private readonly crashPoints: CrashPoints,
    private readonly log: Log,
  ) {}

  /**
   * @param allocated txs that hold a slot and have no attempt yet
   * @param reserved the most wei of fees, by `slotKey`, of payloads that were not given their nonces just now: the caps may be others since then
   */
  async execute(
    quote: FeeQuote,
    leases: readonly Lease[],
    allocated: readonly RequestedTx[],
    reserved: ReadonlyMap<string, bigint> = new Map(),
  ): Promise<Sending[]> {
    if (allocated.length === 0) return [];
    if (allocated.some(({ tx }) => tx.isHold))
      throw new InvariantViolation('a nonce of an outside sender is not signed for');
    const draft = await this.drafts.of(quote, allocated, reserved);
    const signings = await this.sign(allocated, draft).catch(async (error: unknown) => {
      if (error instanceof CustodyFailed) await this.noteUnsigned(leases, allocated);
      throw error;
    });
    this.crashPoints.reached('after_sign');
    return bisectOnFailure(
      signings,
      (part) => this.persist(leases, part),
      (signing, error) => this.leaveUnsigned(signing, error),
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
      // A tx that cannot be encoded must not stop the others.
      if (items.length > 1) return (await Promise.all(items.map((item) => this.sign([item], draft)))).flat();
      return only ? [{ item: only, error: error.message }] : [];
    }
  }

  /** What is signed for several signers is tried again for each alone: only then it is known whose custody failed. */
  private async noteUnsigned(leases: readonly Lease[], items: readonly RequestedTx[]): Promise<void> {
    if (new Set(items.map(({ tx }) => signerKey(tx.signer))).size > 1) return;
    const txs = items.filter(({ tx }) => !tx.isUnsigned).map(({ tx }) => ManagedTx.rehydrate(tx.progress));
    for (const tx of txs) tx.unsigned();
    if (txs.length > 0) await this.write.execute(leases, 'sign', { txs });
  }

  /**
   * The tx keeps its slot, and every lane step signs it again: releasing the nonce would hide a fault in Lockstep behind a lost payload.
   */
  private async leaveUnsigned({ item }: Signing, error: unknown): Promise<void> {
    this.memory.forget([item.tx.signer]);
    this.log.error('failed to store an attempt', { txId: item.tx.id, error });
  }

  /** The rows of signed txs do not change, which saves a fifth of all row updates: the attempt records what was signed. */
  private async persist(leases: readonly Lease[], signings: readonly Signing[]): Promise<Sending[]> {
    const copies = signings.map((signing) => ({ ...signing, tx: ManagedTx.rehydrate(signing.item.tx.progress) }));
    for (const copy of copies) {
      if ('attempt' in copy) copy.tx.signed(copy.attempt.txHash, copy.attempt.fees);
      else copy.tx.failed(`cannot be signed: ${copy.error}`);
    }
    const signed = copies.flatMap((copy) => ('attempt' in copy ? [{ tx: copy.tx, attempt: copy.attempt }] : []));
    const failed = copies.flatMap((copy) => ('error' in copy ? [copy.tx] : []));
    await this.write.execute(leases, 'sign', {
      attempts: { inserted: signed.map(({ attempt }) => attempt) },
      // These txs were never signed, so no bytes are out and their slots are free.
      slots: { released: failed },
      txs: failed,
      noted: signed.map(({ tx }) => tx),
    });
    this.crashPoints.reached('after_persist');
    for (const tx of failed)
      this.log.error('failed to sign a transaction', { txId: tx.id, error: tx.progress.failureReason });
    return signed;
  }
}
