import { describe, expect, it } from '@jest/globals';
import { ANYONE } from '../../src/kernel/caller.js';
import { CarryOutOnSlot } from '../../src/modules/commands/application/carry-out-on-slot.js';
import { NOTHING_ASKED } from '../../src/modules/commands/application/ask-chain.js';
import { SubmitCommand } from '../../src/modules/commands/application/submit-command.js';
import { CommandStore } from '../../src/modules/commands/domain/tx-command.js';
import { LeaseManager } from '../../src/modules/signers/index.js';
import { TxQueries } from '../../src/modules/ledger/index.js';
import {
  ReserveNonces,
  type Reserved,
  type ReserveInput,
} from '../../src/modules/requests/application/reserve-nonces.js';
import { Database } from '../../src/platform/database/database.js';
import { aHash, anOrder, DEV_CHAIN } from '../support/builders.js';
import { nodeLab } from '../support/node-lab.js';
import type { TestNode } from '../support/test-node.js';

const lab = nodeLab();
const STAYING = new AbortController().signal;

const reserve = (more: Partial<ReserveInput> = {}, node = lab.node): Promise<Reserved> =>
  node
    .get(ReserveNonces)
    .execute(
      { signer: node.signer(), sender: ANYONE, requestId: 'one', count: 1, ttl: 600, metadata: null, ...more },
      STAYING,
    );

/** The lane of the signer steps until all are answered. */
async function answered(asked: readonly Promise<Reserved>[], node: TestNode = lab.node): Promise<Reserved[]> {
  const ends = Promise.all(asked);
  const isOpen = { value: true };
  const end = (): void => void (isOpen.value = false);
  void ends.then(end, end);
  while (isOpen.value) {
    await node.step();
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return ends;
}

const noncesOf = (all: readonly Reserved[]): number[] =>
  all.flatMap(({ holds }) => holds.map(({ tx }) => Number(tx.progress.nonce))).sort((a, b) => a - b);
const upTo = (count: number): number[] => Array.from({ length: count }, (_, nonce) => nonce);

describe('a reservation', () => {
  it('that 100 send at once with one requestId, to two nodes, gives one nonce', async () => {
    const other = await lab.startNode();
    const asked = upTo(100).map((n) => reserve({}, n % 2 === 0 ? lab.node : other));
    const all = await answered(asked);
    expect(new Set(all.map(({ holds }) => holds.map(({ tx }) => [tx.id, tx.progress.nonce]).join()))).toEqual(
      new Set([`${all[0]?.holds[0]?.tx.id},0`]),
    );
    expect(all.filter(({ isNew }) => isNew)).toHaveLength(1);
    expect(await lab.node.get(TxQueries).list({ kind: 'hold', limit: 10 }, ANYONE)).toMatchObject({
      items: [{ nonce: 0 }],
    });
  });

  it('of each of 1,000 that ask at once gives each its own nonce, without a gap, with payloads between', async () => {
    const busy = await lab.startNode({ execution: { inFlightStart: 2_000, maxInFlight: 2_000 } });
    const asked = upTo(990).map((n) => reserve({ requestId: `r-${n}` }, busy));
    const payloads = await Promise.all(upTo(10).map((tag) => lab.create(tag)));
    const all = await answered(asked, busy);
    const others = await Promise.all(payloads.map(async (txId) => (await busy.tx(txId)).nonce));
    expect([...noncesOf(all), ...others].sort((a, b) => Number(a) - Number(b))).toEqual(upTo(1_000));
  });

  it('of several is complete when it is repeated, with the same nonces, and is no other one', async () => {
    const several = { count: 5, metadata: { for: 'relayer' } };
    const [first] = await answered([reserve(several)]);
    expect(noncesOf(first ? [first] : [])).toEqual(upTo(5));
    await lab.node
      .get(Database)
      .query(
        { name: 'test_crash', text: `DELETE FROM managed_tx WHERE request_id IN (E'one\\x1f3', E'one\\x1f4')` },
        [],
      );
    const [again] = await answered([reserve(several)]);
    const ids = ({ holds = [] }: Partial<Reserved> = {}) => holds.map(({ tx }) => tx.id);
    expect(ids(again).slice(0, 3)).toEqual(ids(first).slice(0, 3));
    expect(ids(again)).toHaveLength(5);
    for (const other of [{ ...several, count: 6 }, { ...several, count: 4 }, { ...several, ttl: 60 }, { count: 5 }])
      await expect(reserve(other)).rejects.toMatchObject({ code: 'idempotency_conflict' });
    expect((await lab.node.get(TxQueries).list({ kind: 'hold', limit: 10 }, ANYONE)).items).toHaveLength(5);
  });

  it('of several has keys that no client can send: it meets none of them', async () => {
    await answered([reserve({ requestId: 'one#1' })]);
    expect(noncesOf(await answered([reserve({ count: 2 })]))).toEqual([1, 2]);
  });

  it('ends by the clock of the database, or never', async () => {
    const [{ holds: [hold] } = { holds: [] }] = await answered([reserve({ ttl: 600 })]);
    const text = `SELECT extract(epoch FROM expires_at - created_at)::float AS seconds FROM managed_tx WHERE tx_id = $1`;
    const { rows } = await lab.node
      .get(Database)
      .query<{ seconds: number }>({ name: 'test_end', text }, [hold?.tx.id ?? '']);
    expect(rows[0]?.seconds).toBeCloseTo(600, 0);
    const [{ holds: [endless] } = { holds: [] }] = await answered([reserve({ requestId: 'private', ttl: null })]);
    expect([endless?.tx.progress.nonce, endless?.request.expiresAt]).toEqual([1n, null]);
  });
});

describe('a consume', () => {
  it('of an owner that was paused, and has another after it, is fenced; the other one carries it out', async () => {
    const [{ holds: [hold] } = { holds: [] }] = await answered([reserve()]);
    const id = hold?.tx.id ?? '';
    const { command } = await lab.node.get(SubmitCommand).execute(anOrder('consume', id, { txHash: aHash(7) }));
    const stale = lab.node.get(LeaseManager).heldOn(DEV_CHAIN);
    const next = await lab.takeOver();
    await next.step();
    await expect(lab.node.get(CarryOutOnSlot).execute(stale, command, NOTHING_ASKED)).rejects.toMatchObject({
      code: 'lease_lost',
      retryable: true,
    });
    expect((await next.tx(id)).state).toBe('ALLOCATED');
    await next.commands();
    expect(await next.tx(id)).toMatchObject({ state: 'IN_MEMPOOL', txHash: aHash(7) });
    expect((await next.get(CommandStore).get(command.commandId))?.status).toBe('DONE');
  });
});
