import { afterEach, expect, it } from '@jest/globals';
import { HDNodeWallet } from 'ethers';
import { setTimeout as sleep } from 'node:timers/promises';
import { DEV_MNEMONIC } from '../support/anvil.js';
import { Cluster } from '../support/cluster.js';

const SIGNERS = 20;
const KILLS = 3;

let cluster: Cluster;

afterEach(() => cluster.stop());

function addresses(): string[] {
  const root = HDNodeWallet.fromPhrase(DEV_MNEMONIC, undefined, "m/44'/60'/0'/0");
  return Array.from({ length: SIGNERS }, (_, index) => root.deriveChild(index).address);
}

/** The fault happened, because every kill ends a process by SIGKILL, every start has a new pid, and tokens have grown. */
it.each([
  { mode: 'worker-queue', rounds: 20 },
  { mode: 'basic', rounds: 8 },
])(
  'a storm of creates on 20 signers is confirmed exactly once while nodes are killed every few seconds ($mode)',
  async ({ mode, rounds }) => {
    cluster = await Cluster.start({
      nodes: 2,
      accounts: SIGNERS,
      config: { execution: { mode, maxInFlight: 2_000, inFlightStart: 2_000 } },
    });
    const signers = addresses();
    const done = { rounds: 0, kills: 0 };
    const goesOn = (): boolean => done.rounds < rounds || done.kills < KILLS;
    // Spread over time, so that every kill finds work in flight.
    const creates = (async () => {
      for (; goesOn(); done.rounds += 1) {
        await cluster.createMany(signers, `storm-${done.rounds}`, 5);
        await sleep(500);
      }
    })();
    creates.catch(() => {});
    const pids = new Set(cluster.nodes.map((node) => node.service.pid));
    while (goesOn()) {
      await sleep(1_500 + Math.random() * 1_500);
      const node = cluster.node(done.kills % 2);
      expect(await node.kill()).toEqual({ code: null, signal: 'SIGKILL' });
      done.kills += 1;
      await node.start();
      pids.add(node.service.pid);
    }
    await creates;
    await cluster.expectExactlyOnce();
    expect(pids.size).toBe(2 + done.kills);
    const [grown] = await cluster.database.query<{ tokens: string }>(
      'SELECT max(fencing_token) AS tokens FROM signer_lease',
    );
    expect(Number(grown?.tokens)).toBeGreaterThan(1);
  },
);
