import type { Family } from './family.js';

export const erigon: Family = {
  name: 'Erigon and public endpoints with small batches (Gnosis, Polygon, free plans)',
  source: 'https://github.com/erigontech/erigon (--rpc.batch.limit), and the terms of public endpoints',
  mostInBatch: 3,
  quirks: {},
};
