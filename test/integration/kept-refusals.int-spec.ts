import { describe, expect, it, jest } from '@jest/globals';
import { parseHex } from '../../src/kernel/hex.js';
import { Log } from '../../src/platform/logging/log.js';
import { LOG_BEGINNING, type PublicEvent, TxHistory } from '../../src/modules/events/index.js';
import { ALL_EVENTS } from '../../src/modules/events/domain/event-filter.js';
import { PgEventReader } from '../../src/modules/events/infrastructure/pg-event-reader.js';
import type { NodeErrorClass } from '../../src/kernel/node-error-class.js';
import { TxQueries } from '../../src/modules/ledger/application/views/tx-views.js';
import { Database } from '../../src/platform/database/database.js';
import { makeWaitingDue, nodeLab } from '../support/node-lab.js';
import { RaceLab } from '../support/race-lab.js';
import { keptInSpite, onlyFor, refused, tagged } from '../support/send-faults.js';
import { until } from '../support/until.js';

/* A node that refuses bytes in words may have kept them. So only the chain ends what was sent (docs/invariants.md, I6 and I8). */

const lab = nodeLab();
const race = new RaceLab(lab);
const PAID = 1;

const REFUSALS = [
  ['intrinsic_gas_too_low', 'intrinsic gas too low'],
  ['oversized_data', 'oversized data'],
  ['gas_limit_exceeds_block', 'exceeds block gas limit'],
  ['insufficient_funds', 'insufficient funds for gas * price + value'],
  ['underpriced', 'transaction underpriced'],
] as const satisfies readonly (readonly [NodeErrorClass, string])[];

/** Each payload that was executed, by its tag, in the order of nonces; 0 is a no-op. */
function executed(): number[] {
  return lab.chain.minedTxs().map(({ data }) => (data === '0x' ? 0 : Number(data)));
}

describe.each(REFUSALS)('a payload that a node refuses as %s ("%s"), and keeps', (errorClass, words) => {
  function keep(): void {
    lab.chain.faults.broadcast = keptInSpite(lab.chain, PAID, refused(errorClass, words));
  }

  it('is CONFIRMED when it is mined, was never FAILED, and what comes later goes on', async () => {
    keep();
    const txId = await lab.sent(PAID);
    const later = [await lab.sent(2), await lab.sent(3)];
    await lab.live(2);
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'CONFIRMED', nonce: 0, failureReason: null });
    const [payload] = await lab.node.get(TxQueries).attempts(txId);
    expect(payload).toMatchObject({ kind: 'payload', status: 'MINED' });
    later.push(await lab.sent(4));
    await lab.live(2);
    expect(await lab.states(later)).toEqual(['CONFIRMED', 'CONFIRMED', 'CONFIRMED']);
    expect(executed()).toEqual([PAID, 2, 3, 4]);
    expect(await endsOf(txId)).toEqual(['confirmed']);
  });

  it.each<[string, (txId: string) => Promise<unknown>]>([
    ['its client cancelled it', (txId) => race.cancel(txId)],
    ['it expired', (txId) => expire(txId)],
  ])('is CONFIRMED although %s meanwhile', async (_what, end) => {
    keep();
    const txId = await lab.sent(PAID);
    await end(txId);
    await lab.node.commands();
    const later = await lab.sent(2);
    await lab.live(3);
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'CONFIRMED', nonce: 0, failureReason: null });
    expect(await lab.states([later])).toEqual(['CONFIRMED']);
    expect(executed()).toEqual([PAID, 2]);
    expect(await endsOf(txId)).toEqual(['confirmed']);
  });

  it('is CONFIRMED although its client replaced it meanwhile, and the replacement is never executed', async () => {
    keep();
    const txId = await lab.sent(PAID);
    const other = await race.replace(txId, 5).catch((error: unknown) => error);
    await lab.node.commands();
    const later = await lab.sent(2);
    await lab.live(3);
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'CONFIRMED', nonce: 0, failureReason: null });
    // Refused for good, its slot is being closed, and a replace is refused; else the two competed.
    if (other instanceof Error) expect(other).toMatchObject({ code: 'being_cancelled' });
    else {
      const { replacement } = other as Awaited<ReturnType<typeof race.replace>>;
      expect(await lab.node.tx(replacement ?? '')).toMatchObject({ state: 'DROPPED' });
    }
    expect(await lab.states([later])).toEqual(['CONFIRMED']);
    expect(executed()).toEqual([PAID, 2]);
    expect(await endsOf(txId)).toEqual(['confirmed']);
  });
});

describe('a payload that is refused for good, and that no node kept', () => {
  it('is REFUSED first, in its history and for its client, and FAILED with the words of the node only when the no-op is final', async () => {
    lab.chain.faults.broadcast = onlyFor(PAID, refused('oversized_data', 'oversized data'));
    const txId = await lab.sent(PAID);
    await lab.sent(2);
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'IN_MEMPOOL', subState: 'REFUSED' });
    await lab.mine();
    expect(await lab.states([txId])).toEqual(['MINED']);
    expect(await endsOf(txId)).toEqual([]);
    lab.chain.mineEmpty(2);
    await lab.node.follow();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'FAILED', failureReason: 'oversized data', nonce: 0 });
    const entries = await lab.node.get(TxHistory).of(txId);
    const refusedAt = entries.findIndex(({ detail }) => detail?.['subState'] === 'REFUSED');
    expect(entries[refusedAt]).toMatchObject({ reason: 'refused', toState: 'IN_MEMPOOL', error: 'oversized data' });
    expect(entries.map(({ reason }) => reason)).not.toContain('sent');
    expect(entries.slice(refusedAt + 1).map(({ reason }) => reason)).toEqual([
      'competitive_sent',
      'resubmitted',
      'mined',
      'failed',
    ]);
    const noOp = lab.chain.minedBy(lab.node.signer().address, 0n);
    expect(entries.at(-1)).toMatchObject({
      error: 'oversized data',
      txHash: noOp?.tx.hash,
      blockNumber: noOp?.block.number,
    });
    const told = await publicEvents(txId);
    expect(told.map(({ type }) => type)).toEqual([
      'tx.accepted',
      'tx.refused',
      'tx.receipt_updated',
      'tx.confirmations',
      'tx.failed',
    ]);
    expect(told[1]?.data).toMatchObject({ state: 'IN_MEMPOOL', reason: 'oversized data', becomes: 'FAILED' });
    expect(told.at(-1)?.data).toMatchObject({ state: 'FAILED', reason: 'oversized data', txHash: noOp?.tx.hash });
    expect(executed()).toEqual([0, 2]);
  });
});

describe('ten temporary refusals', () => {
  const FULL = refused('txpool_full', 'txpool is full');

  it('cost the payload its nonce, which a no-op uses, and it is executed once, with another one', async () => {
    lab.chain.faults.broadcast = ({ data }) => (data === tagged(PAID) ? FULL : undefined);
    const txId = await lab.sent(PAID);
    const later = await lab.sent(2);
    for (let round = 0; round < 8; round += 1) await lab.resubmit();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'ALLOCATED', subState: 'POOL_LIMIT', nonce: 0 });
    await lab.resubmit();
    const closing = { state: 'IN_MEMPOOL', subState: 'REFUSED', nonce: 0, failureReason: null };
    expect(await lab.node.tx(txId)).toMatchObject(closing);
    await expect(race.replace(txId, 5)).rejects.toMatchObject({ code: 'being_requeued' });
    await lab.resubmit();
    await lab.mine();
    expect(await lab.states([txId])).toEqual(['MINED']);
    await expect(race.replace(txId, 5)).rejects.toMatchObject({ code: 'being_requeued' });
    lab.chain.mineEmpty(2);
    await lab.node.follow();
    const waiting = await lab.node.tx(txId);
    expect(waiting).toMatchObject({
      state: 'PENDING',
      subState: 'NODE_REFUSED',
      lastError: 'refused 10 times: txpool is full',
      nonce: null,
      txHash: null,
      receipt: null,
      failureReason: null,
    });
    expect(Date.parse(waiting.nextResubmitAt ?? '')).toBeGreaterThan(Date.now());
    expect(await slotOf(0)).toEqual({ status: 'CONSUMED', tx_hash: null, tx_id: null });
    expect(executed()).toEqual([0, 2]);
    delete lab.chain.faults.broadcast;
    await lab.live(2);
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'CONFIRMED', nonce: 2, failureReason: null });
    expect(await lab.states([later])).toEqual(['CONFIRMED']);
    expect(executed()).toEqual([0, 2, PAID]);
    const said = (await publicEvents(txId)).filter(({ type }) => type === 'tx.refused');
    expect(said.map(({ data }) => data)).toMatchObject([
      { state: 'IN_MEMPOOL', nonce: 0, reason: 'refused 10 times: txpool is full', becomes: 'PENDING' },
    ]);
  });

  it('cost its nonce also where only one of its signer may be in flight: another one is tried', async () => {
    const node = await lab.startNode({ execution: { inFlightStart: 1 } });
    lab.chain.faults.broadcast = onlyFor(PAID, FULL);
    const [txId] = [await lab.create(PAID), await lab.create(2)];
    for (let round = 0; round < 10; round += 1) {
      await node.step();
      await lab.resubmit(node);
    }
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'IN_MEMPOOL', subState: 'REFUSED', nonce: 0 });
    await lab.resubmit(node);
    await lab.mine(node);
    expect(executed()).toEqual([0, 2]);
  });

  it('cost its nonce only by the rule of the chain, also where its client is content with fewer confirmations', async () => {
    lab.chain.faults.broadcast = onlyFor(PAID, FULL);
    const txId = await lab.create(PAID, { confirmations: 0 });
    await lab.node.step();
    await lab.sent(2);
    for (let round = 0; round < 10; round += 1) await lab.resubmit();
    await lab.mine();
    lab.chain.mineEmpty(1);
    await lab.node.follow();
    expect(await lab.states([txId])).toEqual(['MINED']);
    lab.chain.mineEmpty(1);
    await lab.node.follow();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'PENDING', subState: 'NODE_REFUSED' });
  });

  it('of a payload that a node kept, and that is mined in place of the no-op, end with its nonce', async () => {
    lab.chain.faults.broadcast = keptInSpite(lab.chain, PAID, refused('nonce_too_high', 'nonce too high'));
    const txId = await lab.sent(PAID);
    for (let round = 0; round < 9; round += 1) await lab.resubmit();
    await lab.live(3);
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'CONFIRMED', nonce: 0, failureReason: null });
    expect(executed()).toEqual([PAID]);
    expect(await endsOf(txId)).toEqual(['confirmed']);
  });

  it.each(['before', 'after'])(
    'and a cancel %s the no-op is mined end it CANCELLED, and it is never executed',
    async (when) => {
      lab.chain.faults.broadcast = onlyFor(PAID, FULL);
      const txId = await lab.sent(PAID);
      await lab.sent(2);
      for (let round = 0; round < 9; round += 1) await lab.resubmit();
      expect(await lab.node.tx(txId)).toMatchObject({ subState: 'REFUSED', failureReason: null });
      await lab.resubmit();
      if (when === 'after') await lab.mine();
      await race.cancel(txId);
      await lab.node.commands();
      delete lab.chain.faults.broadcast;
      await lab.live(3);
      expect(await lab.states([txId])).toEqual(['CANCELLED']);
      expect(await race.commandsOf(txId)).toMatchObject([{ status: 'DONE', refusal: null }]);
      expect(executed()).toEqual([0, 2]);
    },
  );

  it('survive a reorg that takes the no-op back: the payload may win, and is executed once', async () => {
    lab.chain.faults.broadcast = onlyFor(PAID, FULL);
    const txId = await lab.sent(PAID);
    await lab.sent(2);
    for (let round = 0; round < 10; round += 1) await lab.resubmit();
    await lab.mine();
    expect(await lab.states([txId])).toEqual(['MINED']);
    lab.chain.reorg(1, { drop: true });
    await lab.node.follow();
    expect(await lab.states([txId])).toEqual(['IN_MEMPOOL']);
    delete lab.chain.faults.broadcast;
    const payload = lab.chain.sent.find(({ data }) => data === tagged(PAID));
    await lab.resubmit();
    if (payload) lab.chain.force(payload);
    await lab.confirmAll();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'CONFIRMED', nonce: 0, failureReason: null });
    expect(executed()).toEqual([PAID, 2]);
  });

  it('survive a reorg deeper than finality: nothing is executed twice, and no nonce stays open', async () => {
    lab.chain.faults.broadcast = onlyFor(PAID, FULL);
    const txId = await lab.sent(PAID);
    const later = await lab.sent(2);
    for (let round = 0; round < 10; round += 1) await lab.resubmit();
    await lab.confirmAll();
    expect(await lab.states([txId])).toEqual(['PENDING']);
    lab.chain.reorg(3, { drop: true });
    await lab.node.follow();
    delete lab.chain.faults.broadcast;
    await lab.live(5);
    expect(await lab.states([txId, later])).toEqual(['CONFIRMED', 'CONFIRMED']);
    expect(
      executed()
        .filter((tag) => tag !== 0)
        .sort(),
    ).toEqual([PAID, 2]);
    expect(lab.chain.minedTxs().map(({ nonce }) => nonce)).toEqual(executed().map((_, index) => BigInt(index)));
  });
});

describe('a replacement that nodes refused, and kept, whose original lost its nonce to a no-op', () => {
  it.each([
    ['is mined: a person is told', true, [2, 3, PAID]],
    ['is not mined', false, [0, 3, PAID]],
  ])('stays FAILED after a reorg deeper than finality, in which it %s', async (_, isMined, mined) => {
    const refusalOf = new Map([
      [tagged(PAID), refused('txpool_full', 'txpool is full')],
      [tagged(2), refused('oversized_data', 'oversized data')],
    ]);
    lab.chain.faults.broadcast = ({ data }) => refusalOf.get(parseHex(data));
    const txId = await lab.sent(PAID);
    const replacement = await race.replacement(txId, 2);
    await lab.node.commands();
    const later = await lab.sent(3);
    for (let round = 0; round < 11; round += 1) await lab.resubmit();
    await lab.confirmAll();
    expect(await lab.states([txId, replacement, later])).toEqual(['PENDING', 'FAILED', 'CONFIRMED']);
    refusalOf.delete(tagged(PAID));
    await makeWaitingDue(lab.node);
    await lab.node.step();
    await lab.mine();
    const errors = jest.spyOn(lab.node.get(Log), 'error');
    lab.chain.reorg(4, { drop: isMined });
    const kept = lab.chain.sent.find(({ data }) => data === tagged(2));
    if (isMined && kept) lab.chain.force(kept);
    lab.chain.mine();
    await lab.node.follow();
    await lab.live(5);
    expect(executed()).toEqual(mined);
    expect(await lab.states([txId, replacement, later])).toEqual(['CONFIRMED', 'FAILED', 'CONFIRMED']);
    expect(await lab.openFills()).toEqual([]);
    const told = errors.mock.calls.filter(([event]) => event === 'transaction mined that had ended');
    const said = { txId: replacement, state: 'FAILED', txHash: kept?.hash };
    expect(told.map(([, fields]) => fields)).toEqual(isMined ? [said] : []);
  });
});

/** Reasons of the history by which it ended, in order. */
async function endsOf(txId: string): Promise<string[]> {
  const ends = new Set(['confirmed', 'failed', 'cancelled', 'replaced', 'dropped']);
  return (await lab.node.get(TxHistory).of(txId)).map(({ reason }) => reason).filter((reason) => ends.has(reason));
}

/** What webhooks, streams and brokers tell of it. */
async function publicEvents(txId: string): Promise<PublicEvent[]> {
  const reader = new PgEventReader(lab.node.get(Database));
  let events: readonly PublicEvent[] = [];
  await until('all events can be read', async () => {
    const page = await reader.page(LOG_BEGINNING, 1_000, ALL_EVENTS);
    events = page.events;
    return !page.isHeldBack;
  });
  return events.filter((event) => event.txId === txId);
}

async function expire(txId: string): Promise<void> {
  const text = `UPDATE managed_tx SET expires_at = clock_timestamp() WHERE tx_id = $1`;
  await lab.node.get(Database).query({ name: 'test_expire_tx', text }, [txId]);
}

async function slotOf(nonce: number): Promise<unknown> {
  const text = `SELECT status, tx_hash, tx_id FROM signer_nonce_allocation WHERE nonce = $1`;
  return (await lab.node.get(Database).query({ name: 'test_slot', text }, [nonce])).rows[0];
}
