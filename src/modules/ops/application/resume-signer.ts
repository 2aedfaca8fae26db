import { Injectable } from '@nestjs/common';
import { NodeIdentity } from '../../../kernel/node-identity.js';
import { signerKey, type SignerId } from '../../../kernel/signer-id.js';
import { UnitOfWork } from '../../../kernel/unit-of-work.js';
import { Log } from '../../../platform/logging/log.js';
import { EventLog } from '../../events/index.js';
import { type PauseRequest, SignerPauses } from '../../signers/index.js';
import { Doorbell } from '../../ledger/index.js';
import { unknownSigner } from './unknown-signer.js';

/** Ends the pause of a signer on request of an operator, and wakes its lane. */
@Injectable()
export class ResumeSigner {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly pauses: SignerPauses,
    private readonly events: EventLog,
    private readonly doorbell: Doorbell,
    private readonly node: NodeIdentity,
    private readonly log: Log,
  ) {}

  /** @throws NotFound `unknown_signer` */
  async execute(signer: SignerId, request: PauseRequest): Promise<void> {
    await this.unitOfWork.run(async (tx) => {
      const change = await this.pauses.resume(tx, signer);
      if (!change) throw unknownSigner(signer);
      if (!change.changed) return;
      const author = { nodeId: this.node.id, tokenFor: () => null };
      await this.events.appendOfSigners(tx, author, [{ signer, reason: 'resumed', detail: { ...request } }]);
    });
    this.log.warn('signer resumed', { signer: signerKey(signer), ...request });
    // Also when it was not paused: the ring of an earlier resume may be lost.
    this.doorbell.ring([signer]);
  }
}
