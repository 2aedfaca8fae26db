import { Injectable } from '@nestjs/common';
import { ExecutionConfig } from '../../../../config/lockstep-config.js';
import { signerKey, type SignerId } from '../../../../kernel/signer-id.js';
import type { Lease } from '../../../signers/index.js';

interface Learnt {
  /** Of the lease under which it was learnt; null until a lane step reads it. */
  token: bigint | null;
  /** Null while only the whole pool is full, which says nothing about one signer. */
  limit: number | null;
  /** Some txs of the signer were refused for a limit of the pool, and were not taken since. */
  someWait: boolean;
  /** There may be room since the last refusal. */
  mayHaveRoom: boolean;
}

/**
 * How many txs of a signer the pools of its chain take at once, as learnt from their refusals (docs/decisions/0014-refusals-have-an-end.md). Only
 * in the memory of the node that holds the lease, and only until the lease goes: the next owner learns it anew.
 */
@Injectable()
export class InFlightLimits {
  private readonly signers = new Map<string, Learnt>();

  constructor(private readonly config: ExecutionConfig) {}

  /** The most txs that may be in flight: `execution.maxInFlight`, or less if a pool takes less. */
  ofLease({ signer, token }: Lease): number {
    const known = this.signers.get(signerKey(signer));
    if (known) known.token ??= token;
    if (known && known.token !== token) this.signers.delete(signerKey(signer));
    return this.learnt(signer) ?? this.config.maxInFlight;
  }

  /** Null when nothing was learnt. */
  learnt(signer: SignerId): number | null {
    return this.signers.get(signerKey(signer))?.limit ?? null;
  }

  /**
   * A pool refused a tx for one of its limits.
   * @param inPool txs of the signer that the pool has: those below the refused one. Null when this is not why it refused
   */
  refused(signer: SignerId, inPool: number | null): void {
    const limit = inPool === null ? this.learnt(signer) : Math.max(1, inPool);
    this.signers.set(signerKey(signer), { token: null, limit, someWait: true, mayHaveRoom: false });
  }

  /** A pool took txs of the signer, and refused none. @returns whether others wait for room */
  taken(signer: SignerId): boolean {
    const known = this.signers.get(signerKey(signer));
    if (known?.someWait) known.mayHaveRoom = true;
    return known?.someWait === true;
  }

  /** Txs of these signers were mined, or gave up their nonces. One entry per signer. The limit grows by one. */
  madeRoom(signers: readonly SignerId[]): void {
    for (const signer of signers) {
      const known = this.signers.get(signerKey(signer));
      if (!known) continue;
      if (known.limit !== null) known.limit += 1;
      if (known.limit !== null && known.limit >= this.config.maxInFlight) known.limit = null;
      known.mayHaveRoom = known.someWait;
    }
  }

  /** Whether txs that a pool refused should be sent again now. */
  mayResend({ signer }: Lease): boolean {
    return this.signers.get(signerKey(signer))?.mayHaveRoom === true;
  }

  /** They are being sent again. @param someWait whether there were any */
  resending({ signer }: Lease, someWait: boolean): void {
    const known = this.signers.get(signerKey(signer));
    if (!known) return;
    known.mayHaveRoom = false;
    known.someWait = someWait;
  }
}
