import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { DEV_ACCOUNTS } from '../support/anvil.js';
import { Cluster, LEASE_MS } from '../support/cluster.js';

const MINUTE = 60_000;
const SHIFTS = [7 * MINUTE, -7 * MINUTE];
const SHIFTED_CLOCK = new URL('../support/shifted-clock.mjs', import.meta.url).href;

let cluster: Cluster;

beforeAll(async () => {
  const env = (place: number): Record<string, string> => ({
    NODE_OPTIONS: `--import=${SHIFTED_CLOCK}`,
    CLOCK_SHIFT_MS: String(SHIFTS[place]),
  });
  // Without routing: a hand-over to the preferred node would move the token for a good reason.
  cluster = await Cluster.start({ nodes: 2, env, config: { execution: { mode: 'basic' } } });
});

afterAll(() => cluster.stop());

/** By what it writes into its own log. */
function clockError(place: number): number {
  const [line] = cluster.node(place).service.logged('listening');
  return Date.parse(String(line?.['time'])) - Date.now();
}

/**
 * Looks at the lease until the work has ended: nobody takes it before it has run out by the clock of the database. On a busy machine an owner may
 * renew it too late, and then it is taken for a good reason.
 */
async function expectNoTheft(signer: string, work: Promise<unknown>): Promise<void> {
  const progress = { isOver: false };
  const over = work.finally(() => (progress.isOver = true));
  let seen = await cluster.database.lease(signer);
  while (!progress.isOver) {
    await sleep(20);
    const now = await cluster.database.lease(signer);
    if (seen && now && now.token !== seen.token) expect(now.acquiredAt).toBeGreaterThan(seen.expiresAt);
    seen = now;
  }
  await over;
}

/** The fault happened, because each node dates its own log lines minutes away from this process. */
it('nodes whose clocks are 14 minutes apart neither steal a lease that is renewed nor wait for one that is not', async () => {
  expect(clockError(0)).toBeGreaterThan(6 * MINUTE);
  expect(clockError(1)).toBeLessThan(-6 * MINUTE);

  // Each of the two gets to be the owner, and the other one the heir.
  for (const signer of DEV_ACCOUNTS.slice(0, 2)) {
    await cluster.createMany([signer], 'before', 10);
    await expectNoTheft(signer, Promise.all([cluster.createMany([signer], 'steady', 100), sleep(LEASE_MS * 1.5)]));
    const owner = await cluster.nextOwner(signer);

    const killedAt = performance.now();
    expect(await owner.kill()).toMatchObject({ signal: 'SIGKILL' });
    await cluster.createMany([signer], 'after', 10);
    await cluster.nextOwner(signer, owner);
    // Far more than a lease, and far less than the clocks are wrong.
    expect(performance.now() - killedAt).toBeLessThan(MINUTE / 2);
    await owner.start();
  }
  await cluster.expectExactlyOnce();
});
