import { type Address, parseAddress } from './hex.js';

/** EIP-155 chain id. */
export type ChainId = number;
/** Nonce of an account. EIP-2681 limits it to 2^64-2, so it may exceed 2^53. */
export type Nonce = bigint;

/** One account on one chain; it has its own nonce sequence. */
export interface SignerId {
  readonly chainId: ChainId;
  readonly address: Address;
}

/** A signer as a map key. */
export function signerKey(signer: SignerId): string {
  return `${signer.chainId}:${signer.address}`;
}

/** Reads a chain id as everybody writes it. @returns null for anything else, and for what JSON cannot carry */
export function chainIdOf(text: string): ChainId | null {
  return /^[1-9]\d{0,15}$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : null;
}

const SIGNER_KEY = /^(\d+):(0x[0-9a-fA-F]{40})$/;

/** Reads what {@link signerKey} writes, also with capitals. @returns null for anything else */
export function signerOfKey(text: string): SignerId | null {
  const [, chain = '', address = ''] = SIGNER_KEY.exec(text) ?? [];
  const chainId = chainIdOf(chain);
  return chainId === null ? null : { chainId, address: parseAddress(address) };
}

export function sameSigner(a: SignerId, b: SignerId): boolean {
  return a.chainId === b.chainId && a.address === b.address;
}

/** Reads a signer from the columns of a row, where a bigint is a string. */
export function parseSigner(chainId: string, address: string): SignerId {
  return { chainId: Number(chainId), address: parseAddress(address) };
}

/** @returns each signer once */
export function distinctSigners(signers: readonly SignerId[]): SignerId[] {
  return [...new Map(signers.map((signer) => [signerKey(signer), signer])).values()];
}

/** @returns the signers of the items, each once */
export function signersOf(items: readonly { readonly signer: SignerId }[]): SignerId[] {
  return distinctSigners(items.map(({ signer }) => signer));
}
