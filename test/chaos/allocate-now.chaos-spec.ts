import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { DEV_ACCOUNTS } from '../support/anvil.js';
import { readChain } from '../support/chain-reader.js';
import { Cluster } from '../support/cluster.js';
import { dataOf } from '../support/cluster-clients.js';
import { NowClients } from '../support/now-clients.js';
import { until } from '../support/until.js';

/** What each node does with a create that needs another one. */
const POLICIES = ['forward', 'reject', 'forward'] as const;
const SIGNERS = DEV_ACCOUNTS.slice(0, 4);
const CLIENTS = 6;
const KILLS = 2;

let cluster: Cluster;

beforeAll(async () => {
  const env = (place: number): Record<string, string> => ({ LOCKSTEP_INTAKE_NOT_LEADER: POLICIES[place] ?? 'accept' });
  const config = { node: { forwardSecret: 'a secret of these tests' } };
  cluster = await Cluster.start({ nodes: POLICIES.length, blockTime: 0.5, env, config });
});

afterAll(() => cluster.stop());

/** URLs of the nodes with this policy. */
function nodesThat(policy: (typeof POLICIES)[number]): string[] {
  return cluster.nodes.filter((_, place) => POLICIES[place] === policy).map(({ service }) => service.url);
}

/** The node that stored each request, by its URL. */
async function storedBy(): Promise<ReadonlyMap<string, string>> {
  const rows = await cluster.database.query<{ request_id: string; url: string }>(
    `SELECT t.request_id, n.advertised_url AS url FROM managed_tx t JOIN tx_event e USING (tx_id) JOIN node n USING (node_id) WHERE e.reason = 'queued'`,
  );
  return new Map(rows.map(({ request_id, url }) => [request_id, url]));
}

/** Creates by several clients side by side, until each owner of a signer, one after the other, was killed and is back. */
async function createWhileOwnersDie(clients: NowClients): Promise<void> {
  const work = { over: false };
  const running = Array.from({ length: CLIENTS }, async (_, client) => {
    for (let n = 0; !work.over; n += 1)
      await clients.create(SIGNERS[(client + n) % SIGNERS.length] ?? '', `now-${client}-${n}`);
  });
  for (const client of running) client.catch(() => {});
  for (const signer of SIGNERS.slice(0, KILLS)) {
    const answered = clients.answers.length;
    await until('it works', async () => clients.answers.length > answered + 20);
    const owner = await cluster.nextOwner(signer);
    expect(await owner.kill()).toEqual({ code: null, signal: 'SIGKILL' });
    await cluster.nextOwner(signer, owner);
    await owner.start();
  }
  work.over = true;
  await Promise.all(running);
}

/**
 * The faults happened, because each owner ends by SIGKILL and another node logs that it took over. The policies were at work,
 * because some nodes answered for what another one had stored, and others refused.
 */
it('nonces that were answered are those on chain, one for each request, while owners are killed', async () => {
  const clients = new NowClients(cluster);
  await createWhileOwnersDie(clients);
  await cluster.expectExactlyOnce();

  const onChain = new Map((await readChain(cluster.rpcUrl)).map(({ input, nonce }) => [input, nonce]));
  // Each request was answered twice: the nonce of the second answer is the same.
  for (const { signer, requestId, nonce } of clients.answers)
    expect({ requestId, nonce }).toEqual({ requestId, nonce: onChain.get(dataOf(signer, requestId)) });
  const given = new Map(clients.answers.map(({ signer, nonce, requestId }) => [`${signer}/${nonce}`, requestId]));
  expect(given.size).toBe(clients.answers.length / 2);

  const owners = await storedBy();
  const forwarded = clients.answers.filter(
    ({ status, requestId, by }) => status === 202 && owners.get(requestId) !== by,
  );
  expect(forwarded.length).toBeGreaterThan(0);
  expect(nodesThat('forward')).toEqual(expect.arrayContaining([...new Set(forwarded.map(({ by }) => by))]));
  expect(clients.refusals.length).toBeGreaterThan(0);
  expect(nodesThat('reject')).toEqual([...new Set(clients.refusals.map(({ by }) => by))]);
  for (const { retryAfter } of clients.refusals) expect(Number(retryAfter)).toBeGreaterThanOrEqual(1);
});
