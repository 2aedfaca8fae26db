import { Injectable } from '@nestjs/common';
import { Conflict } from '../../../kernel/errors.js';
import { Doorbell, TxQueue } from '../../ledger/index.js';
import { type PolicyChange, SignerPolicies, type SignerPolicy, StoredPolicies } from '../../policies/index.js';
import { SignerPauses } from '../../signers/index.js';
import { unknownSigner } from '../../../kernel/unknown-signer.js';

/** Changes what a signer may sign, on request of an operator. Each gate of a nonce reads that from the database, so any node may write it. */
@Injectable()
export class ChangePolicy {
  constructor(
    private readonly stored: StoredPolicies,
    private readonly policies: SignerPolicies,
    private readonly pauses: SignerPauses,
    private readonly queue: TxQueue,
    private readonly doorbell: Doorbell,
  ) {}

  /**
   * When it returns, nothing that the new policy refuses gets a nonce.
   * @throws NotFound `unknown_signer`
   * @throws Conflict `policy_changed`
   * @throws Unavailable when a write of an owner took too long to wait for; the policy is stored
   */
  async execute(change: PolicyChange): Promise<SignerPolicy> {
    const { signer, version } = change;
    const changed = await this.stored.change(change);
    if (changed.kind === 'unknown_signer') throw unknownSigner(signer);
    if (changed.kind === 'other_version')
      throw new Conflict(
        'policy_changed',
        `the policy of the signer has version ${changed.version}, and not ${version}`,
        'read it again, and send its version with your change',
        { version: changed.version },
      );
    // After the commit: every later write of an owner sees it.
    await this.pauses.writesEnded(signer);
    await this.policies.refresh();
    // Not before: what was judged until now may be held by what does not hold any more.
    await this.queue.makeHeldDue(signer);
    this.doorbell.ring([signer]);
    return { ...this.policies.present.find(signer), stored: changed.stored };
  }
}
