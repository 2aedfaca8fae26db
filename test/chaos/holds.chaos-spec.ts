import { afterEach, it } from '@jest/globals';
import { Cluster } from '../support/cluster.js';
import { expectOneSequence } from '../support/outside-senders.js';

/** By hand more of them: 2,000 transactions are 140 rounds. */
const ROUNDS = Number(process.env['HOLDS_ROUNDS'] ?? 24);

let cluster: Cluster;

afterEach(() => cluster.stop());

it.each([
  { mode: 'worker-queue', rounds: ROUNDS },
  { mode: 'basic', rounds: 8 },
])(
  'outside senders and payloads share one sequence without gap or double while nodes are killed ($mode)',
  async ({ mode, rounds }) => {
    cluster = await Cluster.start({
      nodes: 3,
      config: { execution: { mode, maxInFlight: 2_000, inFlightStart: 2_000 } },
    });
    await expectOneSequence(cluster, rounds);
  },
);
