import { arbitrum } from './arbitrum.js';
import { bsc } from './bsc.js';
import { celo } from './celo.js';
import { erigon } from './erigon.js';
import { ethereum } from './ethereum.js';
import type { Family } from './family.js';
import { filecoin } from './filecoin.js';
import { freeGas } from './free-gas.js';
import { hedera } from './hedera.js';
import { moonbeam } from './moonbeam.js';
import { opStack } from './op-stack.js';
import { polygon } from './polygon.js';
import { zksync } from './zksync.js';

/** The rows of the table of test/integration/chain-families.int-spec.ts. */
export const FAMILIES: readonly Family[] = [
  ...[ethereum, opStack, arbitrum, zksync, polygon, bsc],
  ...[celo, filecoin, hedera, moonbeam, erigon, freeGas],
];
