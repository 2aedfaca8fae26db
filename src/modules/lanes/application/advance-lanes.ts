import { Injectable } from '@nestjs/common';
import { signerKey, type SignerId } from '../../../kernel/signer-id.js';
import type { ChainConnector } from '../../chain/index.js';
import { AdmitLanes } from '../../lost-commits/index.js';
import { FillNonceGaps } from '../../nonces/index.js';
import type { Lease } from '../../signers/index.js';
import { PreparePending } from './prepare-pending.js';
import { ResumeLanes } from './resume-lanes.js';
import { SendReady } from './send-ready.js';

/** The order of a lane step: resume lanes, prepare waiting txs, allocate nonces and send, fill nonce gaps. */
@Injectable()
export class AdvanceLanes {
  constructor(
    private readonly admit: AdmitLanes,
    private readonly resume: ResumeLanes,
    private readonly prepare: PreparePending,
    private readonly send: SendReady,
    private readonly fillGaps: FillNonceGaps,
  ) {}

  /** @returns the signers with more waiting txs than this step had room for, and with a tx that got a nonce */
  async execute(chain: ChainConnector, held: readonly Lease[]): Promise<SignerId[]> {
    const leases = await this.admit.execute(chain, held);
    await this.resume.execute(chain, leases);
    const { ready, full } = await this.prepare.execute(chain, leases);
    const moved = ready.length > 0 ? await this.send.execute(chain, leases, ready) : new Set<string>();
    await this.fillGaps.execute(chain.chainId, leases);
    // When nothing got a nonce, the next step would only repeat the same calls.
    return full.filter((signer) => moved.has(signerKey(signer)));
  }
}
