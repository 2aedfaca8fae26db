import { type Family, withSystemTx } from './family.js';

/** The last of a sprint: nobody sent it, its receipt is in no receipts root, and its hash comes from the height. */
const STATE_SYNC = `0x${'57'.repeat(32)}`;
const NOBODY = `0x${'0'.repeat(40)}`;

const stateSync = { type: '0x0', from: NOBODY, to: NOBODY, nonce: '0x0', gas: '0x0', gasPrice: '0x0', value: '0x0' };

export const polygon: Family = {
  name: 'Polygon PoS (Bor)',
  source: 'https://docs.polygon.technology/pos/architecture/bor/ (state sync transactions)',
  quirks: withSystemTx('last', STATE_SYNC, stateSync),
};
