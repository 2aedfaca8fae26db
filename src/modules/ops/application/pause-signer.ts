import { Injectable } from '@nestjs/common';
import { NodeIdentity } from '../../../kernel/node-identity.js';
import { signerKey, type SignerId } from '../../../kernel/signer-id.js';
import { UnitOfWork } from '../../../kernel/unit-of-work.js';
import { Log } from '../../../platform/logging/log.js';
import { EventLog } from '../../events/index.js';
import { type Pause, type PauseRequest, SignerPauses } from '../../signers/index.js';
import { unknownSigner } from './unknown-signer.js';

/**
 * Pauses a signer on request of an operator: it gets no new nonces. What has a nonce goes on. Every lane reads the pause from the database,
 * so any node may write it.
 */
@Injectable()
export class PauseSigner {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly pauses: SignerPauses,
    private readonly events: EventLog,
    private readonly node: NodeIdentity,
    private readonly log: Log,
  ) {}

  /**
   * When it returns, the signer gets no more nonces. A second pause changes nothing and returns the first one.
   * @throws NotFound `unknown_signer`
   * @throws Unavailable when a write of the owner took too long to wait for; the pause is stored
   */
  async execute(signer: SignerId, request: PauseRequest): Promise<Pause> {
    const pause = await this.unitOfWork.run(async (tx) => {
      const change = await this.pauses.pause(tx, signer, request);
      if (!change?.pause) throw unknownSigner(signer);
      if (change.changed) {
        const author = { nodeId: this.node.id, tokenFor: () => null };
        await this.events.appendOfSigners(tx, author, [{ signer, reason: 'paused', detail: { ...request } }]);
      }
      return change.pause;
    });
    this.log.warn('signer paused', { signer: signerKey(signer), ...request });
    // After the commit: every later write of the owner sees the pause.
    await this.pauses.writesEnded(signer);
    return pause;
  }
}
