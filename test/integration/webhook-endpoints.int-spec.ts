import { randomUUID } from 'node:crypto';
import { expect, it, jest } from '@jest/globals';
import { ANYONE, type CallerLimits, DEFAULT_ACCOUNT, limitedTo, NO_LIMITS } from '../../src/kernel/caller.js';
import type { Address } from '../../src/kernel/hex.js';
import { PgCallbackEndpoints } from '../../src/modules/requests/infrastructure/pg-callback-endpoints.js';
import { aSigner } from '../support/builders.js';
import { storedRows } from '../support/stored-rows.js';
import { until } from '../support/until.js';
import { WebhookLab } from '../support/webhook-lab.js';

const lab = new WebhookLab(await storedRows());
const { endpoints } = lab;
const NOBODY = '00000000-0000-7000-8000-000000000000';

it('an endpoint is stored with its filters, and is listed newest first', async () => {
  const ids = ['01', '02', '03'].map((end) => `01900000-0000-7000-8000-0000000000${end}`);
  for (const id of ids)
    await lab.endpoint({ id, types: ['tx.failed'], chainIds: [1, 7], signers: [aSigner().address] });
  expect(await endpoints.find(ids[0] ?? '', ANYONE)).toMatchObject({
    types: ['tx.failed'],
    chainIds: [1, 7],
    signers: [aSigner().address],
    disabled: null,
    failingSince: null,
  });
  expect((await endpoints.list(null, 2, ANYONE)).map(({ id }) => id)).toEqual([ids[2], ids[1]]);
  expect((await endpoints.list(ids[1] ?? '', 2, ANYONE)).map(({ id }) => id)).toEqual([ids[0]]);
});

it('an account has no more endpoints than it may, however many are made at once; those of others, and deleted ones, do not count', async () => {
  const [account, other] = [randomUUID(), randomUUID()];
  for (const [index, id] of [account, other].entries())
    await lab.stored.put('account', { account_id: id, name: `a-${index}` });
  await lab.endpoint({ account: other });
  const add = (): Promise<unknown> =>
    endpoints.add({ ...lab.newEndpoint(), account }, 2, { name: 'somebody', account });
  const added = await Promise.all(Array.from({ length: 6 }, add));
  expect(added.filter((endpoint) => endpoint !== null)).toHaveLength(2);
  const [first] = await endpoints.list(null, 9, { ...ANYONE, account });
  await endpoints.remove(first?.id ?? '', { ...ANYONE, account });
  expect([(await add()) === null, (await add()) === null]).toEqual([false, true]);
});

it('a change leaves the rest as it is, also what another node changes at the same time', async () => {
  const id = await lab.endpoint({ description: 'ledger', types: ['tx.failed'] });
  const session = await lab.stored.lab.session();
  await session.run('BEGIN');
  await session.run(`UPDATE webhook_endpoint SET url = 'https://b.example/'`);
  const change = endpoints.change(id, { callbackOnly: true }, ANYONE);
  await until('it waits for the other change', async () => {
    const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    return (await lab.stored.read(waiting)).length > 0;
  });
  await session.run('COMMIT');
  await change;
  expect(await endpoints.change(id, { types: null }, ANYONE)).toMatchObject({
    url: 'https://b.example/',
    description: 'ledger',
    types: null,
    callbackOnly: true,
  });
  expect(await endpoints.change(NOBODY, {}, ANYONE)).toBeNull();
});

it('a disabled endpoint says since when and why, and is fresh when it is enabled again', async () => {
  const [id, neighbour] = [await lab.endpoint(), await lab.endpoint()];
  await endpoints.setFailing(id, true);
  await lab.run(
    `UPDATE webhook_endpoint SET failing_since = failing_since - interval '1 hour' WHERE failing_since IS NOT NULL`,
  );
  const failing = await endpoints.find(id, ANYONE);
  await endpoints.setFailing(id, true);
  expect((await endpoints.find(id, ANYONE))?.failingSince).toEqual(failing?.failingSince);
  await endpoints.disable(id, 'gone');
  await endpoints.disable(id, 'another reason');
  expect(await endpoints.find(id, ANYONE)).toMatchObject({ disabled: { reason: 'gone' } });
  expect(await endpoints.change(id, { description: 'x' }, ANYONE)).toMatchObject({ disabled: { reason: 'gone' } });
  expect(await endpoints.change(id, { enabled: true }, ANYONE)).toMatchObject({ disabled: null, failingSince: null });
  expect((await endpoints.change(id, { enabled: false }, ANYONE))?.disabled?.reason).toBe('disabled by PATCH');
  expect(await endpoints.find(neighbour, ANYONE)).toMatchObject({ disabled: null, failingSince: null });
  await endpoints.setFailing(neighbour, true);
  expect((await endpoints.change(neighbour, { enabled: true }, ANYONE))?.failingSince).not.toBeNull();
  await endpoints.setFailing(neighbour, false);
  expect((await endpoints.find(neighbour, ANYONE))?.failingSince).toBeNull();
});

it('after a rotation both secrets sign until the old one ends', async () => {
  const [id, neighbour] = [await lab.endpoint({ secret: 'one' }), await lab.endpoint({ secret: 'other' })];
  expect((await endpoints.rotateSecret(id, 'two', 60_000, ANYONE))?.previousSecretUntil).not.toBeNull();
  expect(await endpoints.secretsOf(id)).toEqual(['two', 'one']);
  expect(await endpoints.secretsOf(neighbour)).toEqual(['other']);
  await endpoints.rotateSecret(id, 'three', 0, ANYONE);
  expect(await endpoints.secretsOf(id)).toEqual(['three']);
  expect(await endpoints.rotateSecret(NOBODY, 'x', 0, ANYONE)).toBeNull();
});

it('a rotation that is repeated because its answer was lost ends no secret early: receivers have the first one', async () => {
  const id = await lab.endpoint({ secret: 'one' });
  await endpoints.rotateSecret(id, 'two', 86_400_000, ANYONE);
  const until = (await endpoints.rotateSecret(id, 'three', 60_000, ANYONE))?.previousSecretUntil;
  expect(await endpoints.secretsOf(id)).toEqual(['three', 'two', 'one']);
  expect(until?.getTime()).toBeGreaterThan(Date.now() + 80_000_000);
  await lab.run(`UPDATE webhook_endpoint SET previous_secret_ends[1] = now()`);
  expect(await endpoints.secretsOf(id)).toEqual(['three', 'one']);
});

it('five previous secrets sign at most; a further rotation waits for the end of the first, or ends them all', async () => {
  const [id, neighbour] = [await lab.endpoint({ secret: '0' }), await lab.endpoint({ secret: 'other' })];
  for (const n of [1, 2, 3, 4, 5]) await endpoints.rotateSecret(id, `${n}`, n * 60_000, ANYONE);
  const refused = await endpoints.rotateSecret(id, '6', 60_000, ANYONE).catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: 'too_many_secrets', kind: 'conflict', retryable: true });
  expect(refused).toHaveProperty('retryAfterSeconds', expect.closeTo(60, -1));
  expect(await endpoints.secretsOf(id)).toEqual(['5', '4', '3', '2', '1', '0']);
  expect(await endpoints.rotateSecret(neighbour, 'x', 60_000, ANYONE)).not.toBeNull();
  await lab.run(`UPDATE webhook_endpoint SET previous_secret_ends[5] = now() WHERE secret = '5'`);
  await endpoints.rotateSecret(id, '6', 60_000, ANYONE);
  expect(await endpoints.secretsOf(id)).toEqual(['6', '5', '4', '3', '2', '1']);
  expect((await endpoints.rotateSecret(id, '7', 0, ANYONE))?.previousSecretUntil).toBeNull();
  expect(await endpoints.secretsOf(id)).toEqual(['7']);
});

it('a deleted endpoint is not there any more', async () => {
  const [id, neighbour] = [await lab.endpoint(), await lab.endpoint()];
  expect(await endpoints.remove(id, ANYONE)).toBe(true);
  expect(await endpoints.remove(id, ANYONE)).toBe(false);
  expect([await endpoints.find(id, ANYONE), await endpoints.secretsOf(id)]).toEqual([null, []]);
  expect([await endpoints.change(id, {}, ANYONE), await endpoints.rotateSecret(id, 'x', 0, ANYONE)]).toEqual([
    null,
    null,
  ]);
  expect((await endpoints.list(null, 9, ANYONE)).map(({ id: left }) => left)).toEqual([neighbour]);
});

it('a request can name an endpoint that is there, also a disabled one', async () => {
  const callbacks = new PgCallbackEndpoints(lab.database);
  const [id, disabled, deleted] = [await lab.endpoint(), await lab.endpoint(), await lab.endpoint()];
  await endpoints.disable(disabled, 'test');
  await endpoints.remove(deleted, ANYONE);
  const asked = [id, disabled, deleted, NOBODY].map((endpointId) => ({ endpointId, account: DEFAULT_ACCOUNT }));
  const byOther = { endpointId: id, account: NOBODY };
  expect(await callbacks.exist([...asked, byOther, { endpointId: id, account: DEFAULT_ACCOUNT }])).toEqual([
    ...[true, true, false, false],
    ...[false, true],
  ]);
});

const PUT_OFF = `
  INSERT INTO webhook_delivery (endpoint_id, xid, seq, part, tx_id, type, body, event_at, due_at, give_up_at)
  SELECT e.endpoint_id, '7', n, 0, gen_random_uuid(), 'tx.submitted', '{}', now(), now() + interval '1 day', now() + interval '3 days'
    FROM webhook_endpoint e, generate_series(1, 2500) n`;
const putOff = () =>
  lab.stored.read(
    `SELECT endpoint_id, count(*)::int AS count FROM webhook_delivery WHERE due_at > now() GROUP BY 1 ORDER BY 1`,
  );

it('what the receiver at an old URL has put off is due when the URL changes, however much waits, and of no other endpoint', async () => {
  await lab.stored.putTx(1);
  const [id, neighbour] = [await lab.endpoint(), await lab.endpoint()];
  await lab.run(PUT_OFF);
  await endpoints.change(id, { url: 'https://example.com/', description: 'the same URL' }, ANYONE);
  expect(await putOff()).toHaveLength(2);
  await endpoints.change(id, { url: 'https://other.example/' }, ANYONE);
  expect(await putOff()).toEqual([{ endpoint_id: neighbour, count: 2_500 }]);
});

it.each([
  ['the next one', (id: string) => endpoints.change(id, { url: 'https://other.example/' }, ANYONE)],
  ['itself', () => endpoints.completeChanges(10)],
])(
  'a change of the URL that failed half-way is completed by %s, and then the same URL makes nothing due',
  async (_by, complete) => {
    await lab.stored.putTx(1);
    const id = await lab.endpoint();
    await lab.run(PUT_OFF);
    const query = jest.spyOn(lab.database, 'query');
    try {
      query.mockRejectedValueOnce(new Error('statement timeout'));
      await expect(endpoints.change(id, { url: 'https://other.example/' }, ANYONE)).rejects.toThrow(
        'statement timeout',
      );
    } finally {
      query.mockRestore();
    }
    expect(await endpoints.find(id, ANYONE)).toMatchObject({ url: 'https://other.example/' });
    expect(await putOff()).toEqual([{ endpoint_id: id, count: 2_500 }]);
    await complete(id);
    expect(await putOff()).toEqual([]);
    await lab.run(`UPDATE webhook_delivery SET due_at = now() + interval '1 day'`);
    await endpoints.change(id, { url: 'https://other.example/' }, ANYONE);
    await complete(id);
    expect(await putOff()).toHaveLength(1);
  },
);

it('whoever is limited sees and changes only endpoints whose filters are within the limits, and widens none', async () => {
  const [ours, theirs] = [aSigner(1), aSigner(2)];
  const { chainId } = ours;
  const filters: Record<string, { chainIds: number[] | null; signers: Address[] | null }> = {
    all: { chainIds: null, signers: null },
    chain: { chainIds: [chainId], signers: null },
    chains: { chainIds: [chainId, 7], signers: null },
    address: { chainIds: null, signers: [ours.address] },
    signer: { chainIds: [chainId], signers: [ours.address] },
    signers: { chainIds: [chainId], signers: [ours.address, theirs.address] },
    everywhere: { chainIds: [chainId, 7], signers: [ours.address] },
  };
  const ids: Record<string, string> = {};
  for (const [name, filter] of Object.entries(filters)) ids[name] = await lab.endpoint({ ...filter });
  const seen = async (only: CallerLimits): Promise<string[]> => {
    const viewer = { ...ANYONE, only };
    const listed = (await endpoints.list(null, 99, viewer)).map(({ id }) => id);
    for (const id of Object.values(ids)) expect((await endpoints.find(id, viewer)) !== null).toBe(listed.includes(id));
    return Object.keys(ids).filter((name) => listed.includes(ids[name] ?? ''));
  };
  const elsewhere = { ...ours, chainId: 7 };
  expect(await seen(NO_LIMITS)).toEqual(Object.keys(filters));
  expect(await seen(limitedTo(null, [chainId]))).toEqual(['chain', 'signer', 'signers']);
  expect(await seen(limitedTo([ours], null))).toEqual(['signer']);
  expect(await seen(limitedTo([ours, elsewhere], null))).toEqual(['signer', 'everywhere']);
  expect(await seen(limitedTo([ours, { ...theirs, chainId: 7 }], null))).toEqual(['signer']);
  const viewer = { ...ANYONE, only: limitedTo([ours], null) };
  const id = ids['signer'] ?? '';
  for (const change of [{ chainIds: null }, { signers: null }, { signers: [theirs.address] }, { chainIds: [7] }])
    await expect(endpoints.change(id, change, viewer)).rejects.toMatchObject({ code: 'outside_limits' });
  expect(await endpoints.find(id, ANYONE)).toMatchObject(filters['signer'] ?? {});
  expect(await endpoints.change(id, { description: 'mine' }, viewer)).toMatchObject({ description: 'mine' });
  expect(await endpoints.change(ids['all'] ?? '', { description: 'mine' }, viewer)).toBeNull();
  expect([await endpoints.remove(ids['all'] ?? '', viewer), await endpoints.remove(id, viewer)]).toEqual([false, true]);
});
