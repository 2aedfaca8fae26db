import { Injectable } from '@nestjs/common';
import { ExecutionConfig } from '../../../../config/lockstep-config.js';
import { signerKey, type SignerId } from '../../../../kernel/signer-id.js';
import type { Lease } from '../../../signers/index.js';

interface Learnt {
  /** The token of the lease under which it was learnt; null until a lane step reads it. */
  token: bigint | null;
  /** Null while only the whole pool is full, which says nothing about one signer. */
  limit: number | null;
  /** Some txs of the signer were refused for a limit of the pool, and were not taken since. */
  someWait: boolean;
  /** There may be room since the last refusal. */
  mayHaveRoom: boolean;
}

/** What a pool takes at once of an account that delegates to a contract (EIP-7702): the contract may spend what pays for the others. */
const OF_DELEGATED = 1;

/**
 * How many txs of a signer the pools of its chain take at once, as learnt from their refusals (docs/decisions/0014-refusals-have-an-end.md), and from
 * the code of its account. Only in the memory of the node that holds the lease, and only until the lease goes: the next owner learns it anew.
 */
@Injectable()
export class InFlightLimits {
  private readonly signers = new Map<string, Learnt>();
  /** Keys of signers whose accounts delegate. */
  private readonly delegated = new Set<string>();
  /** Keys of signers with a tx in flight that may begin or end a delegation; true when it left flight, and nobody looked since. */
  private readonly delegating = new Map<string, boolean>();

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
    return this.isDelegated(signer) ? OF_DELEGATED : this.refusedAbove(signer);
  }

  isDelegated(signer: SignerId): boolean {
    return this.delegated.has(signerKey(signer));
  }

  /** The code of its account was read. */
  seen(signer: SignerId, isDelegated: boolean): void {
    const key = signerKey(signer);
    if (isDelegated) this.delegated.add(key);
    else this.delegated.delete(key);
    if (this.mustLook(signer)) this.delegating.delete(key);
  }

  /** A tx that may begin or end a delegation of its signer gets a nonce. */
  delegates(signer: SignerId): void {
    this.delegating.set(signerKey(signer), false);
  }

  /** A tx with an authorization of the signer was mined. */
  mayHaveDelegated(signer: SignerId): void {
    this.delegating.set(signerKey(signer), true);
  }

  /** Whether the code of the account may have changed since it was read. */
  mustLook(signer: SignerId): boolean {
    return this.delegating.get(signerKey(signer)) === true;
  }

  /**
   * A pool refused a tx for one of its limits.
   * @param inPool txs of the signer that the pool has: those below the refused one. Null when this is not why it refused
   */
  refused(signer: SignerId, inPool: number | null): void {
    const limit = inPool === null ? this.refusedAbove(signer) : Math.max(1, inPool);
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
      if (this.delegating.has(signerKey(signer))) this.delegating.set(signerKey(signer), true);
      const known = this.signers.get(signerKey(signer));
      if (!known) continue;
      if (known.limit !== null) known.limit += 1;
      if (known.limit !== null && known.limit >= this.config.maxInFlight) known.limit = null;
      known.mayHaveRoom = known.someWait;
    }
  }

  /** Nobody knows whether there is room. */
  mayHaveRoom(signers: readonly SignerId[]): void {
    for (const signer of signers) {
      const known = this.signers.get(signerKey(signer));
      if (known) Object.assign(known, { someWait: true, mayHaveRoom: true });
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

  private refusedAbove(signer: SignerId): number | null {
    return this.signers.get(signerKey(signer))?.limit ?? null;
  }
}
