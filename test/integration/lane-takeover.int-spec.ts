import { describe, expect, it } from '@jest/globals';
import { AttemptSigner } from '../../src/modules/sending/application/attempt-signer.js';
import { AttemptRepository } from '../../src/modules/ledger/domain/attempt.repository.js';
import { SubmitCommand } from '../../src/modules/commands/application/submit-command.js';
import type { TxState } from '../../src/kernel/tx-state.js';
import { anOrder } from '../support/builders.js';
import { Database } from '../../src/platform/database/database.js';
import { nodeLab } from '../support/node-lab.js';

const lab = nodeLab();

/** Breaks one step of a lane from outside, as a crash there would: nothing after it happens. */
type CrashPoint = 'after allocate' | 'after sign' | 'after persist' | 'after broadcast' | 'before record';

function crash(point: CrashPoint): void {
  const { node, chain } = lab;
  const die = (): never => {
    throw new Error(`crashed ${point}`);
  };
  if (point === 'after allocate') node.get(AttemptSigner).sign = die;
  if (point === 'after sign') node.get(AttemptRepository).insert = die;
  if (point === 'after persist') chain.broadcast = die;
  if (point === 'after broadcast') {
    const deliver = chain.broadcast.bind(chain);
    chain.broadcast = async (txs) => {
      await deliver(txs);
      return die();
    };
  }
  if (point === 'before record') node.get(AttemptRepository).recordOutcomes = die;
}

describe.each<CrashPoint>(['after allocate', 'after sign', 'after persist', 'after broadcast', 'before record'])(
  'a crash %s',
  (point) => {
    it('loses nothing and sends nothing twice: the next owner finishes with the same nonces', async () => {
      const ids = [await lab.create(1), await lab.create(2), await lab.create(3)];
      const original = { broadcast: lab.chain.broadcast };
      crash(point);
      await lab.node.step().catch(() => undefined);
      lab.chain.broadcast = original.broadcast;

      const successor = await lab.takeOver();
      await successor.step();
      await lab.confirmAll(successor);
      for (const [index, txId] of ids.entries()) {
        expect(await successor.tx(txId)).toMatchObject({ state: 'CONFIRMED', nonce: index });
        expect(lab.minedWith(index + 1)).toHaveLength(1);
      }
    });
  },
);

describe.each<[CrashPoint, string, TxState]>([
  ['after allocate', 'has ended', 'DROPPED'],
  ['after sign', 'has ended', 'DROPPED'],
  ['after allocate', 'was cancelled', 'CANCELLED'],
  ['after sign', 'was cancelled', 'CANCELLED'],
])('a crash %s', (point, how, ended) => {
  it(`executes nothing that ${how} meanwhile`, async () => {
    const ids = [await lab.create(1), await lab.create(2), await lab.create(3)];
    const original = { broadcast: lab.chain.broadcast };
    crash(point);
    await lab.node.step().catch(() => undefined);
    lab.chain.broadcast = original.broadcast;
    const second = String(ids[1]);
    if (how === 'was cancelled') await lab.node.get(SubmitCommand).execute(anOrder('cancel', second));
    else {
      const text = `UPDATE managed_tx SET expires_at = now() WHERE tx_id = '${second}'`;
      await lab.node.get(Database).query({ name: 'test_end', text }, []);
    }

    const successor = await lab.takeOver();
    await successor.step();
    await successor.commands();
    await successor.step();
    await lab.resubmit(successor);
    await lab.confirmAll(successor);
    expect(await lab.states(ids)).toEqual(['CONFIRMED', ended, 'CONFIRMED']);
    expect([1, 2, 3].map((value) => lab.minedWith(value).length)).toEqual([1, 0, 1]);
  });
});

describe('a takeover', () => {
  it('finds what was mined while nobody looked', async () => {
    const txId = await lab.sent(1);
    lab.chain.mine();
    const successor = await lab.takeOver();
    // It starts to follow the chain after that block.
    lab.chain.mineEmpty(1);
    await successor.follow();
    await successor.step();
    await successor.checkReceipts();
    lab.chain.mineEmpty(2);
    await successor.follow();
    expect(await successor.tx(txId)).toMatchObject({ state: 'CONFIRMED' });
  });

  it('leaves the old owner unable to write: its step changes nothing', async () => {
    const txId = await lab.sent(1);
    // The lease goes to another node behind the back of this one.
    await lab.node
      .get(Database)
      .query({ name: 'test_expire', text: `UPDATE signer_lease SET expires_at = '-infinity'` }, []);
    const successor = await lab.startNode();
    await successor.step();
    const late = await lab.sent(2);
    expect(await lab.node.tx(late)).toMatchObject({ state: 'PENDING', nonce: null });
    await successor.step();
    expect(await successor.tx(late)).toMatchObject({ state: 'IN_MEMPOOL', nonce: 1 });
    expect(await successor.tx(txId)).toMatchObject({ nonce: 0 });
  });
});
