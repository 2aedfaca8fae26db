import { beforeEach, describe, expect, it } from '@jest/globals';
import { ANYONE } from '../../src/kernel/caller.js';
import { DEV_MNEMONIC } from '../../src/dev/dev-accounts.js';
import type { SignerId } from '../../src/kernel/signer-id.js';
import { ChangePolicy } from '../../src/modules/ops/application/change-policy.js';
import { ReadPolicies } from '../../src/modules/ops/application/read-policies.js';
import { type PolicyRules, SignerPolicies, StoredPolicies, toPolicy } from '../../src/modules/policies/index.js';
import { NonceLedger } from '../../src/modules/signers/index.js';
import { Database } from '../../src/platform/database/database.js';
import { pageOf } from '../../src/platform/http/page-cursor.js';
import { anAddress, aRequest } from '../support/builders.js';
import { makeWaitingDue, nodeLab } from '../support/node-lab.js';
import { gate } from '../support/gate.js';
import { RaceLab } from '../support/race-lab.js';
import { tagged } from '../support/send-faults.js';
import { until } from '../support/until.js';

/** No node here reads policies by itself: what it knows is what its gates read, or what it changed. */
const lab = nodeLab();
const races = new RaceLab(lab);

let version: number;

beforeEach(() => {
  version = 0;
});

async function set(rules: PolicyRules | null, by = lab.node, signer = by.signer()): Promise<void> {
  const policy = rules && toPolicy(rules);
  version = (await by.get(ChangePolicy).execute({ signer, policy, version, by: ANYONE })).stored?.version ?? -1;
}

const paying = (tag: number, value: bigint, overrides: Parameters<typeof lab.create>[1] = {}): Promise<string> =>
  lab.create(tag, { payload: { ...aRequest().payload, value, data: tagged(tag) }, ...overrides });

const END_LEASES = {
  name: 'test_end_leases',
  text: `UPDATE signer_lease SET expires_at = clock_timestamp() - interval '1 minute'`,
};

let statements = 0;

const rowsOf = async <Row extends object>(text: string): Promise<Row[]> =>
  (await lab.node.get(Database).query<Row>({ name: `test_rows_${(statements += 1)}`, text }, [])).rows;

describe('a policy that was set by the API', () => {
  it('holds where nonces are taken at nodes that have not heard of it, from the answer on', async () => {
    const [refused, allowed] = [await paying(1, 9n), await paying(2, 8n)];
    const owner = await lab.startNode();
    await set({ maxValue: '8' });
    expect(owner.get(SignerPolicies).present.of(owner.signer())).toEqual([]);
    await owner.step();
    expect(await owner.tx(refused)).toMatchObject({
      state: 'FAILED',
      nonce: null,
      failureReason: 'policy_refused: maxValue: maxValue is 8 wei, and it needs 9',
    });
    expect(await owner.tx(allowed)).toMatchObject({ state: 'IN_MEMPOOL', nonce: 0 });
  });

  it('gives no nonce after its answer to what it refuses, with creates at three nodes that take over from each other', async () => {
    const nodes = [lab.node, await lab.startNode(), await lab.startNode()] as const;
    const signer = lab.node.signer();
    const creating = async (tag: number): Promise<void> => {
      const request = aRequest({ signer, requestId: `many-${tag}` });
      const payload = { ...request.payload, value: BigInt(1 + (tag % 10)), data: tagged(tag) };
      const created = nodes[tag % 3]?.create({ ...request, payload });
      // By a node that has heard of the policy.
      await created?.catch((error: unknown) => expect(error).toMatchObject({ code: 'policy_refused' }));
    };
    const answers: { limit: bigint; atMs: number }[] = [];
    const narrowing = async (limit: bigint): Promise<void> => {
      await set({ maxValue: String(limit) }, nodes[Number(limit) % 3]);
      answers.push({ limit, atMs: Date.now() });
    };
    for (let round = 0; round < 9; round += 1) {
      const tags = Array.from({ length: 20 }, (_, index) => 20 * round + index);
      const stepping = nodes.map(async (node) => {
        for (let step = 0; step < 3; step += 1) await node.step();
      });
      await Promise.all([...tags.map(creating), ...stepping, narrowing(BigInt(9 - round))]);
      // The next owner is another node, which has an older policy in its memory.
      await lab.node.get(Database).query(END_LEASES, []);
      for (let step = 0; step < 3; step += 1) await nodes[(round + step) % 3]?.step();
    }
    const allocated = await rowsOf<{ value: string; at: Date }>(
      `SELECT t.value::text, e.created_at AS at FROM tx_event e JOIN managed_tx t USING (tx_id) WHERE e.reason = 'nonce_reserved'`,
    );
    for (const { limit, atMs } of answers)
      expect(allocated.filter(({ value, at }) => at.getTime() > atMs && BigInt(value) > limit)).toEqual([]);
    const after = (limit: bigint) => answers.find((answer) => answer.limit === limit)?.atMs ?? Infinity;
    // It has seen what it is about: nonces after an answer, of nodes that took over, and what was refused where its nonce is taken.
    expect(allocated.filter(({ at }) => at.getTime() > after(9n)).length).toBeGreaterThan(0);
    const failed = `SELECT count(*)::int AS count FROM managed_tx WHERE failure_reason LIKE 'policy_refused%'`;
    expect((await rowsOf<{ count: number }>(failed))[0]?.count).toBeGreaterThan(0);
  });

  it('is answered when the commits that were judged before it have ended, and not before', async () => {
    const owner = await lab.startNode();
    const txId = await paying(1, 9n);
    const [judged, go] = [gate(), gate()];
    const ledger = owner.get(NonceLedger);
    const hold = ledger.hold.bind(ledger);
    ledger.hold = async (...held) => {
      judged.open();
      await go.opened;
      return hold(...held);
    };
    const stepping = owner.step();
    await judged.opened;
    let isAnswered = false;
    const setting = set({ maxValue: '8' }).then(() => (isAnswered = true));
    const waiting = `SELECT count(*)::int AS count FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%FROM signer_lease%'`;
    const waits = async (): Promise<boolean> => (await rowsOf<{ count: number }>(waiting))[0]?.count === 1;
    try {
      await until('the answer waits, or is there', async () => isAnswered || (await waits()));
      expect([isAnswered, await lab.states([txId])]).toEqual([false, ['PENDING']]);
    } finally {
      go.open();
    }
    await setting;
    expect(await owner.tx(txId)).toMatchObject({ nonce: 0 });
    await stepping;
  });

  it('holds beside the one of the config, which it cannot widen', async () => {
    const policy = { maxValue: '8' };
    const node = await lab.startNode({
      signers: [{ type: 'mnemonic', phrase: DEV_MNEMONIC, count: 5, policy }],
    });
    await lab.node.releaseLeases();
    const ids = [await paying(1, 9n), await paying(2, 8n), await paying(3, 7n)];
    await set({ maxValue: '1000' });
    await node.step();
    expect(await lab.states(ids)).toEqual(['FAILED', 'IN_MEMPOOL', 'IN_MEMPOOL']);
    const more = [await paying(4, 8n), await paying(5, 7n)];
    await set({ maxValue: '7' });
    await node.step();
    expect(await lab.states(more)).toEqual(['FAILED', 'IN_MEMPOOL']);
  });

  it('is read again by a node whose memory is of a database that lost its last commits', async () => {
    const txId = await paying(1, 6n);
    await set({ maxValue: '5' });
    await lab.node.get(Database).query({ name: 'test_lose', text: 'DELETE FROM signer_policy' }, []);
    await lab.node.step();
    expect(await lab.states([txId])).toEqual(['IN_MEMPOOL']);
    expect(lab.node.get(SignerPolicies).present.of(lab.node.signer())).toEqual([]);
  });

  it('refuses an authorization of the signer at a node that has not heard of it', async () => {
    const owner = await lab.startNode();
    const authority = owner.signer(1);
    const authorizationList = [
      { chainId: BigInt(authority.chainId), address: anAddress(0xc0de), authority: authority.address },
    ];
    const payload = { ...aRequest().payload, value: 1n, data: tagged(1), authorizationList };
    await lab.create(1, { payload });
    await owner.step(owner.signer(), authority);
    await set({}, lab.node, authority);
    await owner.authorizations();
    const signed = 'SELECT count(nonce)::int AS signed FROM tx_authorization';
    expect(await rowsOf(signed)).toEqual([{ signed: 0 }]);
    await set({ authorizations: true }, lab.node, authority);
    await owner.get(SignerPolicies).refresh();
    await makeWaitingDue(owner);
    await owner.step(owner.signer(), authority);
    await owner.authorizations();
    expect(await rowsOf(signed)).toEqual([{ signed: 1 }]);
  });

  it('refuses a replacement at a node that has not heard of it, also one that was priced before', async () => {
    const owner = await lab.startNode();
    const original = await paying(1, 5n);
    await owner.step();
    const payload = { ...aRequest().payload, value: 9n, data: tagged(2) };
    const { replacement } = await races.replace(original, 2, { payload }, owner);
    await set({ maxValue: '8' });
    await owner.commands();
    expect(await lab.states([replacement ?? ''])).toEqual(['PENDING']);
    await owner.commands();
    expect(await owner.tx(replacement ?? '')).toMatchObject({
      state: 'DROPPED',
      failureReason: expect.stringContaining('maxValue is 8 wei'),
    });
    expect(await lab.states([original])).toEqual(['IN_MEMPOOL']);
  });
});

describe('the daily amounts', () => {
  it('keep what is spent and reserved when they change, and what they held is judged again', async () => {
    await set({ dailyValue: '100' });
    const [sent, held] = [await paying(1, 60n), await paying(2, 50n)];
    await lab.node.step();
    expect(await lab.states([sent, held])).toEqual(['IN_MEMPOOL', 'PENDING']);
    expect(await lab.node.tx(held)).toMatchObject({ subState: 'POLICY_HELD' });
    await set({ dailyValue: '109' });
    await lab.node.step();
    expect(await lab.states([held])).toEqual(['PENDING']);
    await set({ dailyValue: '110' });
    // Without waiting for its timer.
    await lab.node.step();
    expect(await lab.states([held])).toEqual(['IN_MEMPOOL']);
    const over = await paying(3, 1n);
    await lab.node.step();
    expect(await lab.states([over])).toEqual(['PENDING']);
  });

  it('refuse what they held when they can never have room for it, and free it when they are withdrawn', async () => {
    await set({ dailyValue: '100' });
    const ids = [await paying(1, 60n), await paying(2, 50n), await paying(3, 45n)];
    await lab.node.step();
    expect(await lab.states(ids)).toEqual(['IN_MEMPOOL', 'PENDING', 'PENDING']);
    await set({ dailyValue: '49' });
    await lab.node.step();
    expect(await lab.states(ids)).toEqual(['IN_MEMPOOL', 'FAILED', 'PENDING']);
    await set(null);
    await lab.node.step();
    expect(await lab.states(ids)).toEqual(['IN_MEMPOOL', 'FAILED', 'IN_MEMPOOL']);
  });

  it('count what was in flight before they were set', async () => {
    await paying(1, 60n);
    await lab.node.step();
    await set({ dailyValue: '100' });
    const [held, fits] = [await paying(2, 41n), await paying(3, 40n)];
    await lab.node.step();
    expect(await lab.states([held, fits])).toEqual(['PENDING', 'IN_MEMPOOL']);
  });

  it('that only report hold nothing', async () => {
    await set({ dailyValue: '1', maxValue: '1', dryRun: true });
    const ids = [await paying(1, 60n), await paying(2, 60n)];
    await lab.node.step();
    expect(await lab.states(ids)).toEqual(['IN_MEMPOOL', 'IN_MEMPOOL']);
  });
});

describe('the versions of a policy', () => {
  const change = (seen: number, maxValue: bigint | null, signer?: SignerId) =>
    lab.node.get(StoredPolicies).change({
      signer: signer ?? lab.node.signer(),
      policy: maxValue === null ? null : toPolicy({ maxValue }),
      version: seen,
      by: { ...ANYONE, name: 'key:1' },
    });

  it('are changed by one of those who have seen the same one', async () => {
    const changes = await Promise.all([1n, 2n, 3n, 4n].map((value) => change(0, value)));
    expect(changes.map(({ kind }) => kind).toSorted()).toEqual(['changed', ...Array(3).fill('other_version')]);
    expect(await change(0, 5n)).toEqual({ kind: 'other_version', version: 1 });
    expect(await change(2, 5n)).toEqual({ kind: 'other_version', version: 1 });
    expect(await change(1, 5n)).toMatchObject({ kind: 'changed', stored: { version: 2, changedBy: 'key:1' } });
    expect(await rowsOf(`SELECT count(*)::int AS count FROM audit_entry`)).toEqual([{ count: 2 }]);
  });

  it('are counted after what another writer is about to commit', async () => {
    const { chainId, address } = lab.node.signer();
    const insert = `INSERT INTO signer_policy (chain_id, signer, version, changed_by) VALUES (${chainId}, '${address}', 1, 'key:2')`;
    const waiting = await lab.node.get(Database).transaction(async (tx) => {
      await tx.query({ name: 'test_other_writer', text: insert }, []);
      const result = change(0, 1n).catch((error: unknown) => error);
      await until('it waits for the other writer', async () => {
        const waits = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
        return (await rowsOf(waits)).length > 0;
      });
      return { result };
    });
    expect(await waiting.result).toEqual({ kind: 'other_version', version: 1 });
  });

  it('are of one signer, which is known', async () => {
    await change(0, 1n);
    expect(await change(0, 2n, lab.node.signer(1))).toMatchObject({ kind: 'changed' });
    const stranger = { chainId: lab.node.signer().chainId, address: anAddress(0xdead) };
    expect(await change(0, 2n, stranger)).toEqual({ kind: 'unknown_signer' });
    const read = lab.node.get(ReadPolicies);
    await expect(read.find(stranger)).rejects.toMatchObject({ code: 'unknown_signer' });
    await expect(read.versions(stranger, null, 9)).rejects.toMatchObject({ code: 'unknown_signer' });
    expect(await read.find(lab.node.signer(1))).toMatchObject({ stored: { policy: { maxValue: 2n } } });
    expect(await read.find(lab.node.signer(2))).toMatchObject({ config: null, stored: null });
  });

  it('are all kept, and each has its entry in the audit log', async () => {
    await change(0, 1n);
    await change(1, null);
    await change(2, 3n);
    await change(0, 9n, lab.node.signer(1));
    const pages = async (before: number | null): Promise<unknown> =>
      (await lab.node.get(StoredPolicies).versions(lab.node.signer(), before, 2)).map(({ version: of, policy }) => [
        of,
        policy?.maxValue ?? null,
      ]);
    expect([await pages(null), await pages(2)]).toEqual([
      [
        [3, 3n],
        [2, null],
      ],
      [[1, 1n]],
    ]);
    const { chainId, address } = lab.node.signer();
    const entries = await rowsOf<object>(
      `SELECT actor, action, object, detail -> 'version' AS version FROM audit_entry WHERE object LIKE '%${address}' ORDER BY seq`,
    );
    const about = { actor: 'key:1', object: `signer:${chainId}:${address}` };
    expect(entries).toEqual([
      { ...about, action: 'setPolicy', version: 1 },
      { ...about, action: 'withdrawPolicy', version: 2 },
      { ...about, action: 'setPolicy', version: 3 },
    ]);
    await lab.node.get(SignerPolicies).refresh();
    expect(lab.node.get(SignerPolicies).present.find(lab.node.signer())).toMatchObject({
      stored: { version: 3, policy: { maxValue: 3n } },
    });
  });

  it('that two writers make at once are all seen by who reads after the last answer', async () => {
    for (let round = 0; round < 10; round += 1) {
      await Promise.all([0, 1, 2].map((index) => change(round, BigInt(round), lab.node.signer(index))));
      const { policies, mark } = await lab.node
        .get(Database)
        .transaction(async (tx) => ({ policies: await lab.node.get(SignerPolicies).at('newer', tx), mark: round + 1 }));
      expect([0, 1, 2].map((index) => policies.find(lab.node.signer(index)).stored?.version)).toEqual(
        Array(3).fill(mark),
      );
    }
  });

  it('are read by a node that knows some of them as far as they changed, and all of them where its last is not there any more', async () => {
    for (const index of [0, 1, 2]) await change(0, 1n, lab.node.signer(index));
    const stored = lab.node.get(StoredPolicies);
    const known = await stored.news('', null);
    const read = async (mark: string | undefined): Promise<unknown> => {
      const news = await stored.news(mark ?? '', null);
      return news && [news.isAll, news.newest.map(({ policy }) => policy?.maxValue).sort()];
    };
    expect([await read(''), await read('unread'), await read(known?.mark)]).toEqual([
      [true, [1n, 1n, 1n]],
      [true, [1n, 1n, 1n]],
      null,
    ]);
    await change(1, 2n, lab.node.signer(1));
    await change(2, 3n, lab.node.signer(1));
    await change(1, 4n, lab.node.signer(2));
    expect(await read(known?.mark)).toEqual([false, [3n, 4n]]);
    // The database lost the change that the node knew, and gave its number again.
    const [seq = '', at = ''] = known?.mark.split(' ') ?? [];
    expect([await read(`${seq} 0`), await read(`999 ${at}`)]).toEqual([
      [true, [1n, 3n, 4n]],
      [true, [1n, 3n, 4n]],
    ]);
  });

  it('are listed in pages of a megabyte', async () => {
    const to = Array.from({ length: 600 }, (_, index) => ({
      address: anAddress(index),
      selectors: Array.from({ length: 100 }, (_, n) => `0x1234${1_000 + n}`),
    }));
    const signer = lab.node.signer();
    for (const seen of [0, 1, 2])
      await lab.node.get(ChangePolicy).execute({ signer, policy: toPolicy({ to }), version: seen, by: ANYONE });
    await change(3, 1n);
    const found = await lab.node.get(StoredPolicies).versions(signer, null, 200);
    // One more than the page has, which says that there is another one.
    expect(found.map((one) => one.version)).toEqual([4, 3, 2]);
    const page = pageOf(
      found,
      200,
      (last) => `${last.version}`,
      ({ bytes }) => bytes,
    );
    expect([page.items.length, page.nextCursor]).toEqual([2, '3']);
  });
});
