import { HDNodeWallet, Mnemonic } from 'ethers';
import { DEV_MNEMONIC } from '../../test/support/anvil.js';

export interface Account {
  readonly address: string;
  readonly privateKey: string;
}

const derived: Account[] = [];
const PATH = "m/44'/60'/0'/0";

/** The first accounts of the dev mnemonic, which anvil funds. Each takes 2 ms, so they are kept. */
export function accounts(count: number): readonly Account[] {
  if (derived.length < count) {
    const root = HDNodeWallet.fromMnemonic(Mnemonic.fromPhrase(DEV_MNEMONIC), PATH);
    while (derived.length < count) {
      const { address, privateKey } = root.deriveChild(derived.length);
      derived.push({ address, privateKey });
    }
  }
  return derived.slice(0, count);
}
