import { Injectable } from '@nestjs/common';
import { signerKey, type SignerId } from '../../../kernel/signer-id.js';
import { type PauseScope, SignerPauses } from '../../signers/index.js';
import { Doorbell, TxQueue } from '../../ledger/index.js';
import { type PauseOrder, StorePauses } from './store-pauses.js';

/** Ends a pause on request of an operator, or the stop of an account, and wakes the lanes of its signers. */
@Injectable()
export class ResumeSigner {
  constructor(
    private readonly store: StorePauses,
    private readonly pauses: SignerPauses,
    private readonly queue: TxQueue,
    private readonly doorbell: Doorbell,
  ) {}

  /** @throws NotFound `unknown_signer` */
  async execute(scope: PauseScope, order: PauseOrder): Promise<void> {
    const signers = await this.store.resume(scope, order);
    if (scope.account) await this.queue.makeStoppedDue(scope.account.id);
    // Also when it was not paused: the ring of an earlier resume may be lost.
    this.doorbell.ring(signers.length === 1 ? signers : await this.waitingAmong(signers));
    if (!scope.account) return;
    // What a lane is setting aside, because it saw the stop, would keep its timer.
    await this.pauses.writesEnded(scope);
    await this.queue.makeStoppedDue(scope.account.id);
  }

  /** Nobody is woken for the idle ones of many. */
  private async waitingAmong(signers: readonly SignerId[]): Promise<SignerId[]> {
    const resumed = new Set(signers.map(signerKey));
    const work = [];
    for (const chainId of new Set(signers.map((signer) => signer.chainId)))
      work.push(...(await this.queue.signersWithWork(chainId)));
    return work.flatMap(({ signer, hasPending }) => (hasPending && resumed.has(signerKey(signer)) ? [signer] : []));
  }
}
