import { signerKey, type SignerId } from '../../../kernel/signer-id.js';

/** Each once. */
export function signersOf(items: readonly { readonly signer: SignerId }[]): SignerId[] {
  return [...new Map(items.map(({ signer }) => [signerKey(signer), signer])).values()];
}
