import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CRASH_POINTS, type CrashPoint } from '../../src/kernel/crash-points.js';
import { DEV_ACCOUNTS } from '../support/anvil.js';
import { Cluster } from '../support/cluster.js';

const COUNT = 20;

let cluster: Cluster;

beforeAll(async () => {
  cluster = await Cluster.start({ nodes: 2, viaProxies: true });
});

afterAll(() => cluster.stop());

/** What must be true on the two sides of each boundary, of the txs of one signer that had a nonce when the node died. */
const LEFT_BEHIND: Record<CrashPoint, { readonly states: string; readonly attempts: string; readonly sent: boolean }> =
  {
    after_allocate: { states: 'ALLOCATED', attempts: '', sent: false },
    after_sign: { states: 'ALLOCATED', attempts: '', sent: false },
    after_persist: { states: 'ALLOCATED', attempts: 'SIGNED', sent: false },
    after_broadcast: { states: 'ALLOCATED', attempts: 'SIGNED', sent: true },
    after_record: { states: 'IN_MEMPOOL', attempts: 'ACCEPTED', sent: true },
  };

async function leftBehind(signer: string): Promise<{ states: string; attempts: string; nonces: number }> {
  const [row] = await cluster.database.query<{ states: string; attempts: string; nonces: number }>(
    `SELECT coalesce(string_agg(DISTINCT t.state, ','), '') AS states, coalesce(string_agg(DISTINCT a.status, ','), '') AS attempts,
            count(DISTINCT t.nonce)::int AS nonces
       FROM managed_tx t LEFT JOIN tx_attempt a USING (tx_id) WHERE t.signer = $1 AND t.nonce IS NOT NULL`,
    [signer.toLowerCase()],
  );
  if (!row) throw new Error('an aggregate has a row');
  return row;
}

/*
 * The fault happened, because: the process ended by SIGKILL and nobody but itself sent it one; and what it left in the
 * database and on the wire is exactly what is true at that boundary and at no other (after_sign differs from
 * after_allocate in memory only).
 */
describe.each(CRASH_POINTS.map((point, index) => ({ point, index })))(
  'a node that dies at $point',
  ({ point, index }) => {
    it('loses nothing and doubles nothing: another node finishes what it left', async () => {
      const [crashing, other] = [cluster.node(0), cluster.node(1)];
      const signer = DEV_ACCOUNTS[index] ?? '';
      await crashing.stop();
      await crashing.start({ LOCKSTEP_CRASH_AT: point });
      // The other one stands still meanwhile, so that it is the crashing one that works.
      other.pause();
      const sentBefore = crashing.links.rpc.sent.length;
      const pid = crashing.service.pid;
      // A client that gets no answer asks again with the same requestId, until a node answers.
      const creates = cluster.createMany([signer], point, COUNT);
      expect(await crashing.service.exited).toEqual({ code: null, signal: 'SIGKILL' });
      const left = await leftBehind(signer);
      expect(left).toMatchObject({ states: LEFT_BEHIND[point].states, attempts: LEFT_BEHIND[point].attempts });
      expect(left.nonces).toBeGreaterThan(0);
      const delivered = crashing.links.rpc.sent.slice(sentBefore).map(({ raw }) => raw);
      expect(delivered.length > 0).toBe(LEFT_BEHIND[point].sent);

      other.resume();
      expect((await cluster.nextOwner(signer, crashing)).name).toBe(other.name);
      await crashing.start();
      await creates;
      expect(crashing.service.pid).not.toBe(pid);
      await cluster.expectExactlyOnce();
    });
  },
);
