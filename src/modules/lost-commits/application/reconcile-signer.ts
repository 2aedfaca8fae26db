import { Injectable } from '@nestjs/common';
import type { Hash } from '../../../kernel/hex.js';
import type { Nonce, SignerId } from '../../../kernel/signer-id.js';
import { Chains } from '../../chain/index.js';
import { Doorbell, LaneMemory, LeasedWork } from '../../transactions/index.js';
import { HeldSigners } from './held-signers.js';
import { ReconcileLanes } from './reconcile-lanes.js';

/** The result of a reconciliation that an operator requested. */
export interface Reconciliation {
  /** The signer is still held: it may have sent transactions that are not known. */
  readonly held: boolean;
  /** Sent transactions that the database did not know before. */
  readonly found: readonly { readonly nonce: Nonce; readonly txHash: Hash }[];
}

/** On request of an operator: searches at once for sent transactions of a signer, and releases the signer when the operator vouches. */
@Injectable()
export class ReconcileSigner {
  constructor(
    private readonly chains: Chains,
    private readonly work: LeasedWork,
    private readonly memory: LaneMemory,
    private readonly held: HeldSigners,
    private readonly reconcile: ReconcileLanes,
    private readonly doorbell: Doorbell,
  ) {}

  /**
   * @param anyway the operator vouches that the signer sent nothing else, or accepts that a payload is executed twice
   * @throws NotLeader when another node acts for the signer
   */
  async execute(signer: SignerId, anyway: boolean): Promise<Reconciliation> {
    const found = await this.work.asOwner(signer, (lease) =>
      this.reconcile.execute(this.chains.get(signer.chainId), [lease], anyway),
    );
    this.memory.forget([signer]);
    this.doorbell.ring([signer]);
    return {
      held: this.held.has(signer),
      found: found.flatMap(({ unknown }) => unknown.map(({ nonce, hash }) => ({ nonce, txHash: hash }))),
    };
  }
}
