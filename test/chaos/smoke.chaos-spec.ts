import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { DEV_ACCOUNTS } from '../support/anvil.js';
import { Cluster } from '../support/cluster.js';
import type { ClusterNode } from '../support/cluster-node.js';
import { processState } from '../support/process-state.js';
import { until } from '../support/until.js';

/* The part of this suite that `npm test` runs: each kind of fault once, on one cluster. */

let cluster: Cluster;

beforeAll(async () => {
  cluster = await Cluster.start({ nodes: 2, viaProxies: true });
});

afterAll(() => cluster.stop());

/** What happens to the owner, how it is known to have happened, and how it ends. */
const FAULTS: readonly { name: string; strike: (owner: ClusterNode) => Promise<void>; mend: Mend }[] = [
  {
    name: 'killed',
    strike: async (owner) => expect(await owner.kill()).toEqual({ code: null, signal: 'SIGKILL' }),
    mend: (owner) => owner.start(),
  },
  {
    name: 'paused',
    strike: async (owner) => {
      owner.pause();
      await until('it is stopped', async () => processState(owner.service.pid) === 'T');
    },
    mend: async (owner) => owner.resume(),
  },
  {
    name: 'cut off from the database',
    strike: async ({ links: { database } }) => {
      const { resets } = database.counters;
      database.set('cut');
      await until('a connection is cut', async () => database.counters.resets > resets);
    },
    mend: async ({ links }) => links.database.heal(),
  },
];
type Mend = (owner: ClusterNode) => Promise<void>;

it.each(FAULTS.map((fault, index) => ({ ...fault, index })))(
  'the signer of an owner that is $name goes to another node, and everything is mined once',
  async ({ name, strike, mend, index }) => {
    const signer = DEV_ACCOUNTS[index] ?? '';
    await cluster.create(signer, 'first');
    const owner = await cluster.nextOwner(signer);
    const creates = cluster.createMany([signer], name, 20);
    await strike(owner);
    await cluster.nextOwner(signer, owner);
    await creates;
    await cluster.allConfirmed();
    await mend(owner);
    await until('it is ready again', async () => (await owner.service.get('/health/ready')).status === 200);
    await cluster.expectExactlyOnce();
  },
);
