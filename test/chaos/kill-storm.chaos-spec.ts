import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { HDNodeWallet } from 'ethers';
import { setTimeout as sleep } from 'node:timers/promises';
import { DEV_MNEMONIC } from '../support/anvil.js';
import { Cluster } from '../support/cluster.js';

const SIGNERS = 20;
const EACH = 100;

let cluster: Cluster;

beforeAll(async () => {
  cluster = await Cluster.start({ nodes: 2, accounts: SIGNERS });
});

afterAll(() => cluster.stop());

function addresses(): string[] {
  const root = HDNodeWallet.fromPhrase(DEV_MNEMONIC, undefined, "m/44'/60'/0'/0");
  return Array.from({ length: SIGNERS }, (_, index) => root.deriveChild(index).address);
}

/** The fault happened, because every kill ends a process by SIGKILL, every start has a new pid, and tokens have grown. */
it('2,000 creates on 20 signers are confirmed exactly once while nodes are killed every few seconds', async () => {
  const signers = addresses();
  let created = 0;
  // Spread over time, so that every kill finds work in flight.
  const creates = (async () => {
    for (let round = 0; round < EACH / 5; round += 1) {
      await cluster.createMany(signers, `storm-${round}`, 5);
      created += 5 * signers.length;
      await sleep(500);
    }
  })();
  creates.catch(() => {});
  const pids = new Set(cluster.nodes.map((node) => node.service.pid));
  let kills = 0;
  while (created < EACH * SIGNERS) {
    await sleep(1_500 + Math.random() * 1_500);
    const node = cluster.node(kills % 2);
    expect(await node.kill()).toEqual({ code: null, signal: 'SIGKILL' });
    kills += 1;
    await node.start();
    pids.add(node.service.pid);
  }
  await creates;
  await cluster.expectExactlyOnce();
  expect(kills).toBeGreaterThan(2);
  expect(pids.size).toBe(2 + kills);
  const [grown] = await cluster.database.query<{ tokens: string }>(
    'SELECT max(fencing_token) AS tokens FROM signer_lease',
  );
  expect(Number(grown?.tokens)).toBeGreaterThan(1);
});
