import { HDNodeWallet } from 'ethers';
import { DEV_MNEMONIC } from '../../src/dev/dev-accounts.js';

const ROOT = HDNodeWallet.fromPhrase(DEV_MNEMONIC, undefined, "m/44'/60'/0'/0");

/** The account at this index of the dev mnemonic, without a provider. */
export function devWallet(index: number): HDNodeWallet {
  return ROOT.deriveChild(index);
}

/** The addresses of the first `count` accounts. */
export function devAddresses(count: number): string[] {
  return Array.from({ length: count }, (_, index) => devWallet(index).address);
}
