import { Injectable } from '@nestjs/common';
import { AttemptSigner, NotEncodable, payloadDraft, type Sending } from '../../sending/index.js';
import { type Lease, leasesFor } from '../../signers/index.js';
import {
  type Attempt,
  AttemptRepository,
  ManagedTx,
  ManagedTxRepository,
  mayBeOut,
  type RequestedTx,
  WriteChanges,
} from '../../ledger/index.js';
import { commandVerdict, kindVerdict } from '../domain/command-verdict.js';
import type { Decision, TxCommand } from '../domain/tx-command.js';
import type { ChainAnswers } from './ask-chain.js';
import { type PricedReplacement, PriceReplacement } from './price-replacement.js';
import { type ReplacementAdmission, ReplacementGate } from './replacement-gate.js';

type Priced = Extract<PricedReplacement, { kind: 'priced' }>;

/** How a replace ended, null when it has to be tried again; and the stored bytes that are to be sent. */
export interface CarriedOut {
  readonly decision: Decision | null;
  readonly sending: Sending | null;
}

interface Replace {
  readonly original: RequestedTx;
  readonly replacement: RequestedTx;
  readonly ofSlot: readonly Attempt[];
}

const LATER: CarriedOut = { decision: null, sending: null };

function decided(decision: Decision): CarriedOut {
  return { decision, sending: null };
}

/**
 * Carries out replaces of txs that have a nonce: the replacement takes the slot, is signed at a higher price than everything that may be out
 * for it, and is stored. The caller sends it. The original is only watched from then on; whichever is mined decides.
 */
@Injectable()
export class ReplaceSent {
  constructor(
    private readonly repository: ManagedTxRepository,
    private readonly attempts: AttemptRepository,
    private readonly price: PriceReplacement,
    private readonly signer: AttemptSigner,
    private readonly write: WriteChanges,
    private readonly gate: ReplacementGate,
  ) {}

  /** @param said about the replacement, before the worker of the signer was entered */
  async execute(leases: readonly Lease[], command: TxCommand, said: ChainAnswers): Promise<CarriedOut> {
    const { commandId, txId, replacement: replacementId } = command;
    const found = await this.repository.requested([txId, replacementId ?? txId]);
    const original = found.find(({ tx }) => tx.id === txId);
    const replacement = found.find(({ tx }) => tx.id === replacementId);
    if (!original || !replacement) return decided({ commandId, refusal: 'no such transaction' });
    // Cancelled meanwhile; or a crash lost the note that it was carried out.
    if (replacement.tx.state !== 'PENDING')
      return decided({
        commandId,
        refusal: replacement.tx.progress.nonce === null ? `the replacement is ${replacement.tx.state}` : null,
      });
    const { tx } = original;
    // It took the place of the original before, and a crash lost the note about it.
    if (tx.progress.replacedBy === replacement.tx.id) return decided({ commandId, refusal: null });
    const verdict = commandVerdict('replace', tx);
    if (verdict.kind === 'refused') return this.drop(leases, command, replacement, verdict.detail);
    // Before it takes any place: the original would end for a replacement that is never sent.
    const refusal = await this.gate.refusal(replacement);
    if (refusal !== null) return this.drop(leases, command, replacement, refusal);
    const ofSlot = tx.progress.nonce === null ? [] : await this.attempts.ofSlots([tx]);
    const isUnsent = tx.state === 'PENDING' || (tx.state === 'ALLOCATED' && !ofSlot.some(mayBeOut));
    if (isUnsent) return this.takePlace(leases, command, { original, replacement, ofSlot });
    const hasBlobs = original.request.payload.blobHashes !== undefined;
    const otherKind = kindVerdict(hasBlobs, replacement.request.payload);
    if (otherKind) return this.drop(leases, command, replacement, otherKind.detail);
    return this.race(leases, command, said, { original, replacement, ofSlot });
  }

  private async drop(
    leases: readonly Lease[],
    { commandId }: TxCommand,
    { tx }: RequestedTx,
    reason: string,
  ): Promise<CarriedOut> {
    tx.dropped(`not replaced: ${reason}`);
    await this.write.execute(leases, 'replace', { txs: [tx] });
    return decided({ commandId, refusal: reason });
  }

  /** Nothing of the original was sent: it ends, and the replacement waits in its place. */
  private async takePlace(
    leases: readonly Lease[],
    { commandId }: TxCommand,
    { original: { tx: original }, replacement: { tx: replacement } }: Replace,
  ): Promise<CarriedOut> {
    const released = original.progress.nonce === null ? [] : [{ signer: original.signer, nonce: original.nonce }];
    original.replacedUnsent(replacement.id);
    replacement.entersQueue();
    await this.write.execute(leases, 'replace', { txs: [original, replacement], slots: { released } });
    return decided({ commandId, refusal: null });
  }

  private async race(
    leases: readonly Lease[],
    command: TxCommand,
    said: ChainAnswers,
    { original: { tx: original }, replacement, ofSlot }: Replace,
  ): Promise<CarriedOut> {
    const policies = this.gate.present;
    const priced = this.price.execute(replacement, ofSlot, said);
    if (priced.kind === 'later') return LATER;
    if (priced.kind === 'refused') return this.drop(leases, command, replacement, priced.reason);
    const refusal = this.gate.policyRefusal(replacement, policies, priced.gasLimit);
    if (refusal !== null) return this.drop(leases, command, replacement, refusal);
    const tx = ManagedTx.rehydrate(replacement.tx.progress);
    const { signer, nonce } = original;
    tx.competes(nonce, priced.gasLimit);
    const signed = await this.sign({ ...replacement, tx }, priced);
    if (typeof signed === 'string') return this.drop(leases, command, replacement, signed);
    const [attempt] = signed;
    if (!attempt) return LATER;
    tx.signed(attempt.txHash, attempt.fees);
    original.raced(tx);
    const changes = {
      slots: { handedOver: [{ signer, nonce, txId: tx.id }] },
      attempts: { inserted: [attempt] },
      txs: [original, tx],
    };
    const judged: ReplacementAdmission[] = [];
    await this.write.underFence(leasesFor(leases, [signer]), 'replace', async (fence) => {
      const admission = await this.gate.admit(fence, replacement, attempt, policies);
      judged.push(admission);
      return admission.kind === 'admitted' ? changes : {};
    });
    const admission = judged.at(-1);
    if (admission?.kind === 'refused') return this.drop(leases, command, replacement, admission.reason);
    if (admission?.kind !== 'admitted') return LATER;
    return { decision: { commandId: command.commandId, refusal: null }, sending: { tx, attempt } };
  }

  /** @returns the reason when it can never be a valid transaction */
  private async sign(item: RequestedTx, { fees, type, pricedAtBlock }: Priced): Promise<readonly Attempt[] | string> {
    try {
      return await this.signer.sign([payloadDraft(item, fees, pricedAtBlock, type)]);
    } catch (error) {
      if (error instanceof NotEncodable) return error.message;
      throw error;
    }
  }
}
