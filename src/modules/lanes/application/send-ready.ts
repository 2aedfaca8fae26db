import { Injectable } from '@nestjs/common';
import { signerKey } from '../../../kernel/signer-id.js';
import { bisectOnFailure } from '../../../platform/scheduling/bisect-on-failure.js';
import type { ChainConnector } from '../../chain/index.js';
import { AlignNonces } from '../../nonces/index.js';
import { BroadcastAttempts, SignAttempts } from '../../sending/index.js';
import type { Lease } from '../../signers/index.js';
import { LaneMemory } from '../../transactions/index.js';
import { AllocateNonces } from './allocate-nonces.js';
import { PreparePending, type ReadyTx } from './prepare-pending.js';

/** Allocates nonces to ready txs, signs them and broadcasts them. */
@Injectable()
export class SendReady {
  constructor(
    private readonly align: AlignNonces,
    private readonly allocate: AllocateNonces,
    private readonly prepare: PreparePending,
    private readonly sign: SignAttempts,
    private readonly broadcast: BroadcastAttempts,
    private readonly memory: LaneMemory,
  ) {}

  /** @returns keys of the signers with a tx that got a nonce */
  async execute(
    chain: ChainConnector,
    leases: readonly Lease[],
    all: readonly ReadyTx[],
  ): Promise<ReadonlySet<string>> {
    // Read before nonces are allocated: without fees nothing could be signed.
    const quote = await chain.feeQuote();
    const { nonces, held } = await this.align.execute(chain, leases);
    const aligned = new Set<string>();
    const ready = all.filter(({ tx }) => !held.has(signerKey(tx.signer)));
    const allocated = await bisectOnFailure(
      ready,
      async (piece) => {
        const some = await this.allocate.execute(leases, piece, nonces);
        // Of all signers, also those without a ready tx. Not before: what was not committed has to be asked for again.
        for (const { signer } of nonces) aligned.add(signerKey(signer));
        return some;
      },
      (poison, error) => this.prepare.quarantine(leases, poison, error),
    );
    this.memory.aligned(leases.filter(({ signer }) => aligned.has(signerKey(signer))));
    // Some were not PENDING any more: changed by a request, or allocated by a commit whose answer was lost. In the second case
    // the next step must find them in the database.
    if (allocated.length < ready.length) this.memory.forget(ready.map(({ tx }) => tx.signer));
    const signed = await this.sign.execute(quote, leases, allocated);
    await this.broadcast.execute(chain, leases, signed);
    return new Set(allocated.map(({ tx }) => signerKey(tx.signer)));
  }
}
