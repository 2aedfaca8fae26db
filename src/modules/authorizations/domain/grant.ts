import type { Address } from '../../../kernel/hex.js';
import type { Nonce, SignerId } from '../../../kernel/signer-id.js';

/**
 * `wanted`: not signed. `open`: signed, and its tx is not mined. `overdue`: signed, and its tx got no nonce for too long. `mined`: its tx is in
 * a block that is not final. `ended`: its tx is final, or does not want it any more.
 */
export type GrantStage = 'wanted' | 'open' | 'overdue' | 'mined' | 'ended';

/** The authorization of one signer, the authority, for the tx of another one. */
export interface Grant {
  readonly id: string;
  readonly txId: string;
  /** The authority. */
  readonly signer: SignerId;
  /** The signer of the tx. */
  readonly sender: SignerId;
  readonly stage: GrantStage;
  /** What the authority is to sign. Null when the tx does not want it any more. */
  readonly target: { readonly chainId: bigint; readonly address: Address } | null;
  /** Null until it is signed. */
  readonly nonce: Nonce | null;
  /** Nothing of the authority is in flight, and nothing else keeps it from signing now. Only of a wanted one. */
  readonly isReady: boolean;
  readonly tries: number;
}
