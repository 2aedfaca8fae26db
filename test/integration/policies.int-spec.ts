import { describe, expect, it, jest } from '@jest/globals';
import { Transaction } from 'ethers';
import { DEV_MNEMONIC } from '../../src/dev/dev-accounts.js';
import { LaneMemory } from '../../src/modules/ledger/index.js';
import { SpendLedger } from '../../src/modules/policies/index.js';
import { AttemptSigner, NotEncodable } from '../../src/modules/sending/application/attempt-signer.js';
import { SignAttempts } from '../../src/modules/sending/index.js';
import { FencedUnitOfWork, NonceLedger } from '../../src/modules/signers/index.js';
import { Database } from '../../src/platform/database/database.js';
import { anAddress, aRequest } from '../support/builders.js';
import { gate } from '../support/gate.js';
import { loseCommitsOfLanes } from '../support/lost-commits.js';
import { makeWaitingDue, nodeLab } from '../support/node-lab.js';
import { RaceLab } from '../support/race-lab.js';
import { tagged } from '../support/send-faults.js';
import type { TestNode } from '../support/test-node.js';

const lab = nodeLab();
const races = new RaceLab(lab);

const GWEI = 1_000_000_000n;
/** Of an estimate, with its margin. */
const GAS_LIMIT = 26_250n;
const CAP = 10n * GWEI;
/** The most that a tx of these tests can cost, and what the model of the chain takes for it. */
const [WORST, ACTUAL] = [GAS_LIMIT * CAP, 21_000n * GWEI];

const bound = (policy: Record<string, unknown>, cap = CAP) => ({
  signers: [{ type: 'mnemonic', phrase: DEV_MNEMONIC, count: 5, fees: { maxFeePerGas: String(cap) }, policy }],
});

/** All nodes of the lab have the policy from now on. */
async function boundBy(policy: Record<string, unknown>): Promise<TestNode> {
  await lab.node.releaseLeases();
  return lab.startNode(bound(policy));
}

const paying = (tag: number, value: bigint, overrides: Parameters<typeof lab.create>[1] = {}): Promise<string> =>
  lab.create(tag, { payload: { ...aRequest().payload, value, data: tagged(tag) }, ...overrides });

/** Of all that was ever sent, for each nonce the most that could be mined: read from the signed bytes, and not from our books. */
function exposed(): { value: bigint; fees: bigint } {
  const most = new Map<number, { value: bigint; fees: bigint }>();
  for (const { raw } of lab.chain.sent) {
    const { nonce, value, gasLimit, maxFeePerGas } = Transaction.from(raw);
    const known = most.get(nonce) ?? { value: 0n, fees: 0n };
    const fees = gasLimit * (maxFeePerGas ?? 0n);
    most.set(nonce, { value: value > known.value ? value : known.value, fees: fees > known.fees ? fees : known.fees });
  }
  return [...most.values()].reduce((sum, one) => ({ value: sum.value + one.value, fees: sum.fees + one.fees }), {
    value: 0n,
    fees: 0n,
  });
}

async function again(node: TestNode): Promise<void> {
  await makeWaitingDue(node);
  await node.step();
}

interface Sums {
  readonly reserved: readonly [string, string];
  readonly spent: readonly [string, string];
}

/** Value and fees. */
async function books(node: TestNode): Promise<Sums> {
  const sums = async (table: string): Promise<[string, string]> => {
    const { rows } = await node.get(Database).query<{ value: string; fees: string }>(
      {
        name: `test_sums_${table}`,
        text: `SELECT coalesce(sum(value), 0)::text AS value, coalesce(sum(fees), 0)::text AS fees FROM ${table}`,
      },
      [],
    );
    return [rows[0]?.value ?? '', rows[0]?.fees ?? ''];
  };
  return { reserved: await sums('signer_reserve'), spent: await sums('signer_spent') };
}

const END_LEASES = {
  name: 'test_end_leases',
  text: `UPDATE signer_lease SET expires_at = clock_timestamp() - interval '1 minute'`,
};

const pair = (value: bigint, fees: bigint): [string, string] => [String(value), String(fees)];

describe('a policy', () => {
  it('that became stricter refuses what waits where its nonce is taken, so that it blocks nothing', async () => {
    const [refused, allowed] = [await paying(1, 9n), await paying(2, 8n)];
    const node = await boundBy({ maxValue: '8' });
    await node.step();
    expect(await node.tx(refused)).toMatchObject({
      state: 'FAILED',
      nonce: null,
      failureReason: 'policy_refused: maxValue: maxValue is 8 wei, and it needs 9',
    });
    expect(await node.tx(allowed)).toMatchObject({ state: 'IN_MEMPOOL', nonce: 0 });
  });

  it('refuses a request at intake, and nothing is stored', async () => {
    const node = await boundBy({ maxValue: '8' });
    const request = { ...aRequest(), signer: node.signer() };
    const payload = { ...request.payload, value: 9n };
    await expect(node.create({ ...request, payload })).rejects.toMatchObject({ code: 'policy_refused' });
    expect(await node.create({ ...request })).toMatchObject({ isNew: true });
  });

  it('refuses a request at intake also at a node that does not have the key', async () => {
    const { address } = lab.node.signer();
    const policy = { maxValue: '8' };
    const node = await lab.startNode({ signers: [{ type: 'elsewhere', addresses: [address], policy }] });
    const request = { ...aRequest(), signer: lab.node.signer() };
    const payload = { ...request.payload, value: 9n };
    await expect(node.create({ ...request, payload })).rejects.toMatchObject({ code: 'policy_refused' });
    expect(await node.create(request)).toMatchObject({ isNew: true });
  });

  it('that only reports refuses and holds nothing', async () => {
    const txIds = [await paying(1, 9n), await paying(2, 9n)];
    const node = await boundBy({ maxValue: '8', dailyValue: '10', to: [], dryRun: true });
    await node.step();
    expect(await lab.states(txIds)).toEqual(['IN_MEMPOOL', 'IN_MEMPOOL']);
  });

  it('lowers the caps so that no attempt costs more than maxFee, and bumps neither', async () => {
    const txId = await paying(1, 1n);
    const node = await boundBy({ maxFee: String(GAS_LIMIT * 4n * GWEI) });
    await node.step();
    for (let round = 0; round < 4; round += 1) {
      lab.chain.mineEmpty(6);
      await node.follow();
      await node.bump();
    }
    const prices = lab.chain.sent.map(({ maxFeePerGas }) => maxFeePerGas);
    expect(prices.length).toBeGreaterThan(1);
    expect(prices.filter((price) => price > 4n * GWEI)).toEqual([]);
    expect(await node.tx(txId)).toMatchObject({ state: 'IN_MEMPOOL', subState: 'FEE_CAPPED' });
  });
});

describe('the daily value', () => {
  it('is never exceeded by one wei, with 200 concurrent creates at three nodes that take over from each other', async () => {
    const limit = 1_000n;
    const policy = { dailyValue: String(limit) };
    const nodes = [await boundBy(policy), await lab.startNode(bound(policy)), await lab.startNode(bound(policy))];
    const values = Array.from({ length: 200 }, (_, tag) => BigInt(3 + (tag % 17)));
    const txIds = await Promise.all(
      values.map(async (value, tag) => {
        const request = aRequest({ signer: lab.node.signer(), requestId: `many-${tag}` });
        const node = nodes[tag % nodes.length] ?? lab.node;
        return (await node.create({ ...request, payload: { ...request.payload, value, data: tagged(tag) } })).txId;
      }),
    );
    for (let round = 0; round < 6; round += 1) {
      await makeWaitingDue(lab.node);
      // Another owner each time, while the last one still trusts its lease.
      await nodes[round % nodes.length]?.step();
      await Promise.all(nodes.map((node) => node.step()));
      expect(exposed().value).toBeLessThanOrEqual(limit);
      lab.chain.mine();
      await Promise.all(nodes.map((node) => node.follow()));
      // In every other round what is mined is not final when the next owner comes.
      if (round % 2 === 0) lab.chain.mineEmpty(2);
      await Promise.all(nodes.map((node) => node.follow()));
      await lab.node.get(Database).query(END_LEASES, []);
    }
    // The least value is 3 wei, and nothing that fits is left waiting.
    expect(exposed().value).toBeGreaterThan(limit - 3n);
    const states = await lab.states(txIds);
    const held = await lab.node.tx(txIds[states.indexOf('PENDING')] ?? '');
    expect(held).toMatchObject({ subState: 'POLICY_HELD', nonce: null });
  });

  it('holds what has no room and lets pass what has, until a value comes back', async () => {
    const node = await boundBy({ dailyValue: '100' });
    const [large, held, small] = [await paying(1, 70n), await paying(2, 40n), await paying(3, 30n)];
    await node.step();
    expect(await lab.states([large, held, small])).toEqual(['IN_MEMPOOL', 'PENDING', 'IN_MEMPOOL']);
    expect(await node.tx(held)).toMatchObject({ subState: 'POLICY_HELD' });
    lab.chain.faults.status = ({ data }) => (data === tagged(1) ? 'reverted' : 'success');
    await lab.confirmAll(node);
    expect(await lab.states([large])).toEqual(['FAILED']);
    // Without waiting for its timer.
    await node.step();
    expect(await lab.states([held])).toEqual(['IN_MEMPOOL']);
    expect(await books(node)).toMatchObject({
      reserved: ['40', expect.any(String)],
      spent: ['30', expect.any(String)],
    });
  });

  it('asks no other signer for an authorization for what has no room: it would hold back its payloads again and again', async () => {
    const node = await boundBy({ dailyValue: '100', authorizations: true });
    await paying(1, 100n);
    await node.step();
    const authority = node.signer(1);
    const authorizationList = [
      { chainId: BigInt(authority.chainId), address: anAddress(0xc0de), authority: authority.address },
    ];
    const payload = { ...aRequest().payload, value: 1n, data: tagged(2), authorizationList };
    const held = await lab.create(2, { payload });
    for (let round = 0; round < 3; round += 1) {
      await again(node);
      expect(await node.tx(held)).toMatchObject({ state: 'PENDING', subState: 'POLICY_HELD' });
      await node.authorizations();
    }
    const text = 'SELECT count(nonce)::int AS signed, sum(tries)::int AS tries FROM tx_authorization';
    const { rows } = await node.get(Database).query({ name: 'test_turns', text }, []);
    expect(rows).toEqual([{ signed: 0, tries: 0 }]);
  });

  it('has room again 24 hours after what used it was final, by the clock of the database', async () => {
    const node = await boundBy({ dailyValue: '100' });
    await paying(1, 100n);
    await node.step();
    await lab.confirmAll(node);
    const waiting = [await paying(2, 1n), await paying(3, 1n)];
    await again(node);
    expect(await lab.states(waiting)).toEqual(['PENDING', 'PENDING']);
    const { rows } = await node.get(Database).query<{ hours: number }>(
      {
        name: 'test_hours_of_spending',
        text: `SELECT extract(epoch FROM counts_until - clock_timestamp())::float8 / 3600 AS hours FROM signer_spent`,
      },
      [],
    );
    expect(rows[0]?.hours).toBeGreaterThan(23.9);
    expect(rows[0]?.hours).toBeLessThan(24.1);
    const text = `UPDATE signer_spent SET counts_until = clock_timestamp() + interval '0.3 seconds'`;
    await node.get(Database).query({ name: 'test_a_day_passes', text }, []);
    await again(node);
    expect(await lab.states(waiting)).toEqual(['PENDING', 'PENDING']);
    // Their timers would be seconds: the end of the day is known, and the first of them makes the other due.
    await new Promise((end) => setTimeout(end, 400));
    await node.step();
    expect((await lab.states(waiting)).toSorted()).toEqual(['IN_MEMPOOL', 'PENDING']);
    await node.step();
    expect(await lab.states(waiting)).toEqual(['IN_MEMPOOL', 'IN_MEMPOOL']);
    expect(await books(node)).toMatchObject({ spent: ['0', '0'] });
  });

  it('ends what waits for it when it expires', async () => {
    const node = await boundBy({ dailyValue: '100' });
    await paying(1, 100n);
    const late = await paying(2, 1n, { expiresAt: new Date(Date.now() + 1_500) });
    await node.step();
    expect(await node.tx(late)).toMatchObject({ subState: 'POLICY_HELD' });
    await new Promise((end) => setTimeout(end, 1_600));
    await node.commands();
    expect(await lab.states([late])).toEqual(['DROPPED']);
  });

  it('counts what was in flight before there was a policy', async () => {
    await paying(1, 60n);
    await lab.node.step();
    const node = await boundBy({ dailyValue: '100' });
    const [held, fits] = [await paying(2, 41n), await paying(3, 40n)];
    await node.step();
    expect(await lab.states([held, fits])).toEqual(['PENDING', 'IN_MEMPOOL']);
  });

  it('is reserved once when the node dies after the commit, and not at all when it dies before', async () => {
    const node = await boundBy({ dailyValue: '100' });
    const txId = await paying(1, 60n);
    const ledger = node.get(NonceLedger);
    const hold = ledger.hold.bind(ledger);
    ledger.hold = () => Promise.reject(new Error('the server went away'));
    await node.step();
    expect(await books(node)).toMatchObject({ reserved: ['0', '0'] });
    ledger.hold = hold;
    lab.chain.faults.broadcast = () => {
      throw new Error('the node dies before it sends');
    };
    await expect(again(node)).rejects.toThrow('dies before it sends');
    expect(await books(node)).toMatchObject({ reserved: ['60', expect.any(String)] });
    delete lab.chain.faults.broadcast;
    await node.releaseLeases();
    const next = await lab.startNode(bound({ dailyValue: '100' }));
    const [held, fits] = [await paying(2, 41n), await paying(3, 40n)];
    await again(next);
    await next.resubmit();
    expect(await lab.states([txId, held, fits])).toEqual(['IN_MEMPOOL', 'PENDING', 'IN_MEMPOOL']);
    expect(exposed().value).toBe(100n);
  });

  it('keeps the reserve of a tx whose block a reorg orphaned, and counts it again when it had been final', async () => {
    const node = await boundBy({ dailyValue: '100' });
    const txId = await paying(1, 60n);
    await node.step();
    await lab.mine(node);
    lab.chain.reorg(1);
    await node.follow();
    const held = await paying(2, 41n);
    await node.step();
    expect(await lab.states([txId, held])).toEqual(['IN_MEMPOOL', 'PENDING']);
    await lab.confirmAll(node);
    await again(node);
    expect(await books(node)).toMatchObject({ reserved: ['0', '0'], spent: ['60', expect.any(String)] });
    lab.chain.reorg(3);
    await node.follow();
    expect(await lab.states([txId])).toEqual(['IN_MEMPOOL']);
    await again(node);
    // Too much rather than too little: what was written down as spent stays for its day.
    expect(await books(node)).toMatchObject({
      reserved: ['60', expect.any(String)],
      spent: ['60', expect.any(String)],
    });
  });

  it('is given back once, when a payload that nodes refuse gets another nonce', async () => {
    const node = await boundBy({ dailyValue: '100' });
    const txId = await paying(1, 60n);
    await node.step();
    await races.cancel(txId);
    await lab.live(2, node);
    expect(await lab.states([txId])).toEqual(['CANCELLED']);
    const whole = await paying(2, 100n);
    await again(node);
    expect(await lab.states([whole])).toEqual(['IN_MEMPOOL']);
    expect(await books(node)).toMatchObject({ reserved: ['100', expect.any(String)], spent: ['0', '0'] });
  });

  it('is raised by a replace under the same rule, which waits until there is room', async () => {
    const node = await boundBy({ dailyValue: '100' });
    const [other, original] = [await paying(1, 10n), await paying(2, 60n)];
    await node.step();
    const payload = { ...aRequest().payload, value: 91n, data: tagged(3) };
    const { replacement } = await races.replace(original, 3, { payload }, node);
    await node.commands();
    expect(await lab.states([original, replacement ?? ''])).toEqual(['IN_MEMPOOL', 'PENDING']);
    expect(exposed().value).toBe(70n);
    lab.chain.faults.status = ({ data }) => (data === tagged(1) ? 'reverted' : 'success');
    lab.chain.mine(1);
    await node.follow();
    lab.chain.mineEmpty(2);
    await node.follow();
    expect(await lab.states([other])).toEqual(['FAILED']);
    await node.commands();
    expect(await lab.states([replacement ?? ''])).toEqual(['IN_MEMPOOL']);
    expect(await books(node)).toMatchObject({ reserved: ['91', expect.any(String)] });
  });
});

describe('the daily fees', () => {
  it('are reserved at the caps, and what was not used comes back when the tx is final', async () => {
    const node = await boundBy({ dailyFees: String(2n * WORST) });
    const txIds = [await paying(1, 1n), await paying(2, 1n), await paying(3, 1n)];
    await node.step();
    expect(await lab.states(txIds)).toEqual(['IN_MEMPOOL', 'IN_MEMPOOL', 'PENDING']);
    expect((await books(node)).reserved).toEqual(pair(2n, 2n * WORST));
    await lab.confirmAll(node);
    await again(node);
    expect(await lab.states(txIds)).toEqual(['CONFIRMED', 'CONFIRMED', 'IN_MEMPOOL']);
    expect(await books(node)).toEqual({ reserved: pair(1n, WORST), spent: pair(2n, 2n * ACTUAL) });
  });

  it('are reserved at the own price of a request, also when the next one gets its nonce', async () => {
    const own = GAS_LIMIT * 4n * GWEI;
    const node = await boundBy({ dailyFees: String(own + WORST) });
    const first = await paying(1, 1n, { fees: { ...aRequest().fees, maxFeePerGas: 4n * GWEI } });
    await node.step();
    const second = await paying(2, 1n);
    await node.step();
    expect(await lab.states([first, second])).toEqual(['IN_MEMPOOL', 'IN_MEMPOOL']);
    expect((await books(node)).reserved).toEqual(pair(2n, own + WORST));
  });

  it('hold no bump and no speed-up above what is reserved', async () => {
    const fees = { ...aRequest().fees, maxFeePerGas: 4n * GWEI };
    const txId = await paying(1, 1n, { fees });
    const node = await boundBy({ dailyFees: String(GAS_LIMIT * 4n * GWEI) });
    await node.step();
    expect((await books(node)).reserved).toEqual(pair(1n, GAS_LIMIT * 4n * GWEI));
    for (let round = 0; round < 4; round += 1) {
      lab.chain.mineEmpty(6);
      await node.follow();
      await node.bump();
      await races.speedUp(txId, null, node);
      await node.commands();
    }
    expect(exposed().fees).toBeLessThanOrEqual(GAS_LIMIT * 4n * GWEI);
  });

  it('bound the bumps and speed-ups of what was sent before there was a policy, also when nothing else needs the sum', async () => {
    const txId = await paying(1, 1n);
    await lab.node.step();
    const limit = GAS_LIMIT * 6n * GWEI;
    expect(exposed().fees).toBeLessThan(limit);
    const node = await boundBy({ dailyFees: String(limit) });
    await node.step();
    for (let round = 0; round < 6; round += 1) {
      lab.chain.mineEmpty(6);
      await node.follow();
      await node.bump();
      await races.speedUp(txId, null, node);
      await node.commands();
    }
    // Raised, as far as the day has room.
    expect(lab.chain.sent.length).toBeGreaterThan(1);
    expect(exposed().fees).toBeLessThanOrEqual(limit);
    await paying(2, 1n);
    await node.step();
    expect(exposed().fees).toBeLessThanOrEqual(limit);
    expect((await books(node)).reserved).toEqual(pair(1n, limit));
  });

  it('bound what has a nonce and was not signed when the caps became higher', async () => {
    const low = GWEI + GWEI / 2n;
    const policy = { dailyFees: String(GAS_LIMIT * low) };
    await lab.node.releaseLeases();
    const node = await lab.startNode(bound(policy, low));
    const sign = jest
      .spyOn(node.get(SignAttempts), 'execute')
      .mockRejectedValue(new Error('the node dies before it signs'));
    const txId = await paying(1, 1n);
    await expect(node.step()).rejects.toThrow('dies before it signs');
    expect((await books(node)).reserved).toEqual(pair(1n, GAS_LIMIT * low));
    sign.mockRestore();
    await node.releaseLeases();
    const next = await lab.startNode(bound(policy));
    await next.step();
    expect(await lab.states([txId])).toEqual(['IN_MEMPOOL']);
    expect(exposed().fees).toBeLessThanOrEqual(GAS_LIMIT * low);
  });

  it('refuse what could never have room, so that it does not wait for ever', async () => {
    const txId = await paying(1, 1n);
    const node = await boundBy({ dailyFees: String(WORST - 1n) });
    await node.step();
    expect(await node.tx(txId)).toMatchObject({ state: 'FAILED' });
  });

  it('hold no no-op: a cancel goes out when nothing is left', async () => {
    const node = await boundBy({ dailyFees: String(WORST) });
    const txId = await paying(1, 1n);
    await node.step();
    await races.cancel(txId);
    await lab.live(2, node);
    expect(await lab.states([txId])).toEqual(['CANCELLED']);
  });
});

describe('a payload whose reserve is not there, or too low', () => {
  const LIMIT = { dailyValue: '100' };

  it('counts, when the commit of its nonce was lost, and it becomes final before the next sum', async () => {
    const node = await boundBy(LIMIT);
    const txId = await paying(1, 60n);
    await node.step();
    await node.releaseLeases();
    await loseCommitsOfLanes(node.get(Database));
    await node.get(Database).query({ name: 'test_lose_reserves', text: 'DELETE FROM signer_reserve' }, []);
    const next = await lab.startNode(bound(LIMIT), ({ nonce }) => Object.assign(nonce, { poolQuietTime: 1 }));
    await next.step();
    lab.chain.mine();
    lab.chain.mineEmpty(2);
    await next.follow();
    await lab.checkReceipts(next);
    lab.chain.mineEmpty(2);
    await next.follow();
    expect(await lab.states([txId])).toEqual(['CONFIRMED']);
    const held = await paying(2, 41n);
    await again(next);
    expect(await lab.states([held])).toEqual(['PENDING']);
    expect(exposed().value).toBe(60n);
  });

  it('counts what took its place while there was no policy', async () => {
    const before = await boundBy(LIMIT);
    const original = await paying(1, 60n);
    await before.step();
    await before.releaseLeases();
    const without = await lab.startNode();
    const payload = { ...aRequest().payload, value: 91n, data: tagged(2) };
    const { replacement } = await races.replace(original, 2, { payload }, without);
    await without.step();
    await without.commands();
    expect(await lab.states([replacement ?? ''])).toEqual(['IN_MEMPOOL']);
    await without.releaseLeases();
    const node = await lab.startNode(bound(LIMIT));
    const [held, fits] = [await paying(3, 10n), await paying(4, 9n)];
    await node.step();
    expect(await lab.states([held, fits])).toEqual(['PENDING', 'IN_MEMPOOL']);
  });

  it('counts, when it had reverted in a final block that a reorg took back', async () => {
    const node = await boundBy(LIMIT);
    lab.chain.faults.status = ({ data }) => (data === tagged(1) ? 'reverted' : undefined);
    const txId = await paying(1, 60n);
    await node.step();
    await lab.confirmAll(node);
    await paying(2, 1n);
    node.get(LaneMemory).sumUpAgain([node.signer()]);
    await again(node);
    expect(await lab.states([txId])).toEqual(['FAILED']);
    expect((await books(node)).spent).toEqual(['0', expect.any(String)]);
    delete lab.chain.faults.status;
    lab.chain.reorg(3, { drop: true });
    await node.follow();
    await lab.resubmit(node);
    await lab.confirmAll(node);
    expect(await lab.states([txId])).toEqual(['CONFIRMED']);
    const held = await paying(3, 41n);
    await again(node);
    expect(await lab.states([held])).toEqual(['PENDING']);
  });
});

describe('what is spent is remembered from commit to commit', () => {
  it('as long as there is room, and what every slot reserves is written down all the same', async () => {
    const node = await boundBy({ dailyValue: '100' });
    const spent = jest.spyOn(node.get(SpendLedger), 'spent');
    const sums = () => spent.mock.calls.filter(([, signers]) => signers.length > 0).length;
    const txIds = [];
    for (const [index, value] of [30n, 40n, 30n].entries()) {
      txIds.push(await paying(index, value));
      await node.step();
      expect((await books(node)).reserved[0]).toBe(['30', '70', '100'][index]);
    }
    expect(await lab.states(txIds)).toEqual(['IN_MEMPOOL', 'IN_MEMPOOL', 'IN_MEMPOOL']);
    // One, and another one when ten seconds end meanwhile.
    expect(sums()).toBeLessThan(txIds.length);
    lab.chain.faults.status = () => 'reverted';
    await lab.confirmAll(node);
    // It remembers 100, and nothing is spent.
    const next = await paying(4, 100n);
    await again(node);
    expect(await lab.states([next])).toEqual(['IN_MEMPOOL']);
    const held = await paying(5, 1n);
    await node.step();
    expect(await lab.states([held])).toEqual(['PENDING']);
  });

  it('with what a replacement of a higher value reserved meanwhile', async () => {
    const node = await boundBy({ dailyValue: '100' });
    const original = await paying(1, 10n);
    await node.step();
    const payload = { ...aRequest().payload, value: 91n, data: tagged(2) };
    const { replacement } = await races.replace(original, 2, { payload }, node);
    await node.commands();
    expect(await lab.states([replacement ?? ''])).toEqual(['IN_MEMPOOL']);
    const [held, fits] = [await paying(3, 10n), await paying(4, 9n)];
    await node.step();
    expect(await lab.states([held, fits])).toEqual(['PENDING', 'IN_MEMPOOL']);
    expect(exposed().value).toBe(100n);
  });

  it('with what a bump reserved meanwhile of what had been sent before there was a policy', async () => {
    await paying(1, 1n);
    await lab.node.step();
    const old = exposed().fees;
    expect(old).toBeLessThan(WORST);
    // Room for three as long as the old one costs no more than it was signed for.
    const limit = old + 2n * WORST;
    const node = await boundBy({ dailyFees: String(limit) });
    await paying(2, 1n);
    await node.step();
    for (let round = 0; round < 4; round += 1) {
      lab.chain.mineEmpty(6);
      await node.follow();
      await node.bump();
    }
    expect((await books(node)).reserved).toEqual(pair(2n, 2n * WORST));
    const held = await paying(3, 1n);
    await node.step();
    expect(await lab.states([held])).toEqual(['PENDING']);
    expect(exposed().fees).toBeLessThanOrEqual(limit);
  });

  it('also where a slot is given back and taken by another tx, which reserves what it needs itself', async () => {
    const node = await boundBy({ dailyValue: '100' });
    jest.spyOn(node.get(AttemptSigner), 'sign').mockRejectedValueOnce(new NotEncodable(new Error('no such number')));
    const failed = await paying(1, 10n);
    await node.step();
    const next = await paying(2, 60n);
    await node.step();
    expect(await node.tx(failed)).toMatchObject({ state: 'FAILED' });
    expect(await node.tx(next)).toMatchObject({ state: 'IN_MEMPOOL', nonce: 0 });
    expect((await books(node)).reserved[0]).toBe('60');
  });

  it('not by a former owner that comes back', async () => {
    const node = await boundBy({ dailyValue: '100' });
    const other = await lab.startNode(bound({ dailyValue: '100' }));
    for (const [tag, owner] of [node, other].entries()) {
      await paying(tag, 40n);
      await owner.step();
      await owner.releaseLeases();
    }
    expect(exposed().value).toBe(80n);
    const held = await paying(3, 40n);
    await node.step();
    expect(await lab.states([held])).toEqual(['PENDING']);
  });

  it('not after a commit whose answer was lost', async () => {
    const node = await boundBy({ dailyValue: '100' });
    await paying(1, 40n);
    await node.step();
    const units = node.get(FencedUnitOfWork);
    const run = units.run.bind(units);
    const lost = jest.spyOn(units, 'run').mockImplementation(async (leases, operation, work) => {
      const result = await run(leases, operation, work);
      if (operation === 'allocate') throw new Error('the answer to the commit is lost');
      return result;
    });
    const written = await paying(2, 40n);
    await node.step();
    lost.mockRestore();
    expect((await books(node)).reserved[0]).toBe('80');
    const [held, fits] = [await paying(3, 40n), await paying(4, 20n)];
    await again(node);
    await again(node);
    expect(await lab.states([written, held, fits])).toEqual(['IN_MEMPOOL', 'PENDING', 'IN_MEMPOOL']);
    expect(exposed().value).toBe(100n);
  });

  it('not before it is decided what a bump reserved by a commit without an answer', async () => {
    await paying(1, 1n);
    await lab.node.step();
    const limit = exposed().fees + 2n * WORST;
    const node = await boundBy({ dailyFees: String(limit) });
    await paying(2, 1n);
    await node.step();
    const units = node.get(FencedUnitOfWork);
    const run = units.run.bind(units);
    const [written, decided] = [gate(), gate()];
    const landings: Promise<unknown>[] = [];
    const lost = jest.spyOn(units, 'run').mockImplementation(async (leases, operation, work) => {
      if (operation !== 'reserve') return run(leases, operation, work);
      const landing = run(leases, operation, async (fence) => {
        const result = await work(fence);
        written.open();
        await decided.opened;
        return result;
      });
      landings.push(landing);
      await written.opened;
      throw new Error('the answer to the commit is lost');
    });
    try {
      lab.chain.mineEmpty(6);
      await node.follow();
      await node.bump().catch(() => undefined);
      expect(landings.length).toBe(1);
      lost.mockRestore();
      const held = await paying(3, 1n);
      await node.step();
      expect(await lab.states([held])).toEqual(['PENDING']);
      decided.open();
      await Promise.all(landings);
      await node.step();
      expect(await lab.states([held])).toEqual(['PENDING']);
      expect((await books(node)).reserved).toEqual(pair(2n, 2n * WORST));
      expect(exposed().fees).toBeLessThanOrEqual(limit);
    } finally {
      decided.open();
    }
  });
});
