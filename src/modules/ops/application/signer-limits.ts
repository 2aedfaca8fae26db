import { Injectable } from '@nestjs/common';
import { ExecutionConfig } from '../../../config/lockstep-config.js';
import type { SignerId } from '../../../kernel/signer-id.js';
import { LeaseManager } from '../../signers/index.js';
import { InFlightLimits } from '../../ledger/index.js';

/** How many txs of a signer may be in flight. */
export interface InFlightLimitView {
  /** `execution.maxInFlight` */
  readonly configured: number;
  /** How many it is now, as learnt from blocks and pools. Only the node that holds the lease of the signer knows it; null on every other node. */
  readonly learnt: number | null;
  /** Its account runs the code of a contract (EIP-7702), of which pools take one transaction at once. Known like `learnt`. */
  readonly delegated: boolean;
}

/** The limits of signers as this node knows them, for operators. */
@Injectable()
export class SignerLimits {
  constructor(
    private readonly config: ExecutionConfig,
    private readonly limits: InFlightLimits,
    private readonly leases: LeaseManager,
  ) {}

  of(signer: SignerId): InFlightLimitView {
    const isOurs = this.leases.held(signer) !== null;
    return {
      configured: this.config.maxInFlight,
      learnt: isOurs ? this.limits.of(signer) : null,
      delegated: isOurs && this.limits.isDelegated(signer),
    };
  }
}
