import { Injectable } from '@nestjs/common';
import type { Hash } from '../../../kernel/hex.js';
import type { Nonce, SignerId } from '../../../kernel/signer-id.js';
import { Chains } from '../../chain/index.js';
import { LeaseManager, NotLeader } from '../../signers/index.js';
import { Doorbell, LaneMemory, LeasedWork } from '../../transactions/index.js';
import type { Findings } from './findings.js';
import { HeldSigners } from './held-signers.js';
import { ReconcileLanes } from './reconcile-lanes.js';

/** What became of it. */
export interface Reconciliation {
  /** Still: not everything that is out is known. */
  readonly held: boolean;
  /** Transactions that were out, and are known from now on. */
  readonly found: readonly { readonly nonce: Nonce; readonly txHash: Hash }[];
}

/** A person's way: looks at once for what is out of a signer, and has it go on when the person vouches for the rest. */
@Injectable()
export class ReconcileSigner {
  constructor(
    private readonly chains: Chains,
    private readonly leases: LeaseManager,
    private readonly work: LeasedWork,
    private readonly memory: LaneMemory,
    private readonly held: HeldSigners,
    private readonly reconcile: ReconcileLanes,
    private readonly doorbell: Doorbell,
  ) {}

  /**
   * @param anyway nothing else is out, or may be executed twice: go on with what is found
   * @throws NotLeader when another node acts for the signer
   */
  async execute(signer: SignerId, anyway: boolean): Promise<Reconciliation> {
    const [lease] = await this.leases.acquireOrRenew([signer]);
    if (!lease) throw new NotLeader(signer, null);
    const found: Findings[] = [];
    await this.work.run(signer.chainId, [{ signer }], async (leases) => {
      found.push(...(await this.reconcile.execute(this.chains.get(signer.chainId), leases, anyway)));
    });
    this.memory.forget([signer]);
    this.doorbell.ring([signer]);
    return {
      held: this.held.has(signer),
      found: found.flatMap(({ unknown }) => unknown.map(({ nonce, hash }) => ({ nonce, txHash: hash }))),
    };
  }
}
