import { Conflict, InvariantViolation } from '../../../kernel/errors.js';
import type { Hash } from '../../../kernel/hex.js';
import type { Nonce } from '../../../kernel/signer-id.js';

export type SlotStatus = 'HELD' | 'CONSUMED' | 'RELEASED';

/**
 * The place in a signer's sequence that exactly one transaction will fill on chain. A slot is released only with proof
 * that nothing with its nonce may have reached a node; whoever holds it then may be another payload.
 */
export class NonceSlot {
  private constructor(
    readonly nonce: Nonce,
    private current: SlotStatus,
    private heldBy: string | null,
    private mayBeOut: boolean,
  ) {}

  /**
   * @param holder the managed tx; null for a fill
   * @param mayBeOut whether any attempt of the slot was accepted by a node, or may have been (I6)
   */
  static held(nonce: Nonce, holder: string | null, mayBeOut = false): NonceSlot {
    return new NonceSlot(nonce, 'HELD', holder, mayBeOut);
  }

  get status(): SlotStatus {
    return this.current;
  }

  get holder(): string | null {
    return this.heldBy;
  }

  get isReleasable(): boolean {
    return this.current === 'HELD' && !this.mayBeOut;
  }

  /** Bytes with this nonce are about to reach the network, or may have (I6). */
  exposed(): void {
    if (this.current !== 'HELD')
      throw new InvariantViolation('sent bytes for a slot that is not held', { nonce: String(this.nonce) });
    this.mayBeOut = true;
  }

  /** @throws Conflict `nonce_may_be_used` without proof that nothing reached a node */
  release(): void {
    if (this.current !== 'HELD')
      throw new InvariantViolation('released a slot that is not held', { nonce: String(this.nonce) });
    if (this.mayBeOut)
      throw new Conflict(
        'nonce_may_be_used',
        'a transaction with this nonce may have reached a node',
        'wait until the chain decides, or fill it',
      );
    this.current = 'RELEASED';
    this.heldBy = null;
  }

  holdAgain(holder: string | null): void {
    if (this.current !== 'RELEASED')
      throw new InvariantViolation('took a slot that is not free', { nonce: String(this.nonce) });
    this.current = 'HELD';
    this.heldBy = holder;
  }

  /** Final: the chain has mined `hash` with this nonce, deep enough. */
  consume(hash: Hash): { readonly nonce: Nonce; readonly hash: Hash } {
    if (this.current !== 'HELD')
      throw new InvariantViolation('consumed a slot that is not held', { nonce: String(this.nonce) });
    this.current = 'CONSUMED';
    return { nonce: this.nonce, hash };
  }
}
