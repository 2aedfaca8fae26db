import { describe, expect, it } from '@jest/globals';
import type { Hash } from '../../src/kernel/hex.js';
import { ForeignNonces } from '../../src/modules/nonces/index.js';
import { Database } from '../../src/platform/database/database.js';
import { aHash } from '../support/builders.js';
import { makeDue, nodeLab } from '../support/node-lab.js';

const lab = nodeLab();

async function sql(text: string, values: readonly string[] = []): Promise<void> {
  await lab.node.get(Database).query({ name: '', text }, values);
}

/** The same slot has another attempt, too. */
const ADD_ATTEMPT = `
  INSERT INTO tx_attempt (chain_id, tx_hash, signer, nonce, tx_id, kind, raw, gas_limit, max_fee_per_gas, max_priority_fee_per_gas, status, fencing_token)
  SELECT chain_id, $1, signer, nonce, tx_id, kind, raw, gas_limit, max_fee_per_gas, max_priority_fee_per_gas, 'UNKNOWN', fencing_token FROM tx_attempt`;

/** Something happens after it was found out that slots are taken, and before anything is written; once. */
function afterTheLook(happens: () => Promise<void>): void {
  const taken = lab.node.get(ForeignNonces);
  const usedForGood = taken.usedForGood.bind(taken);
  taken.usedForGood = async (chain, doubts) => {
    const found = await usedForGood(chain, doubts);
    if (found.length > 0) {
      taken.usedForGood = usedForGood;
      await happens();
    }
    return found;
  };
}

/** Hashes of the last question for the fate of a slot. */
function lastAsked(): () => readonly Hash[] {
  let hashes: readonly Hash[] = [];
  const nonceUses = lab.chain.nonceUses.bind(lab.chain);
  lab.chain.nonceUses = async (slots) => {
    hashes = slots.flatMap((slot) => slot.hashes);
    return nonceUses(slots);
  };
  return () => hashes;
}

async function look(times: number): Promise<void> {
  for (let n = 0; n < times; n += 1) {
    await makeDue(lab.node);
    await lab.node.checkReceipts();
  }
}

/** Its nonce is called used, and a transaction of somebody else has it for good. */
async function takenForGood(): Promise<string> {
  const txId = await lab.sent(1);
  lab.chain.sendForeign(lab.node.signer().address, 0n);
  lab.chain.mine();
  lab.chain.mineEmpty(3);
  await lab.node.follow();
  await lab.resubmit();
  expect(await lab.node.tx(txId)).toMatchObject({ state: 'IN_MEMPOOL', subState: 'NONCE_SYNC' });
  return txId;
}

describe('a payload whose nonce somebody else has', () => {
  it('is not moved when it got another attempt meanwhile, which must be asked for, too', async () => {
    const txId = await takenForGood();
    const asked = lastAsked();
    afterTheLook(() => sql(ADD_ATTEMPT, [aHash(77)]));
    await look(2);
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'IN_MEMPOOL', nonce: 0 });
    expect(asked()).toHaveLength(1);
    await look(2);
    expect(asked()).toContain(aHash(77));
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'PENDING', nonce: null });
  });

  it('is not moved when meanwhile nothing calls its nonce used any more', async () => {
    await takenForGood();
    afterTheLook(() => sql(`UPDATE managed_tx SET sub_state = 'STALE', version = version + 1`));
    const before = await slots();
    await look(2);
    expect(await slots()).toEqual(before);
    const { rows } = await lab.node
      .get(Database)
      .query(
        { name: 'test_moved', text: `SELECT count(*)::int AS moved FROM tx_event WHERE reason = 'nonce_synced'` },
        [],
      );
    expect(rows).toEqual([{ moved: 0 }]);
  });

  async function slots(): Promise<unknown> {
    return (
      await lab.node
        .get(Database)
        .query({ name: 'test_slots', text: 'SELECT nonce, status FROM signer_nonce_allocation ORDER BY nonce' }, [])
    ).rows;
  }
});

describe('a receipt', () => {
  it('that a block lacked is asked for by hash at the next look', async () => {
    const txId = await lab.sent(1);
    lab.chain.faults.receipt = () => ({ kind: 'none' });
    await lab.mine();
    expect(await lab.states([txId])).toEqual(['IN_MEMPOOL']);
    delete lab.chain.faults.receipt;
    await lab.node.checkReceipts();
    expect(await lab.states([txId])).toEqual(['MINED']);
  });

  it('that a block lacked, and that was found meanwhile, is not asked for again', async () => {
    const txId = await lab.sent(1);
    await makeDue(lab.node);
    const receipts = lab.chain.receipts.bind(lab.chain);
    lab.chain.receipts = async (hashes) => {
      lab.chain.receipts = receipts;
      await lab.node.checkReceipts();
      return hashes.map(() => ({ kind: 'none' }));
    };
    await lab.mine();
    expect(await lab.states([txId])).toEqual(['MINED']);
    const { rows } = await lab.node
      .get(Database)
      .query({ name: 'test_timer', text: 'SELECT next_receipt_check_at FROM managed_tx' }, []);
    expect(rows).toEqual([{ next_receipt_check_at: null }]);
  });

  it('that could not be asked for is asked for again in two seconds, and one that is missing when it may be stale', async () => {
    await lab.sent(1);
    await look(1);
    expect(await secondsToLook()).toBeCloseTo(60, -1);
    const receipts = lab.chain.receipts.bind(lab.chain);
    lab.chain.receipts = async (hashes) => hashes.map(() => ({ kind: 'unavailable', message: 'no answer' }));
    await look(1);
    expect(await secondsToLook()).toBeLessThanOrEqual(2);
    lab.chain.receipts = receipts;
    await sql(`UPDATE managed_tx SET sub_state = 'NONCE_SYNC', version = version + 1`);
    await look(1);
    expect(await secondsToLook()).toBeLessThanOrEqual(2);
  });

  async function secondsToLook(): Promise<number> {
    const { rows } = await lab.node.get(Database).query<{ seconds: number }>(
      {
        name: 'test_seconds',
        text: 'SELECT extract(epoch FROM next_receipt_check_at - clock_timestamp())::float8 AS seconds FROM managed_tx',
      },
      [],
    );
    return rows[0]?.seconds ?? NaN;
  }
});

describe('a payload that ended between the look at it and the write', () => {
  /** The first of all, behind the back of the lane. */
  const END_FIRST = `
    UPDATE managed_tx SET state = 'FAILED', failure_reason = 'by somebody', version = version + 1
     WHERE tx_id = (SELECT tx_id FROM managed_tx ORDER BY tx_id LIMIT 1)`;

  function endWhileEstimated(gas: 'ok' | 'unclear'): void {
    const estimateGas = lab.chain.estimateGas.bind(lab.chain);
    lab.chain.estimateGas = async (calls) => {
      lab.chain.estimateGas = estimateGas;
      await sql(END_FIRST);
      return calls.map(() => (gas === 'ok' ? { kind: 'ok', gas: 21_000n } : { kind: 'unclear', message: 'no' }));
    };
  }

  it('takes no nonce, and those behind it have no gap before them', async () => {
    const ids = [await lab.create(1), await lab.create(2), await lab.create(3)];
    endWhileEstimated('ok');
    await lab.node.step();
    expect(await Promise.all(ids.map(async (txId) => (await lab.node.tx(txId)).nonce))).toEqual([null, 0, 1]);
    expect(await lab.states(ids)).toEqual(['FAILED', 'IN_MEMPOOL', 'IN_MEMPOOL']);
  });

  it('is not written to, and those beside it are', async () => {
    const ids = [await lab.create(1), await lab.create(2)];
    endWhileEstimated('unclear');
    await lab.node.step();
    expect(await lab.states(ids)).toEqual(['FAILED', 'PENDING']);
    expect(await lab.node.tx(ids[1] ?? '')).toMatchObject({ subState: 'NODE_REFUSED' });
    expect((await lab.node.tx(ids[0] ?? '')).failureReason).toBe('by somebody');
  });
});
