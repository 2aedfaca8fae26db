import { describe, expect, it } from '@jest/globals';
import { RaceLab } from '../support/race-lab.js';
import { LaneMemory } from '../../src/modules/ledger/application/writing/lane-memory.js';
import { CommandStore } from '../../src/modules/commands/domain/tx-command.js';
import { Unavailable } from '../../src/kernel/errors.js';
import { FencedUnitOfWork, LeaseManager } from '../../src/modules/signers/index.js';
import type { BroadcastOutcome } from '../../src/modules/chain/index.js';
import { type AttemptStatus } from '../../src/modules/ledger/domain/attempt.js';
import { AttemptRepository, isFinal } from '../../src/modules/ledger/index.js';
import { Database } from '../../src/platform/database/database.js';
import { gate } from '../support/gate.js';
import { makeDue, nodeLab } from '../support/node-lab.js';
import { NOT_SENT, onlyFor, OVERSIZED, tagged } from '../support/send-faults.js';
import type { TestNode } from '../support/test-node.js';
import { outcomeOf } from '../../src/modules/sending/domain/send-verdict.js';
import { TxWriter } from '../../src/modules/ledger/domain/tx-writer.js';
import { TxsInFlight } from '../../src/modules/ledger/domain/txs-in-flight.js';

const lab = nodeLab();

const ANSWERS: Readonly<Record<string, BroadcastOutcome>> = {
  'that it is taken': { kind: 'accepted' },
  'a refusal for good': { kind: 'rejected', errorClass: 'oversized_data', message: 'oversized data' },
  'a nonce that is used': { kind: 'unknown', errorClass: 'nonce_too_low', message: 'nonce too low' },
};

/** What became of the tx while its first owner waited for the answer to a send. */
const FATES: Readonly<Record<string, (by: TestNode) => Promise<void>>> = {
  MINED: (by) => lab.mine(by),
  CONFIRMED: (by) => lab.confirmAll(by),
  FAILED: async (by) => {
    lab.chain.faults.status = () => 'reverted';
    await lab.confirmAll(by);
  },
  'IN_MEMPOOL with another nonce': async (by) => {
    lab.chain.sendForeign(lab.node.signer().address, 0n);
    lab.chain.mine();
    lab.chain.mineEmpty(3);
    await makeDue(by);
    await by.resubmit();
    for (let look = 0; look < 2; look += 1) {
      await makeDue(by);
      await by.checkReceipts();
    }
    await lab.stepTwice(by);
  },
};

/** All that is written of the only tx, its attempts, its slots and its events. */
async function written(): Promise<unknown> {
  const { rows } = await lab.node.get(Database).query(
    {
      name: 'test_written',
      text: `SELECT (SELECT json_agg(t ORDER BY tx_id) FROM managed_tx t) AS txs,
                    (SELECT json_agg(a ORDER BY tx_hash) FROM tx_attempt a) AS attempts,
                    (SELECT json_agg(s ORDER BY nonce) FROM signer_nonce_allocation s) AS slots,
                    (SELECT json_agg(e ORDER BY seq) FROM tx_event e) AS events`,
    },
    [],
  );
  return rows;
}

describe.each(Object.entries(FATES))(
  'the answer to a send that comes when the tx is %s by another owner',
  (fate, happens) => {
    it.each(Object.entries(ANSWERS))('is %s, and changes nothing', async (_answer, outcome) => {
      const txId = await lab.create(1);
      const [asked, answered] = [gate(), gate()];
      const broadcast = lab.chain.broadcast;
      lab.chain.broadcast = async (transactions) => {
        lab.chain.broadcast = broadcast;
        asked.open();
        await answered.opened;
        return transactions.map(() => outcome);
      };
      const step = lab.node.step();
      await asked.opened;
      await expireLeases();
      const next = await lab.startNode();
      await next.step();
      await happens(next);
      const [state] = fate.split(' ');
      expect(await lab.states([txId], next)).toEqual([state]);
      const before = await written();
      answered.open();
      await step;
      expect(await written()).toEqual(before);
    });
  },
);

/** The leases go to whoever wants them, behind the back of their holder. */
async function expireLeases(): Promise<void> {
  await lab.node
    .get(Database)
    .query({ name: 'test_expire', text: `UPDATE signer_lease SET expires_at = '-infinity'` }, []);
}

describe('the answer to a send that comes when the chain has decided the slot', () => {
  it.each<[AttemptStatus, BroadcastOutcome]>([
    ['MINED', { kind: 'accepted' }],
    ['MINED', { kind: 'rejected', errorClass: 'oversized_data', message: 'no' }],
    ['LOST', { kind: 'accepted' }],
    ['LOST', { kind: 'rejected', errorClass: 'oversized_data', message: 'no' }],
  ])('leaves an attempt %s: %j', async (status, outcome) => {
    await lab.sent(1);
    const [attempt] = await attemptsOfFirst();
    const lease = lab.node.get(LeaseManager).held(lab.node.signer());
    if (!attempt || !lease) throw new Error('the set-up is broken');
    const attempts = lab.node.get(AttemptRepository);
    const txHash = status === 'MINED' ? attempt.txHash : null;
    await lab.node.get(FencedUnitOfWork).run([lease], 'test', async (fence) => {
      await attempts.decide(fence, [{ signer: attempt.signer, nonce: attempt.nonce, txHash }]);
      await attempts.recordOutcomes(fence, [outcomeOf(attempt, outcome)]);
    });
    expect(await attemptsOfFirst()).toMatchObject([{ status }]);
  });
});

function attemptsOfFirst(): ReturnType<AttemptRepository['ofSlots']> {
  return lab.node.get(AttemptRepository).ofSlots([{ signer: lab.node.signer(), nonce: 0n }]);
}

describe('what is mined although its send could not be written', () => {
  it('is MINED by its block', async () => {
    const txId = await lab.create(1);
    const repository = lab.node.get(TxWriter);
    const [broadcast, save] = [lab.chain.broadcast.bind(lab.chain), repository.save.bind(repository)];
    lab.chain.broadcast = async (transactions) => {
      repository.save = () => Promise.reject(new Unavailable('database_unavailable', 'no database', ''));
      return broadcast(transactions);
    };
    await lab.node.step().catch(() => undefined);
    repository.save = save;
    expect(await lab.states([txId])).toEqual(['ALLOCATED']);
    await lab.mine();
    expect(await lab.states([txId])).toEqual(['MINED']);
  });
});

describe('what was mined between two questions of the same owner', () => {
  it('is not sent again', async () => {
    const txId = await lab.sent(1);
    const repository = lab.node.get(TxsInFlight);
    const due = repository.dueForResubmit.bind(repository);
    repository.dueForResubmit = async (...question) => {
      const found = await due(...question);
      await lab.mine();
      return found;
    };
    await lab.resubmit();
    expect(lab.chain.sent.map(({ data }) => data)).toEqual([tagged(1)]);
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'MINED', subState: null });
  });

  it('is not asked for again when the receipt was missing a moment before', async () => {
    const txId = await lab.sent(1);
    const receipts = lab.chain.receipts.bind(lab.chain);
    lab.chain.receipts = async (hashes) => {
      const missing = await receipts(hashes);
      lab.chain.receipts = receipts;
      await lab.mine();
      return missing;
    };
    await makeDue(lab.node);
    await lab.node.checkReceipts();
    expect(await lab.states([txId])).toEqual(['MINED']);
    const { rows } = await lab.node
      .get(Database)
      .query({ name: 'test_timer', text: 'SELECT next_receipt_check_at, next_resubmit_at FROM managed_tx' }, []);
    expect(rows).toEqual([{ next_receipt_check_at: null, next_resubmit_at: null }]);
  });
});

describe('a commit that succeeds without an answer, outside of a lane step', () => {
  /** The next commit with this name succeeds, and the connection breaks before the answer. */
  function loseAnswerOf(operation: string): void {
    const unit = lab.node.get(FencedUnitOfWork);
    const run = unit.run.bind(unit);
    let isLost = false;
    unit.run = async (leases, name, work) => {
      const result = await run(leases, name, work);
      if (name !== operation || isLost) return result;
      isLost = true;
      throw new Unavailable('connection_lost', 'the connection broke at COMMIT', 'try again');
    };
  }

  /** Polls and steps as a node does, until everything has ended. */
  async function finish(ids: readonly string[]): Promise<void> {
    const { node } = lab;
    for (let round = 0; round < 10; round += 1) {
      const held = node.get(LeaseManager).held(node.signer());
      if (held && node.get(LaneMemory).needsStep(held)) await node.step();
      await node.commands();
      await lab.confirmAll();
      await lab.resubmit();
    }
    expect((await lab.states(ids)).every(isFinal)).toBe(true);
  }

  it.each([
    ['cancel', 'releases', 'CANCELLED'],
    ['expire', 'releases', 'DROPPED'],
    ['record', 'closes', 'FAILED'],
  ] as const)('leaves no gap: %s, which %s a slot', async (operation, _does, end) => {
    lab.chain.faults.broadcast = onlyFor(1, NOT_SENT);
    const ids = [await lab.create(1), await lab.create(2), await lab.create(3)];
    await lab.node.step();
    expect(await lab.states(ids)).toEqual(['ALLOCATED', 'IN_MEMPOOL', 'IN_MEMPOOL']);
    const [first = ''] = ids;
    if (operation === 'cancel') await new RaceLab(lab).cancel(first);
    if (operation === 'expire')
      await lab.node
        .get(Database)
        .query({ name: '', text: `UPDATE managed_tx SET expires_at = now() WHERE tx_id = $1` }, [first]);
    if (operation === 'record') lab.chain.faults.broadcast = onlyFor(1, OVERSIZED);
    loseAnswerOf(operation);
    if (operation === 'record') await lab.resubmit().catch(() => undefined);
    else await lab.node.commands().catch(() => undefined);
    delete lab.chain.faults.broadcast;
    await finish(ids);
    expect(await lab.states(ids)).toEqual([end, 'CONFIRMED', 'CONFIRMED']);
    expect(lab.minedWith(1)).toEqual([]);
    if (operation === 'cancel') expect(await new RaceLab(lab).commandsOf(first)).toMatchObject([{ status: 'DONE' }]);
  });

  it('is no reason to refuse a cancel whose no-op was mined meanwhile', async () => {
    const txId = await lab.sent(1);
    await new RaceLab(lab).cancel(txId);
    const store = lab.node.get(CommandStore);
    const decide = store.decide.bind(store);
    store.decide = () => Promise.reject(new Error('the node died'));
    await lab.node.commands().catch(() => undefined);
    store.decide = decide;
    await lab.resubmit();
    await lab.confirmAll();
    const next = await lab.takeOver();
    await next.step();
    await next.commands();
    expect(await lab.states([txId])).toEqual(['CANCELLED']);
    expect(await new RaceLab(lab).commandsOf(txId)).toMatchObject([{ status: 'DONE', refusal: null }]);
  });
});
