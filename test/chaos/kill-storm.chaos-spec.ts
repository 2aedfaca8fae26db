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
    const first = cluster.nodes.map((node) => node.service.pid);
    const later: number[] = [];
    const done = { rounds: 0 };
    const goesOn = (): boolean => done.rounds < rounds || later.length < KILLS;
    // Spread over time, so that every kill finds work in flight.
    const creates = (async () => {
      for (; goesOn(); done.rounds += 1) {
        await cluster.createMany(signers, `storm-${done.rounds}`, 5);
        await sleep(500);
      }
    })();
    creates.catch(() => {});
    await cluster.killInTurn(later, goesOn);
    await creates;
    await cluster.expectExactlyOnce();
    expect(new Set([...first, ...later]).size).toBe(2 + later.length);
    const [grown] = await cluster.database.query<{ tokens: string }>(
      'SELECT max(fencing_token) AS tokens FROM signer_lease',
    );
    expect(Number(grown?.tokens)).toBeGreaterThan(1);
  },
);
