import { CompareBooks } from '../../../src/modules/lost-commits/application/compare-books.js';
import { HoldBehind } from '../../../src/modules/lost-commits/application/hold-behind.js';
import { fakeOf } from './fake-of.js';

/** Every chain is the one on which its signers used their nonces. */
export const evenBooks: CompareBooks = fakeOf(CompareBooks, { onSameChain: async () => () => true });

/** No chain is behind our books. */
export const noneBehind: HoldBehind = fakeOf(HoldBehind, {
  admit: async (_chainId, leases) => leases,
  look: async () => undefined,
});
