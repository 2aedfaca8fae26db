import { signerKey } from '../../../kernel/signer-id.js';
import type { SlotRef } from './nonce-ledger.js';

/** `chainId:address/nonce`, for maps and sets. */
export function slotKey({ signer, nonce }: SlotRef): string {
  return `${signerKey(signer)}/${nonce}`;
}
