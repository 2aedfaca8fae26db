import { beforeEach, describe, expect, it } from '@jest/globals';
import { ANYONE, DEFAULT_ACCOUNT } from '../../src/kernel/caller.js';
import { parseHex } from '../../src/kernel/hex.js';
import type { SignerId } from '../../src/kernel/signer-id.js';
import { SubmitCommand } from '../../src/modules/commands/application/submit-command.js';
import { TxQueries, WriteChanges } from '../../src/modules/ledger/index.js';
import { PermitStore } from '../../src/modules/ledger/domain/permit-store.js';
import { ExplainTx } from '../../src/modules/ops/application/explain-tx.js';
import { ResumeSigner } from '../../src/modules/ops/application/resume-signer.js';
import { Custody, CustodyFailed, LeaseManager, SignerPauses } from '../../src/modules/signers/index.js';
import { UnitOfWork } from '../../src/kernel/unit-of-work.js';
import { Database } from '../../src/platform/database/database.js';
import { anAddress, anOrder, aPauseOrder, DEV_CHAIN } from '../support/builders.js';
import { Standby } from '../support/lost-commits.js';
import { makeWaitingDue, nodeLab } from '../support/node-lab.js';
import { PermitLab, TOKEN } from '../support/permit-lab.js';
import type { TestNode } from '../support/test-node.js';
import { until } from '../support/until.js';

const NOTHING = parseHex('0x');
const lab = nodeLab();
const permits = new PermitLab(lab);

let sender: SignerId;
let other: SignerId;
let owner: SignerId;

beforeEach(async () => {
  [sender, owner, other] = [0, 1, 2].map((n) => lab.node.signer(n)) as [SignerId, SignerId, SignerId];
  await permits.allow(owner);
  permits.next(owner, 7n);
  await lab.node.step(sender, owner, other);
});

/** All lanes look at what waits, and the owners at their permits. */
async function turn(by: readonly TestNode[] = [lab.node]): Promise<void> {
  for (const node of by) {
    await node.permits();
    await makeWaitingDue(node);
    await node.step(sender, owner, other);
  }
}

/** What is in the pool is mined and final, and the contract has used so many nonces of the owner. */
async function confirm(next: bigint | null, by: readonly TestNode[] = [lab.node]): Promise<void> {
  permits.next(owner, next);
  for (const node of by) await lab.confirmAll(node);
}

const states = (...txIds: readonly string[]) => lab.states(txIds);
const permitOf = async (txId: string) => (await lab.node.tx(txId)).payload.permits[0];
const attempts = async (txId: string) => (await lab.node.get(TxQueries).attempts(txId)).length;

describe('a permit', () => {
  it('is signed by its owner before the gas is estimated, and is in the call that is sent', async () => {
    const estimated: string[] = [];
    const estimate = lab.chain.estimateGas.bind(lab.chain);
    lab.chain.estimateGas = async (calls) => (estimated.push(...calls.map(({ data }) => data)), estimate(calls));
    const txId = await permits.create(1, sender, owner);
    await lab.node.step(sender);
    expect(await lab.node.tx(txId)).toMatchObject({
      state: 'PENDING',
      lastError: `waits until ${owner.address} has signed its permit`,
      payload: {
        permits: [{ kind: 'eip2612', contract: TOKEN, owner: owner.address, permitNonce: null, deadline: null }],
      },
    });
    expect((await lab.node.get(ExplainTx).execute(txId, ANYONE))?.explanation.summary).toBe(
      `The transaction waits for a nonce: ${owner.address} must sign a permit for it, when those before are mined.`,
    );
    expect([estimated, await permits.rows()]).toEqual([[], ['- WANTED']]);
    await turn();
    expect(await states(txId)).toEqual(['IN_MEMPOOL']);
    const [data] = permits.sentFor(1);
    expect(permits.signedBy(data ?? NOTHING, 7n, owner)).toBe(owner.address);
    expect(estimated).toEqual([data]);
    const deadlineMs = Date.parse((await permitOf(txId))?.deadline ?? '');
    expect(deadlineMs / 1_000).toBe(Number(permits.inData(data ?? NOTHING).deadline));
    expect(Math.abs(deadlineMs - Date.now() - 3_600_000)).toBeLessThan(60_000);
    const ready = await permits.run(`SELECT detail FROM tx_event WHERE reason = 'permit_ready'`);
    const seconds = String(permits.inData(data ?? NOTHING).deadline);
    const detail = { contract: TOKEN, owner: owner.address, permitNonce: '7', deadline: seconds };
    expect([ready, await permits.rows()]).toEqual([[{ detail }], ['7 HELD']]);
    await confirm(8n);
    expect(await states(txId)).toEqual(['CONFIRMED']);
    await lab.node.permits();
    expect(await permits.rows()).toEqual(['7 CONSUMED']);
  });

  it('may be one of its sender', async () => {
    const txId = await permits.create(1, owner, owner);
    await turn();
    await turn();
    expect(await states(txId)).toEqual(['IN_MEMPOOL']);
    expect(permits.signedBy(permits.sentFor(1)[0] ?? NOTHING, 7n, owner)).toBe(owner.address);
  });

  it('is signed by the node that acts for its owner, and by no other', async () => {
    await lab.node.releaseLeases();
    const [first, second] = [await lab.startNode(), await lab.startNode()];
    await first.step(sender);
    await second.step(owner);
    const txId = await permits.create(1, sender, owner);
    await first.step(sender);
    await first.permits();
    expect(await permits.rows()).toEqual(['- WANTED']);
    await second.permits();
    await makeWaitingDue(first);
    await first.step(sender);
    expect(await states(txId)).toEqual(['IN_MEMPOOL']);
  });

  it('keeps its calldata when the price is bumped', async () => {
    const txId = await permits.create(1, sender, owner);
    await turn();
    await turn();
    for (let bump = 1; bump <= 2; bump += 1) {
      await lab.node.get(SubmitCommand).execute(anOrder('speed_up', txId));
      await lab.node.commands();
    }
    expect([await attempts(txId), permits.sentFor(1).length]).toEqual([3, 1]);
  });
});

describe('of an owner and a contract', () => {
  it('two senders never use one nonce: the second permit is made when the first was mined', async () => {
    const ids = [await permits.create(1, sender, owner), await permits.create(2, other, owner)];
    for (let round = 0; round < 4; round += 1) await turn();
    expect([await states(...ids), await permits.rows()]).toEqual([
      ['IN_MEMPOOL', 'PENDING'],
      ['7 HELD', '- WANTED'],
    ]);
    // Mined, and the endpoint that is asked does not know it yet.
    lab.chain.mine();
    await lab.node.follow();
    for (let round = 0; round < 2; round += 1) await turn();
    expect(await permits.rows()).toEqual(['7 HELD', '- WANTED']);
    permits.next(owner, 8n);
    for (let round = 0; round < 2; round += 1) await turn();
    expect([await states(...ids), await permits.rows()]).toEqual([
      ['MINED', 'IN_MEMPOOL'],
      ['7 HELD', '8 HELD'],
    ]);
    await confirm(9n);
    await lab.node.permits();
    expect([await states(...ids), await permits.rows()]).toEqual([
      ['CONFIRMED', 'CONFIRMED'],
      ['7 CONSUMED', '8 CONSUMED'],
    ]);
  });

  it('two nodes that took over from each other never use one nonce', async () => {
    const nodes = [lab.node, await lab.startNode(), await lab.startNode()];
    const ids: string[] = [];
    for (let tag = 1; tag <= 5; tag += 1) ids.push(await permits.create(tag, tag % 2 === 0 ? sender : other, owner));
    let [next, round] = [7n, 0];
    await until('all are final', async () => {
      await permits.run(`UPDATE signer_lease SET expires_at = clock_timestamp() - interval '1 minute'`);
      const [first, second] = [nodes[round % 3], nodes[(round + 1) % 3]] as [TestNode, TestNode];
      round += 1;
      await Promise.all([first.step(owner), second.step(sender, other)]);
      await Promise.all([first.permits(), second.permits()]);
      await Promise.all([makeWaitingDue(first), first.permits()]);
      await second.step(sender, other);
      const before = lab.chain.minedTxs().length;
      lab.chain.mine();
      next += BigInt(lab.chain.minedTxs().length - before);
      permits.next(owner, next);
      for (const node of [first, second]) await node.follow();
      await lab.confirmAll(second);
      return (await states(...ids)).every((state) => state === 'CONFIRMED');
    });
    const used = lab.chain.minedTxs().map(({ data }) => permits.inData(parseHex(data)).signature);
    expect([used.length, new Set(used).size]).toEqual([5, 5]);
    const nonces = (await permits.rows()).map((row) => row.split(' ')[0]);
    expect(new Set(nonces).size).toBe(5);
  });

  it('the next permit is made although the endpoints do not agree on what became of the one before, whose tx is final', async () => {
    await permits.create(1, sender, owner);
    for (let round = 0; round < 2; round += 1) await turn();
    lab.chain.agreedPermitNonces = async (questions) => questions.map(() => null);
    await confirm(7n);
    await permits.create(2, other, owner);
    for (let round = 0; round < 2; round += 1) await turn();
    expect(await permits.rows()).toEqual(['7 HELD', '- WANTED']);
    permits.next(owner, 8n);
    await permits.later(60);
    for (let round = 0; round < 2; round += 1) await turn();
    expect(await permits.rows()).toEqual(['7 HELD', '8 HELD']);
  });

  it.each([false, true])(
    'a tx that is never mined keeps the others waiting until its permit is of no use any more, and gets another one when it waits again (lost: %p)',
    async (isLost) => {
      const head = lab.chain.head.bind(lab.chain);
      const ids = [await permits.create(1, sender, owner), await permits.create(2, other, owner)];
      for (let round = 0; round < 2; round += 1) await turn();
      if (isLost)
        await permits.run(`UPDATE permit_nonce SET status = 'LOST', nonce = NULL, made_at = NULL WHERE nonce = 7`);
      await permits.run(`INSERT INTO database_epoch (epoch, evidence, node_id) SELECT 2, '', '' WHERE ${isLost}`);
      await permits.run(
        `INSERT INTO signer_reconciliation (chain_id, signer, epoch, fencing_token) SELECT chain_id, signer, 2, 1 FROM signer_lease WHERE ${isLost}`,
      );
      await permits.later(3_600 + 86_400 - 60);
      // The endpoint tells a time to come.
      lab.chain.head = async () => ({ ...(await head()), timestamp: Math.floor(Date.now() / 1_000) + 3_600 });
      await turn();
      expect((await permits.rows())[1]).toBe('- WANTED');
      await permits.later(61);
      lab.chain.head = async () => ({ ...(await head()), timestamp: Math.floor(Date.now() / 1_000) - 120 });
      await turn();
      expect((await permits.rows())[1]).toBe('- WANTED');
      lab.chain.head = async () => ({ ...(await head()), timestamp: Math.floor(Date.now() / 1_000) });
      await permits.later(60);
      for (let round = 0; round < 3; round += 1) await turn();
      expect([await states(...ids), await permits.rows()]).toEqual([
        ['IN_MEMPOOL', 'IN_MEMPOOL'],
        ['- WANTED', '7 HELD'],
      ]);
    },
  );

  it('a permit whose tx gets no nonce is taken back for the one behind it', async () => {
    lab.chain.faults.estimate = ({ from }) =>
      from === sender.address ? { kind: 'unclear', message: 'what?' } : undefined;
    const ids = [await permits.create(1, sender, owner), await permits.create(2, other, owner)];
    for (let round = 0; round < 3; round += 1) await turn();
    expect([await states(...ids), await permits.rows()]).toEqual([
      ['PENDING', 'PENDING'],
      ['7 HELD', '- WANTED'],
    ]);
    await permits.later(31);
    await lab.node.permits();
    expect(await permits.rows()).toEqual(['- WANTED', '- WANTED']);
    for (let round = 0; round < 2; round += 1) await turn();
    expect([await states(...ids), await permits.rows()]).toEqual([
      ['PENDING', 'IN_MEMPOOL'],
      ['- WANTED', '7 HELD'],
    ]);
    expect(await permitOf(ids[0] ?? '')).toMatchObject({ permitNonce: null });
  });

  it.each<[string, (txId: string) => Promise<unknown>]>([
    [
      'its lane has not come to',
      (txId) => permits.run(`UPDATE managed_tx SET next_resubmit_at = NULL WHERE tx_id = '${txId}'`),
    ],
    [
      'is put off',
      (txId) => permits.run(`UPDATE permit_nonce SET due_at = due_at + interval '1 hour' WHERE tx_id = '${txId}'`),
    ],
    [
      'no node acts for',
      () => permits.run(`UPDATE signer_lease SET expires_at = '-infinity' WHERE signer = '${other.address}'`),
    ],
  ])('a permit is not taken back for one that %s', async (_what, cannotUse) => {
    lab.chain.faults.estimate = ({ from }) =>
      from === sender.address ? { kind: 'unclear', message: 'what?' } : undefined;
    await permits.create(1, sender, owner);
    const txId = await permits.create(2, other, owner);
    for (let round = 0; round < 2; round += 1) await turn();
    await permits.later(31);
    await cannotUse(txId);
    await lab.node.permits();
    expect(await permits.rows()).toEqual(['7 HELD', '- WANTED']);
  });

  it('other contracts and other owners do not wait', async () => {
    const [token, pauper] = [anAddress(0x71), lab.node.signer(3)];
    await permits.setPolicy(owner, [`${TOKEN}/Permit`, `${token}/Permit`], 1);
    await permits.allow(pauper);
    permits.next(owner, 3n, token);
    permits.next(pauper, 0n);
    await lab.node.step(pauper);
    const ids = [
      await permits.create(1, sender, owner),
      await permits.create(2, sender, owner, { contract: token }),
      await permits.create(3, sender, pauper),
    ];
    for (let round = 0; round < 2; round += 1) await turn();
    expect([await states(...ids), await permits.rows()]).toEqual([
      ['IN_MEMPOOL', 'IN_MEMPOOL', 'IN_MEMPOOL'],
      ['7 HELD', '3 HELD', '0 HELD'],
    ]);
  });
});

describe('a permit is made anew', () => {
  it.each(['reverts', 'is not asked for'])(
    'when somebody else used its nonce before its tx got one, and the tx does not fail, where its estimate %s',
    async (how) => {
      if (how === 'reverts')
        lab.chain.faults.estimate = ({ data }) => {
          const nonce = lab.chain.permitNonceOf.get(`${TOKEN} ${owner.address}`) ?? 0n;
          const isRight = permits.signedBy(data, nonce, owner) === owner.address;
          return isRight ? undefined : { kind: 'reverted', reason: 'invalid signer' };
        };
      const txId = await permits.create(1, sender, owner);
      await lab.node.step(sender);
      await lab.node.permits();
      permits.next(owner, 8n);
      for (let look = 0; look < 3; look += 1) {
        await makeWaitingDue(lab.node);
        await lab.node.step(sender);
        lab.chain.mineEmpty();
        await lab.node.follow();
      }
      expect(await lab.node.tx(txId)).toMatchObject({
        state: 'PENDING',
        lastError: `waits until ${owner.address} has signed its permit`,
      });
      await turn();
      expect([await states(txId), await permits.rows()]).toEqual([['IN_MEMPOOL'], ['8 HELD']]);
      expect(permits.sentFor(1).map((data) => permits.signedBy(data, 8n, owner))).toEqual([owner.address]);
    },
  );

  it('when little of its time is left, and nothing is sent with it until then', async () => {
    const txId = await permits.create(1, sender, owner, { ttl: 100 });
    await lab.node.step(sender);
    await lab.node.permits();
    await permits.later(76);
    await lab.node.step(sender);
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'PENDING', nonce: null });
    await turn();
    expect(await states(txId)).toEqual(['IN_MEMPOOL']);
    const left = permits.inData(permits.sentFor(1)[0] ?? NOTHING).deadline - BigInt(Math.floor(Date.now() / 1_000));
    expect(Number(left)).toBeGreaterThan(90);
  });

  it('when half of its time is over, with the same nonce', async () => {
    const txId = await permits.create(1, sender, owner, { ttl: 100 });
    await lab.node.step(sender);
    await lab.node.permits();
    const before = (await permitOf(txId))?.deadline;
    await permits.later(51);
    await lab.node.permits();
    const after = (await permitOf(txId))?.deadline;
    expect(Date.parse(after ?? '')).toBeGreaterThanOrEqual(Date.parse(before ?? ''));
    expect(await permits.rows()).toEqual(['7 HELD']);
  });
});

it('a tx whose permit is made anew while its lane has an older copy is not sent with the old one', async () => {
  const txId = await permits.create(1, sender, owner);
  await lab.node.step(sender);
  await lab.node.permits();
  const fees = lab.chain.l1DataFees.bind(lab.chain);
  // After the lane has looked at the nonce of the permit.
  lab.chain.l1DataFees = async (calls) => {
    permits.next(owner, 8n);
    await lab.node.permits();
    return fees(calls);
  };
  await lab.node.step(sender);
  expect([await states(txId), await permits.rows(), permits.sentFor(1)]).toEqual([['PENDING'], ['8 HELD'], []]);
  lab.chain.l1DataFees = fees;
  await turn();
  expect(permits.sentFor(1).map((data) => permits.signedBy(data, 8n, owner))).toEqual([owner.address]);
});

it('a tx is due as soon as it has its permit', async () => {
  const txId = await permits.create(1, sender, owner);
  await lab.node.step(sender);
  await lab.node.permits();
  await lab.node.step(sender);
  expect(await states(txId)).toEqual(['IN_MEMPOOL']);
});

it('a permit of a tx that got its nonce meanwhile is not made anew', async () => {
  const txId = await permits.create(1, sender, owner, { ttl: 100 });
  await lab.node.step(sender);
  await lab.node.permits();
  await permits.later(51);
  const custody = lab.node.get(Custody);
  const sign = custody.sign.bind(custody);
  custody.sign = async (signer, items) => {
    if (items[0]?.kind === 'typedData') {
      await makeWaitingDue(lab.node);
      await lab.node.step(sender);
    }
    return sign(signer, items);
  };
  const before = await permitOf(txId);
  await lab.node.permits();
  expect([await states(txId), await permitOf(txId)]).toEqual([['IN_MEMPOOL'], before]);
  const ready = await permits.run(`SELECT FROM tx_event WHERE reason = 'permit_ready'`);
  expect(ready).toHaveLength(1);
});

describe('the nonce of a permit', () => {
  it('is free again when its tx was cancelled before it was sent', async () => {
    const [txId, next] = [await permits.create(1, sender, owner), await permits.create(2, other, owner)];
    await lab.node.step(sender, other);
    await lab.node.permits();
    await lab.node.get(SubmitCommand).execute(anOrder('cancel', txId));
    for (let round = 0; round < 3; round += 1) await turn();
    expect([await states(txId, next), await permits.rows()]).toEqual([
      ['CANCELLED', 'IN_MEMPOOL'],
      ['7 RELEASED', '7 HELD'],
    ]);
  });

  it.each([
    ['and used, so it is gone', 8n, ['7 CONSUMED', '8 HELD']],
    ['and not used, so it is free', 7n, ['7 RELEASED', '7 HELD']],
  ])('of a tx that was mined and failed was sent %s', async (_what, contractNonce, rows) => {
    lab.chain.faults.status = () => 'reverted';
    const ids = [await permits.create(1, sender, owner), await permits.create(2, other, owner)];
    for (let round = 0; round < 2; round += 1) await turn();
    await confirm(contractNonce);
    for (let round = 0; round < 3; round += 1) await turn();
    expect([await states(...ids), await permits.rows()]).toEqual([['FAILED', 'IN_MEMPOOL'], rows]);
  });

  it('is kept when a reorg brought its tx back after the look', async () => {
    await permits.create(1, sender, owner);
    for (let round = 0; round < 2; round += 1) await turn();
    await confirm(7n);
    const store = lab.node.get(PermitStore);
    const end = store.end.bind(store);
    store.end = async (...ended) => {
      await permits.run(
        `UPDATE managed_tx SET state = 'IN_MEMPOOL', receipt = NULL, block_number = NULL, block_hash = NULL, confirmed_at = NULL`,
      );
      return end(...ended);
    };
    await lab.node.permits();
    expect(await permits.rows()).toEqual(['7 HELD']);
  });

  it('is kept while its tx is unmined, or nobody tells what the contract says', async () => {
    const txId = await permits.create(1, sender, owner);
    for (let round = 0; round < 2; round += 1) await turn();
    await lab.node.permits();
    await confirm(null);
    await lab.node.permits();
    expect([await states(txId), await permits.rows()]).toEqual([['CONFIRMED'], ['7 HELD']]);
  });
});

describe('a permit that was made', () => {
  async function made(): Promise<string> {
    const txId = await permits.create(1, sender, owner);
    await lab.node.step(sender);
    await lab.node.permits();
    expect(await permits.rows()).toEqual(['7 HELD']);
    return txId;
  }

  it('is not sent while its owner is paused', async () => {
    const txId = await made();
    const scope = { ...owner, account: null };
    await lab.node.get(UnitOfWork).run((tx) => lab.node.get(SignerPauses).pause(tx, scope, aPauseOrder()));
    await lab.node.step(sender);
    expect(await states(txId)).toEqual(['PENDING']);
    await lab.node.get(ResumeSigner).execute(scope, aPauseOrder());
    await turn();
    expect(await states(txId)).toEqual(['IN_MEMPOOL']);
  });

  it('is not sent when its owner was paused after the look', async () => {
    const txId = await made();
    const fees = lab.chain.l1DataFees.bind(lab.chain);
    lab.chain.l1DataFees = async (calls) => {
      await lab.node
        .get(UnitOfWork)
        .run((tx) => lab.node.get(SignerPauses).pause(tx, { ...owner, account: null }, aPauseOrder()));
      return fees(calls);
    };
    await lab.node.step(sender);
    expect([await states(txId), permits.sentFor(1)]).toEqual([['PENDING'], []]);
  });

  it('is not sent when the policy of its owner does not allow it any more', async () => {
    const txId = await made();
    await permits.setPolicy(owner, [], 1);
    for (let round = 0; round < 2; round += 1) await turn();
    expect(await lab.node.tx(txId)).toMatchObject({
      state: 'PENDING',
      lastError: `the policy of ${owner.address} does not allow its permit any more`,
    });
    await permits.setPolicy(owner, [`${TOKEN}/Permit`], 2);
    await turn();
    expect(await states(txId)).toEqual(['IN_MEMPOOL']);
  });
});

it('many that wait keep no other sender of their owner waiting, nor one behind them', async () => {
  for (let tag = 10; tag < 40; tag += 1) await permits.create(tag, sender, owner);
  await permits.run(`UPDATE managed_tx SET next_resubmit_at = NULL`);
  const txId = await permits.create(1, other, owner);
  await lab.node.step(other);
  await lab.node.permits();
  await lab.node.step(other);
  expect(await states(txId)).toEqual(['IN_MEMPOOL']);
  const last = await permits.create(2, sender, owner);
  await confirm(8n);
  await permits.run(`UPDATE managed_tx SET next_resubmit_at = clock_timestamp() WHERE tx_id = '${last}'`);
  // The first page is full of those that no lane has come to.
  for (let look = 0; look < 3; look += 1) await lab.node.permits();
  expect(await permitOf(last)).toMatchObject({ permitNonce: '8' });
});

describe('nothing is signed', () => {
  it('for a tx whose lane has not come to it, nor for one that ended before', async () => {
    const txId = await permits.create(1, sender, owner);
    await lab.node.permits();
    expect(await permits.rows()).toEqual(['- WANTED']);
    await lab.node.get(SubmitCommand).execute(anOrder('cancel', txId));
    await lab.node.permits();
    expect([await states(txId), await permits.rows()]).toEqual([['CANCELLED'], []]);
  });

  it('that no policy of the owner names, or does not any more', async () => {
    await expect(permits.create(1, sender, other)).rejects.toMatchObject({ code: 'policy_refused' });
    await permits.create(2, sender, owner);
    await lab.node.step(sender);
    await permits.setPolicy(owner, [], 1);
    for (let round = 0; round < 2; round += 1) await turn();
    expect(await permits.rows()).toEqual(['- WANTED']);
    await permits.setPolicy(owner, [`${TOKEN}/Permit`], 2);
    await permits.later(60);
    await turn();
    expect(await permits.rows()).toEqual(['7 HELD']);
  });

  it('by a node that has not heard of a narrower policy', async () => {
    await permits.create(1, sender, owner);
    await lab.node.step(sender);
    await permits.setPolicy(owner, [], 1, await lab.startNode());
    await lab.node.permits();
    expect(await permits.rows()).toEqual(['- WANTED']);
  });

  it('for an account that is no signer, because no policy is there for it', async () => {
    const stranger = { chainId: DEV_CHAIN, address: anAddress(0xabcdef) };
    await expect(permits.create(1, sender, stranger)).rejects.toMatchObject({ code: 'policy_refused' });
    expect(await permits.rows()).toEqual([]);
  });

  it.each([true, false])(
    'that the contract would not take yet, nor anything else that is refused where it is stored (%p)',
    async (isFirst) => {
      const custody = lab.node.get(Custody);
      let signed = 0;
      const sign = custody.sign.bind(custody);
      custody.sign = async (signer, items) => ((signed += items[0]?.kind === 'typedData' ? 1 : 0), sign(signer, items));
      await permits.create(1, sender, owner);
      await permits.create(2, other, owner);
      for (let round = 0; round < 2; round += 1) await turn();
      expect([signed, await permits.rows()]).toEqual([1, ['7 HELD', '- WANTED']]);
      lab.chain.mine();
      await lab.node.follow();
      if (isFirst) permits.next(owner, 8n);
      for (let round = 0; round < 3; round += 1) await turn();
      expect(signed).toBe(isFirst ? 2 : 1);
    },
  );

  it.each(['the owner', 'everything'])('while %s is stopped', async (what) => {
    const all = { chainId: null, address: null, account: { id: DEFAULT_ACCOUNT, name: 'default' } };
    const scope = what === 'everything' ? all : { ...owner, account: null };
    await permits.create(1, sender, owner);
    await lab.node.step(sender);
    const store = lab.node.get(PermitStore);
    const make = store.make.bind(store);
    store.make = async (fence, ...made) => {
      // After its node has looked, and has signed.
      await lab.node.get(SignerPauses).pause(fence.tx, scope, aPauseOrder());
      return make(fence, ...made);
    };
    await lab.node.permits();
    store.make = make;
    await lab.node.permits();
    expect(await permits.rows()).toEqual(['- WANTED']);
    await lab.node.get(ResumeSigner).execute(scope, aPauseOrder());
    await lab.live();
    await permits.later(60);
    await lab.node.permits();
    expect(await permits.rows()).toEqual(['7 HELD']);
  });

  it('by a custody that fails, and later it is', async () => {
    const custody = lab.node.get(Custody);
    const sign = custody.sign.bind(custody);
    custody.sign = async () => Promise.reject(new CustodyFailed('down'));
    await permits.create(1, sender, owner);
    await lab.node.step(sender);
    await lab.node.permits();
    expect(await permits.rows()).toEqual(['- WANTED']);
    custody.sign = sign;
    await lab.node.permits();
    expect(await permits.rows()).toEqual(['- WANTED']);
    await permits.later(60);
    await lab.node.permits();
    expect(await permits.rows()).toEqual(['7 HELD']);
  });

  it('for a contract that tells no nonce, and its tx waits', async () => {
    permits.next(owner, null);
    const txId = await permits.create(1, sender, owner);
    for (let round = 0; round < 2; round += 1) await turn();
    expect([await states(txId), await permits.rows()]).toEqual([['PENDING'], ['- WANTED']]);
  });
});

describe('a database that lost commits', () => {
  it.each([true, false])(
    'knows what was sent with a permit that was lost, too, and gives its nonce to nobody (%p)',
    async (isMined) => {
      const database = lab.node.get(Database);
      const ids = [await permits.create(1, sender, owner), await permits.create(2, other, owner)];
      const standby = await Standby.of(database);
      for (let round = 0; round < 2; round += 1) await turn();
      expect(await states(...ids)).toEqual(['IN_MEMPOOL', 'PENDING']);
      await lab.node.releaseLeases();
      await standby.promote(true);
      expect(await permits.rows()).toEqual(['- WANTED', '- WANTED']);
      if (isMined) {
        lab.chain.mine();
        permits.next(owner, 8n);
      }
      const next = await lab.startNode({}, ({ nonce }) => Object.assign(nonce, { poolQuietTime: 1 }));
      await next.step(owner, other);
      await next.permits();
      expect(await permits.rows()).toEqual(['- WANTED', '- WANTED']);
      await next.step(sender);
      expect((await next.tx(ids[0] ?? '')).nonce).toBe(0);
      expect(await permits.rows()).toEqual(['- LOST', '- WANTED']);
      for (let round = 0; round < 3; round += 1) await turn([next]);
      if (!isMined) {
        expect(await permits.rows()).toEqual(['- LOST', '- WANTED']);
        await next.get(SubmitCommand).execute(anOrder('speed_up', ids[0] ?? ''));
        await next.commands();
        expect(await next.get(TxQueries).attempts(ids[0] ?? '')).toHaveLength(2);
      }
      await until('all are final', async () => {
        lab.chain.mine();
        permits.next(owner, lab.chain.minedTxs().some(({ data }) => data === permits.sentFor(2)[0]) ? 9n : 8n);
        lab.chain.mineEmpty(3);
        await next.follow();
        await lab.resubmit(next);
        await lab.checkReceipts(next);
        await turn([next]);
        return (await lab.states(ids, next)).every((state) => state === 'CONFIRMED');
      });
      expect(lab.chain.minedTxs().map(({ from }) => from)).toEqual([sender.address, other.address]);
      expect([permits.sentFor(1).length, permits.sentFor(2).length]).toEqual([1, 1]);
      expect(permits.signedBy(permits.sentFor(2)[0] ?? NOTHING, 8n, owner)).toBe(owner.address);
    },
  );

  it('sends no tx with a permit that it knows, whose nonce may be out with another one', async () => {
    const ids = [await permits.create(1, sender, owner), await permits.create(2, other, owner)];
    await lab.node.step(sender, other);
    await lab.node.permits();
    const standby = await Standby.of(lab.node.get(Database));
    await permits.later(31);
    for (let look = 0; look < 2; look += 1) await lab.node.permits();
    await makeWaitingDue(lab.node);
    await lab.node.step(other);
    expect([await states(...ids), await permits.rows()]).toEqual([
      ['PENDING', 'IN_MEMPOOL'],
      ['- WANTED', '7 HELD'],
    ]);
    await lab.node.releaseLeases();
    await standby.promote(true);
    const next = await lab.startNode({}, ({ nonce }) => Object.assign(nonce, { poolQuietTime: 1 }));
    await next.step(owner, sender);
    for (const searched of [sender, other]) {
      await next.step(searched);
      await makeWaitingDue(next);
      await next.step(sender);
      expect([permits.sentFor(1), (await permits.rows())[0]]).toEqual([[], '7 HELD']);
    }
    expect(await permits.rows()).toEqual(['7 HELD', '- LOST']);
    lab.chain.mine();
    permits.next(owner, 8n);
    // Mined is not enough: nobody here knows the nonce that an endpoint behind would tell again.
    for (const blocks of [0, 2]) {
      expect(permits.sentFor(1)).toEqual([]);
      lab.chain.mineEmpty(blocks);
      await next.follow();
      for (let round = 0; round < 2; round += 1) await turn([next]);
    }
    expect(permits.sentFor(1).map((data) => permits.signedBy(data, 8n, owner))).toEqual([owner.address]);
  });

  it('keeps no permit back for what came later of a sender that nobody can look for', async () => {
    await lab.node.releaseLeases();
    await (await Standby.of(lab.node.get(Database))).promote(true);
    const next = await lab.startNode({}, ({ nonce }) => Object.assign(nonce, { poolQuietTime: 1 }));
    await permits.create(1, sender, owner);
    await permits.create(2, other, owner);
    await next.step(owner, sender);
    await next.permits();
    expect(await permits.rows()).toEqual(['- WANTED', '- WANTED']);
    await permits.run(`UPDATE database_epoch SET started_at = started_at - interval '11 minutes'`);
    await next.permits();
    expect(await permits.rows()).toEqual(['7 HELD', '- WANTED']);
  });

  it.each([7n, 8n])(
    'leaves a permit alone whose tx waits although it was sent, and that is bumped with the call that was sent (with nonce %p)',
    async (sentWith) => {
      const database = lab.node.get(Database);
      const ids = [await permits.create(1, sender, owner, { ttl: 100 }), await permits.create(2, other, owner)];
      await lab.node.step(sender, other);
      await lab.node.permits();
      const [use] = await lab.node.get(PermitStore).open(DEV_CHAIN, [owner]);
      const standby = await Standby.of(database);
      permits.next(owner, sentWith);
      await makeWaitingDue(lab.node);
      await lab.node.permits();
      await makeWaitingDue(lab.node);
      await lab.node.step(sender);
      expect(await states(...ids)).toEqual(['IN_MEMPOOL', 'PENDING']);
      await lab.node.releaseLeases();
      await standby.promote(true);
      expect([await states(...ids), await permits.rows()]).toEqual([
        ['PENDING', 'PENDING'],
        ['7 HELD', '- WANTED'],
      ]);
      const before = await permitOf(ids[0] ?? '');
      const next = await lab.startNode({}, ({ nonce }) => Object.assign(nonce, { poolQuietTime: 1 }));
      await next.step(owner, other);
      await permits.later(51);
      const moved = (await permitOf(ids[0] ?? ''))?.deadline;
      await next.permits();
      expect([await permits.rows(), (await permitOf(ids[0] ?? ''))?.deadline]).toEqual([['7 HELD', '- WANTED'], moved]);
      // As by a look from before.
      const lease = next
        .get(LeaseManager)
        .heldOn(DEV_CHAIN)
        .find(({ signer }) => signer.address === owner.address);
      if (!use || !lease) throw new Error('nothing was read');
      await next.get(WriteChanges).underFence([lease], 'test', async (fence) => {
        expect(await next.get(PermitStore).withdraw(fence, use, 0)).toBe(false);
        return {};
      });
      await next.step(sender);
      expect([(await next.tx(ids[0] ?? '')).nonce, before?.permitNonce, await permits.rows()]).toEqual([
        ...[0, '7'],
        ['7 HELD', '- WANTED'],
      ]);
      await next.get(SubmitCommand).execute(anOrder('speed_up', ids[0] ?? ''));
      await next.commands();
      expect(await next.get(TxQueries).attempts(ids[0] ?? '')).toHaveLength(2);
      expect(permits.sentFor(1).map((data) => permits.signedBy(data, sentWith, owner))).toEqual([owner.address]);
    },
  );
});
