import { Injectable } from '@nestjs/common';
import { type Nonce, signerKey } from '../../../kernel/signer-id.js';
import type { ChainConnector } from '../../chain/index.js';
import { AdmitLanes } from '../../lost-commits/index.js';
import { AlignNonces } from '../../nonces/index.js';
import type { Lease, SlotRef } from '../../signers/index.js';
import { LaneMemory } from '../../transactions/index.js';

/** The next nonce of a signer on its chain, and with what to align its cursor. */
export interface GrantNonce {
  readonly nonce: Nonce;
  readonly chainNonces: readonly SlotRef[];
}

/** Asks the chain which nonce an authorization of a signer needs. It is ignored with any other one. */
@Injectable()
export class FindGrantNonce {
  constructor(
    private readonly admit: AdmitLanes,
    private readonly align: AlignNonces,
    private readonly memory: LaneMemory,
  ) {}

  /** Null while it is not known. */
  async execute(chain: ChainConnector, lease: Lease): Promise<GrantNonce | null> {
    if ((await this.admit.execute(chain, [lease])).length === 0) return null;
    const { signer } = lease;
    const [agreed] = await chain.agreedCounts([signer.address], 'latest');
    if (!agreed) return null;
    this.memory.distrustNonce(signer);
    const { nonces, held } = await this.align.execute(chain, [lease]);
    return held.has(signerKey(signer)) ? null : { nonce: agreed.nonce, chainNonces: nonces };
  }
}
