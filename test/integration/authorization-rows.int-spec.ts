import { beforeEach, describe, expect, it } from '@jest/globals';
import { parseHex } from '../../src/kernel/hex.js';
import type { SignerId } from '../../src/kernel/signer-id.js';
import { PgAuthorizationStore } from '../../src/modules/ledger/infrastructure/pg-authorization-store.js';
import { anAddress, aSigner, DEV_CHAIN } from '../support/builders.js';
import { storedRows, txIdOf } from '../support/stored-rows.js';
import { type Grant } from '../../src/modules/ledger/domain/authorization-store.js';

const stored = await storedRows();
const store = new PgAuthorizationStore(stored.node.database, { id: 'first' });

const [SENDER, A, B] = [aSigner(1), aSigner(2), aSigner(3)];
const TRIED = { next_resubmit_at: 'now()' };
const SIGNED = {
  chainId: 0n,
  address: anAddress(9),
  nonce: 7n,
  yParity: 1,
  r: parseHex('0x01'),
  s: parseHex('0x02'),
} as const;

/** A tx that wants authorizations, in the order given; those with a nonce are signed. */
async function putWanting(
  n: number,
  wanted: readonly { signer: SignerId; nonce?: number; row?: Record<string, string | number> }[] = [{ signer: A }],
  overrides: Record<string, string | number | null> = {},
): Promise<void> {
  const authorizationList = wanted.map(({ signer, nonce }) => ({
    chainId: '0',
    address: anAddress(9),
    authority: signer.address,
    ...(nonce !== undefined && { nonce: String(nonce), yParity: 0, r: '0x01', s: '0x02' }),
  }));
  await stored.putTx(n, { options: JSON.stringify({ speed: 'standard', authorizationList }), ...TRIED, ...overrides });
  for (const { signer, nonce, row } of wanted)
    await stored.put('tx_authorization', {
      tx_id: txIdOf(n),
      chain_id: DEV_CHAIN,
      authority: signer.address,
      created_at: `now() + interval '${n} seconds'`,
      ...(nonce !== undefined && { nonce, granted_at: 'now()' }),
      ...row,
    });
}

const openOf = (...signers: readonly SignerId[]) => store.open(DEV_CHAIN, signers);
const ids = async (...signers: readonly SignerId[]) => (await openOf(...signers)).map(({ txId }) => txId);
const stages = async () => (await openOf(A)).map(({ stage }) => stage);
const isReady = async (signer = A) => (await openOf(signer)).map((grant) => grant.isReady);
const pause = (signer: SignerId) =>
  stored.put('signer_pause', { chain_id: DEV_CHAIN, signer: signer.address, by: 'somebody' });

const expire = ({ address }: SignerId): Promise<unknown> =>
  stored.read(`UPDATE signer_lease SET expires_at = now() WHERE signer = '${address}'`);

async function theGrant(): Promise<Grant> {
  const [grant] = await openOf(A);
  if (!grant) throw new Error('there is no grant');
  return grant;
}

const row = async () =>
  (
    await stored.read<{ options: { authorizationList: unknown[] }; version: number; due: boolean }>(
      'SELECT options, version, next_resubmit_at <= clock_timestamp() AS due FROM managed_tx ORDER BY tx_id LIMIT 1',
    )
  )[0];

/** Live nodes act for all. */
const act = () =>
  stored.node.leases.acquire(stored.node.id, [SENDER, A, B], { durationMs: 3_600_000, clockSkewAllowanceMs: 0 });
beforeEach(act);

describe('what an authority has to do', () => {
  it('is what it signed, and what it is to sign, as it is stored', async () => {
    await putWanting(1);
    await putWanting(2, [{ signer: A, nonce: 7, row: { tries: 2 } }]);
    await putWanting(3, [{ signer: B }]);
    const target = { chainId: 0n, address: anAddress(9) };
    expect(await openOf(A)).toEqual([
      expect.objectContaining({ txId: txIdOf(1), signer: A, sender: SENDER, stage: 'wanted', target, nonce: null }),
      expect.objectContaining({ txId: txIdOf(2), stage: 'open', nonce: 7n, tries: 2 }),
    ]);
    expect(await ids(B, A)).toEqual([txIdOf(1), txIdOf(2), txIdOf(3)]);
  });

  it('is not yet what no lane has come to, or what pauses', async () => {
    await putWanting(1, [{ signer: A }], { next_resubmit_at: null });
    await putWanting(2, [{ signer: A, row: { due_at: `now() + interval '1 minute'` } }]);
    expect(await ids(A)).toEqual([]);
  });

  it.each([
    ['its tx', SENDER],
    ['it', A],
  ])('is not to sign while the signer of %s is paused', async (_, paused) => {
    await putWanting(1);
    await putWanting(2, [{ signer: A, nonce: 7 }]);
    await pause(paused);
    expect(await ids(A)).toEqual([txIdOf(2)]);
  });

  it.each([
    ['another authority of its tx is paused', () => pause(B)],
    ['no live node acts for another authority of its tx', () => expire(B)],
    ['no live node acts for its sender', () => expire(SENDER)],
  ])('is not to sign while %s', async (_, trouble) => {
    await putWanting(1, [{ signer: A }, { signer: B }]);
    expect(await ids(A)).toEqual([txIdOf(1)]);
    await trouble();
    expect(await ids(A)).toEqual([]);
  });

  it('is to sign for a tx whose other authority has signed, although that one is paused by now', async () => {
    await putWanting(1, [{ signer: A }, { signer: B, nonce: 3 }]);
    await pause(B);
    expect(await ids(A)).toEqual([txIdOf(1)]);
  });

  it.each(['INSUFFICIENT_FUNDS', 'FEE_CAPPED', 'NODE_REFUSED', 'NODE_UNAVAILABLE'])(
    'is not to sign for a tx that waits for another reason: %s',
    async (subState) => {
      await putWanting(1, [{ signer: A }], { sub_state: subState });
      expect(await ids(A)).toEqual([]);
    },
  );

  it('is not to sign for a tx behind one that its sender cannot pay', async () => {
    await stored.putTx(1, { sub_state: 'INSUFFICIENT_FUNDS', next_resubmit_at: `now() + interval '1 minute'` });
    await putWanting(2);
    await putWanting(3, [{ signer: A }], { priority: 1 });
    expect(await ids(A)).toEqual([txIdOf(3)]);
    // It is looked at again, and what is behind it, too.
    await stored.read(`UPDATE managed_tx SET next_resubmit_at = now()`);
    expect(await ids(A)).toEqual([txIdOf(2), txIdOf(3)]);
  });

  it('is the oldest ten of many', async () => {
    for (let n = 12; n > 0; n -= 1) await putWanting(n);
    expect(await ids(A)).toEqual(Array.from({ length: 10 }, (_, n) => txIdOf(n + 1)));
  });
});

describe('an authorization', () => {
  const signed = [{ signer: A, nonce: 7 }];

  it.each([
    ['open', 'ALLOCATED', {}],
    ['open', 'IN_MEMPOOL', {}],
    ['open', 'PENDING', {}],
    ['mined', 'MINED', {}],
    ['mined', 'MINED', { closing: '{"as":"CANCELLED","reason":"cancelled","won":false}' }],
    ['open', 'MINED', { closing: '{"as":"CANCELLED","reason":"cancelled","won":true}' }],
    ['ended', 'CONFIRMED', {}],
    ['ended', 'FAILED', {}],
    ['ended', 'REPLACED', { replaced_by: txIdOf(99) }],
    ['ended', 'PENDING', { options: '{"speed":"standard"}' }],
  ])('is %s while its tx is %s %j', async (stage, state, overrides) => {
    await putWanting(1, signed, { state, gas_limit: 1, ...overrides });
    expect(await stages()).toEqual([stage]);
  });

  it('is overdue when its tx has no nonce after 30 seconds', async () => {
    await putWanting(1, [{ signer: A, nonce: 7, row: { granted_at: `now() - interval '29 seconds'` } }]);
    await putWanting(2, [{ signer: A, nonce: 8, row: { granted_at: `now() - interval '31 seconds'` } }]);
    expect(await stages()).toEqual(['open', 'overdue']);
  });

  it.each(['INSUFFICIENT_FUNDS', 'FEE_CAPPED', 'POLICY_HELD', 'ACCOUNT_STOPPED'])(
    'is overdue at once when its tx cannot go: %s',
    async (subState) => {
      await putWanting(1, signed, { sub_state: subState });
      await putWanting(2, [{ signer: A, nonce: 8 }], { sub_state: 'SIMULATION_REVERTED' });
      await putWanting(3, [{ signer: A, nonce: 9 }], { state: 'IN_MEMPOOL', sub_state: 'FEE_CAPPED', gas_limit: 1 });
      expect(await stages()).toEqual(['overdue', 'open', 'open']);
    },
  );

  it('is overdue at once when the signer of its tx is paused, or cannot pay for what is before it', async () => {
    await putWanting(2, signed);
    await stored.putTx(1, { sub_state: 'INSUFFICIENT_FUNDS', next_resubmit_at: `now() + interval '1 minute'` });
    expect(await stages()).toEqual(['overdue']);
    await stored.read(`UPDATE managed_tx SET sub_state = NULL`);
    expect(await stages()).toEqual(['open']);
    await pause(SENDER);
    expect(await stages()).toEqual(['overdue']);
  });

  describe('of a tx in flight', () => {
    const flying = (minutes: number, overrides = {}) =>
      putWanting(1, [{ signer: A, nonce: 7, row: { granted_at: `now() - interval '${minutes} minutes'` } }], {
        state: 'IN_MEMPOOL',
        gas_limit: 1,
        ...overrides,
      });

    const CANCELLING = '{"as":"CANCELLED","reason":"cancelled","won":false}';
    /** Its time ended so many minutes ago. */
    const over = (minutes: number) => ({ expires_at: `now() - interval '${minutes} minutes'` });
    /** A payload of its signer that waits for its turn. */
    const putWaiting = () => stored.putTx(6, { signer: A.address, ...TRIED });

    it.each([
      ['nine minutes', 'open', 9, {}],
      ['eleven minutes', 'in_the_way', 11, {}],
      ['an hour', 'in_the_way', 60, over(-6)],
      ['an hour, and expired long ago', 'open', 60, over(60)],
      ['an hour, and is being cancelled', 'open', 60, { closing: CANCELLING }],
      ['an hour, and is being replaced', 'open', 60, { replaced_by: txIdOf(99) }],
      ['an hour, and rests for what replaces it', 'open', 60, { sub_state: 'REPLACING' }],
    ])('that is there for %s is %s when a payload of its signer could go on', async (_, stage, minutes, overrides) => {
      await flying(minutes, overrides);
      expect(await stages()).toEqual(['open']);
      await stored.putTx(5, { signer: A.address, sub_state: 'NODE_REFUSED', ...TRIED });
      await putWanting(7, [{ signer: B }], { signer: A.address });
      await stored.putTx(8, { signer: A.address });
      expect(await stages()).toEqual(['open']);
      await putWaiting();
      expect(await stages()).toEqual([stage]);
      const parked = { sub_state: 'INSUFFICIENT_FUNDS', next_resubmit_at: `now() + interval '1 minute'` };
      await stored.putTx(4, { signer: A.address, ...parked });
      expect(await stages()).toEqual(['open']);
      await stored.read(`DELETE FROM managed_tx WHERE tx_id = '${txIdOf(4)}'`);
      await pause(A);
      expect(await stages()).toEqual(['open']);
    });

    it('is in the way of another one, which can go', async () => {
      await flying(60);
      await putWanting(2);
      expect(await stages()).toEqual(['in_the_way', 'wanted']);
      await stored.read(`UPDATE managed_tx SET sub_state = 'FEE_CAPPED' WHERE state = 'PENDING'`);
      expect(await stages()).toEqual(['open']);
    });

    const expire = async (known: Partial<Grant> = {}) => {
      const grant = { ...(await theGrant()), ...known };
      await stored.fenced([A], (fence) => store.expire(fence, grant));
    };

    it.each([
      ['without an end', null, true],
      ['with a later one', `now() + interval '1 hour'`, true],
      ['that has expired already', `now() - interval '1 minute'`, false],
    ])('ends the time of one %s, and of no copy that was read', async (_, expires_at, isChanged) => {
      await putWaiting();
      await flying(11, { expires_at, close_due_at: expires_at && `now() + interval '10 seconds'` });
      await expire();
      expect(
        await stored.read(
          `SELECT expires_at <= now() AS over, close_due_at IS NULL AS due, version FROM managed_tx WHERE state = 'IN_MEMPOOL'`,
        ),
      ).toEqual([{ over: true, due: isChanged, version: 0 }]);
      const events = await stored.read('SELECT reason, from_state, to_state, node_id, detail FROM tx_event');
      const detail = { authority: A.address, authorization: 'expired' };
      const said = { reason: 'updated', from_state: 'IN_MEMPOOL', to_state: 'IN_MEMPOOL', node_id: 'first', detail };
      expect(events).toEqual(isChanged ? [said] : []);
    });

    it.each([
      ['is mined', { state: 'MINED' }, {}],
      ['waits again', { state: 'PENDING' }, {}],
      ['has another signature', {}, { nonce: 8n }],
      ['has none any more', {}, { id: '80000000-0000-4000-8000-000000000001' }],
    ])('does not end the time of one that %s', async (_, overrides, known) => {
      await flying(11, overrides);
      await putWaiting();
      await expire(known);
      expect(await stored.read('SELECT DISTINCT expires_at FROM managed_tx')).toEqual([{ expires_at: null }]);
    });

    it('does not end the time of one that is in nobody’s way any more', async () => {
      await flying(11);
      await expire();
      expect(await stored.read('SELECT expires_at FROM managed_tx')).toEqual([{ expires_at: null }]);
    });
  });

  it('that nobody signed ends with its tx, also when that is in flight without it', async () => {
    await putWanting(1, [{ signer: A }], { state: 'CANCELLED' });
    await putWanting(2, [{ signer: A }], { state: 'ALLOCATED', gas_limit: 1 });
    expect(await stages()).toEqual(['ended', 'ended']);
  });
});

describe('an authority signs', () => {
  it('when nothing of it is in flight', async () => {
    await putWanting(1);
    await stored.putTx(8, { state: 'PENDING', signer: A.address });
    await stored.putTx(9, { state: 'MINED', signer: A.address, gas_limit: 1 });
    expect(await isReady()).toEqual([true]);
    await stored.putTx(10, { state: 'IN_MEMPOOL', signer: A.address, gas_limit: 1 });
    expect(await isReady()).toEqual([false]);
  });

  it('when the tx of the one before is mined', async () => {
    await putWanting(1, [{ signer: A, nonce: 7 }], { state: 'IN_MEMPOOL', gas_limit: 1 });
    await putWanting(2);
    expect(await isReady()).toEqual([false, false]);
    await stored.read(
      `UPDATE managed_tx SET state = 'MINED', block_number = 1, block_hash = tx_hash, receipt = '{}' WHERE state = 'IN_MEMPOOL'`,
    );
    expect(await isReady()).toEqual([false, true]);
  });

  it('after those of the same tx with lower addresses, and when the others are idle', async () => {
    await putWanting(1, [{ signer: B }, { signer: A }]);
    expect([await isReady(A), await isReady(B)]).toEqual([[true], [false]]);
    await stored.putTx(9, { state: 'ALLOCATED', signer: B.address, gas_limit: 1 });
    expect(await isReady(A)).toEqual([false]);
  });

  it('after its own payload that others have signed for', async () => {
    await putWanting(1);
    await putWanting(2, [{ signer: B, nonce: 3 }], { signer: A.address });
    expect(await isReady()).toEqual([false]);
    await stored.read(`UPDATE managed_tx SET state = 'CANCELLED' WHERE signer = '${A.address}'`);
    expect(await isReady()).toEqual([true]);
  });
});

describe('a signature', () => {
  const grant = async () => {
    const wanted = await theGrant();
    return stored.fenced([A], (fence) => store.grant(fence, wanted, SIGNED, ''));
  };
  const withdraw = async (nonce = 7n) => {
    const signed = { ...(await theGrant()), nonce };
    return stored.fenced([A], (fence) => store.withdraw(fence, signed, 60_000));
  };
  const unsigned = (signer: SignerId) => ({ chainId: '0', address: anAddress(9), authority: signer.address });

  it('is written into the request beside the others, and the tx is due and has another version', async () => {
    await putWanting(1, [{ signer: A }, { signer: B }], { next_resubmit_at: `now() + interval '1 hour'` });
    expect(await grant()).toBe(true);
    expect(await row()).toMatchObject({
      options: {
        speed: 'standard',
        authorizationList: [{ ...unsigned(A), nonce: '7', yParity: 1, r: '0x01', s: '0x02' }, unsigned(B)],
      },
      version: 1,
      due: true,
    });
    expect(await theGrant()).toMatchObject({ stage: 'open', nonce: 7n });
    expect(await stored.read('SELECT reason, node_id, detail FROM tx_event')).toEqual([
      { reason: 'updated', node_id: 'first', detail: { authority: A.address, authorization: 'signed' } },
    ]);
  });

  it('is not written when something of the signer is in flight after all', async () => {
    await putWanting(1);
    const wanted = await theGrant();
    await stored.putTx(9, { state: 'ALLOCATED', signer: A.address, gas_limit: 1 });
    expect(await stored.fenced([A], (fence) => store.grant(fence, wanted, SIGNED, ''))).toBe(false);
    expect(await row()).toMatchObject({ version: 0 });
  });

  it('is not written twice, nor for a tx that was cancelled or replaced meanwhile', async () => {
    await putWanting(1);
    const wanted = await theGrant();
    const again = () => stored.fenced([A], (fence) => store.grant(fence, wanted, SIGNED, ''));
    await stored.read(`UPDATE managed_tx SET state = 'CANCELLED'`);
    expect(await again()).toBe(false);
    await stored.read(`UPDATE managed_tx SET state = 'PENDING', options = '{"speed":"standard"}'`);
    expect(await again()).toBe(false);
    await stored.clear();
    await act();
    await putWanting(1);
    expect([await grant(), await again()]).toEqual([true, false]);
  });

  it('is not written while another one on the same chain is, so that no two overlook each other', async () => {
    await putWanting(1);
    const wanted = await theGrant();
    const session = await stored.lab.session();
    await session.run('BEGIN');
    await session.run('SELECT pg_advisory_xact_lock(7250317, 7)');
    expect(await stored.fenced([A], (fence) => store.grant(fence, wanted, SIGNED, ''))).toBe(true);
    await stored.clear();
    await act();
    await putWanting(1);
    await session.run(`SELECT pg_advisory_xact_lock(7250317, ${DEV_CHAIN})`);
    expect(await grant()).toBe(false);
    await session.run('ROLLBACK');
    expect(await grant()).toBe(true);
  });

  it('is taken back, and then all signers of the tx pause', async () => {
    await putWanting(1, [{ signer: A, nonce: 7 }, { signer: B }]);
    expect(await withdraw(8n)).toBe(false);
    expect(await withdraw()).toBe(true);
    expect(await row()).toMatchObject({ options: { authorizationList: [unsigned(A), unsigned(B)] }, version: 1 });
    expect(await openOf(A, B)).toEqual([]);
    expect(await stored.read('SELECT nonce, tries FROM tx_authorization ORDER BY authority')).toEqual([
      { nonce: null, tries: 1 },
      { nonce: null, tries: 0 },
    ]);
  });

  it('is not taken back from a tx that has a nonce', async () => {
    await putWanting(1, [{ signer: A, nonce: 7 }], { state: 'ALLOCATED', gas_limit: 1 });
    expect(await withdraw()).toBe(false);
    expect(await theGrant()).toMatchObject({ stage: 'open', nonce: 7n });
  });

  it.each([
    ['CONFIRMED', 7n, true],
    ['CONFIRMED', 8n, false],
    ['IN_MEMPOOL', 7n, false],
    ['PENDING', 7n, false],
  ])('of a tx that is %s is forgotten with nonce %s: %s', async (state, nonce, isForgotten) => {
    await putWanting(1, [{ signer: A, nonce: 7 }], { state, gas_limit: 1 });
    const signed = { ...(await theGrant()), nonce };
    expect(await stored.fenced([A], (fence) => store.end(fence, signed))).toBe(isForgotten);
    expect((await openOf(A)).length).toBe(isForgotten ? 0 : 1);
  });
});

it('a postponed tx waits with all that is not signed', async () => {
  await putWanting(1, [{ signer: A }, { signer: B }]);
  await putWanting(2);
  const wanted = (await openOf(A))[0];
  if (wanted) await store.postpone(wanted, 60_000);
  expect(await ids(A, B)).toEqual([txIdOf(2)]);
});
