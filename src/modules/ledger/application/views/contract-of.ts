import type { Address } from '../../../../kernel/hex.js';
import type { Nonce, SignerId } from '../../../../kernel/signer-id.js';
import { contractAddress } from '../../../../platform/crypto/contract-address.js';
import type { TxState } from '../../domain/tx-state-machine.js';

/** What a tx is known by. */
interface Creation {
  readonly signer: SignerId;
  readonly to: Address | null;
  readonly nonce: Nonce | null;
  readonly state: TxState;
  /** Nobody knows what its outside sender signs. */
  readonly isHold: boolean;
}

/** Txs in these states create nothing. */
const WITHOUT_CONTRACT: ReadonlySet<TxState> = new Set<TxState>(['FAILED', 'CANCELLED', 'REPLACED', 'DROPPED']);

/** The address of the contract that a tx creates; null when it creates none, or has no nonce yet. */
export function contractOf({ signer, to, nonce, state, isHold }: Creation): Address | null {
  const createsNone = isHold || to !== null || WITHOUT_CONTRACT.has(state);
  return createsNone || nonce === null ? null : contractAddress(signer.address, nonce);
}
