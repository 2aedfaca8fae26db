import { afterAll, beforeAll, it } from '@jest/globals';
import { Cluster } from '../support/cluster.js';
import { Geth } from '../support/geth.js';
import { expectOneSequence } from '../support/outside-senders.js';

/** By hand more of them: 2,000 transactions are 140 rounds. */
const ROUNDS = Number(process.env['HOLDS_ROUNDS'] ?? 8);

let geth: Geth;
let cluster: Cluster;

beforeAll(async () => {
  geth = await Geth.start();
  cluster = await Cluster.start({ nodes: 3, rpcUrl: geth.url });
});

afterAll(async () => {
  await cluster.stop();
  await geth.stop();
});

it('outside senders and payloads share one sequence without gap or double while nodes are killed', () =>
  expectOneSequence(cluster, ROUNDS));
