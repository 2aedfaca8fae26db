import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { DEV_ACCOUNTS } from '../support/anvil.js';
import { DEV_CHAIN } from '../support/builders.js';
import { Cluster } from '../support/cluster.js';
import { until } from '../support/until.js';

const SIGNERS = DEV_ACCOUNTS.slice(0, 4);

let cluster: Cluster;

beforeAll(async () => {
  cluster = await Cluster.start({ nodes: 3 });
});

/** Whatever a test found, the next one begins without a stop. */
afterEach(() => cluster.post('/api/v1/go', {}));
afterAll(() => cluster.stop());

/** The last nonce that each signer gave. Its cursor may come later: who prepared before a stop aligns after it, and gives nothing. */
async function nonces(): Promise<unknown[]> {
  return cluster.database.query(
    'SELECT signer, max(nonce) FROM signer_nonce_allocation GROUP BY signer ORDER BY signer',
  );
}

async function waiting(): Promise<number> {
  return (await cluster.database.countByState())['PENDING'] ?? 0;
}

/** Who needs no key is told that it is so, and not why. */
const ALL_ARE_TOLD = { pauses: [{ reason: null }] };

/** The owners were at work, because nonces move before the stop and again after it; and txs are accepted meanwhile. */
it.each([
  ['everything', {}, ALL_ARE_TOLD],
  ['a chain', { chainId: DEV_CHAIN }, ALL_ARE_TOLD],
  ['an account', { account: 'default' }, { status: 'up' }],
])(
  'after the answer to a stop of %s no node gives a nonce, also one that takes over, until a go',
  async (what, scope, told) => {
    const load = cluster.clients.keepCreating(SIGNERS, what, { pauseMs: 300 });
    const before = await nonces();
    await until('nonces are given', async () => JSON.stringify(await nonces()) !== JSON.stringify(before));

    expect(await cluster.post('/api/v1/stop', { ...scope, reason: what })).toMatchObject({ status: 200 });
    const stopped = await nonces();
    const owner = await cluster.nextOwner(SIGNERS[0] ?? '');
    await owner.kill();
    const next = await cluster.nextOwner(SIGNERS[0] ?? '', owner);
    await owner.start();
    const accepted = await waiting();
    await until('more is accepted', async () => (await waiting()) > accepted + 40);
    await load.stop();
    await until('what was sent is final', async () => {
      const { PENDING: _waits, CONFIRMED: _done, ...open } = await cluster.database.countByState();
      return Object.keys(open).length === 0;
    });
    expect(await nonces()).toEqual(stopped);
    for (const node of [owner, next]) {
      expect((await node.service.get('/api/v1/stops')).body).toMatchObject({ items: [{ reason: what }] });
      expect((await node.service.get('/health/ready')).body).toMatchObject({ details: { signers: told } });
    }

    expect(await cluster.post('/api/v1/go', scope)).toMatchObject({ status: 204 });
    await cluster.expectExactlyOnce();
  },
);
