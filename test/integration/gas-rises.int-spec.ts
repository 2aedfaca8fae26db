import { beforeEach, describe, expect, it } from '@jest/globals';
import { Transaction } from 'ethers';
import { TxHistory } from '../../src/modules/events/index.js';
import type { NodeErrorClass } from '../../src/kernel/node-error-class.js';
import { TxQueries } from '../../src/modules/ledger/application/views/tx-views.js';
import { aRequest } from '../support/builders.js';
import type { ModelTx } from '../support/model-chain.js';
import { makeDue, nodeLab } from '../support/node-lab.js';
import { RaceLab } from '../support/race-lab.js';
import { refused, type SendFault, tagged, timedOut } from '../support/send-faults.js';

/* What a chain counts as gas may rise between an estimate and its send: Arbitrum and zkSync Era count what they pay to their L1. */

const lab = nodeLab();
const race = new RaceLab(lab);
const PAID = 1;
const ESTIMATE = 40_000n;
/** The estimate and its margin. */
const FIRST_LIMIT = 50_000n;

/** What the chain wants for the payload now. */
let wanted: bigint;
/** What is estimated; null while no node answers. */
let estimate: bigint | null;
let words: SendFault;

beforeEach(() => {
  [wanted, estimate] = [ESTIMATE, ESTIMATE];
  words = refused('intrinsic_gas_too_low', 'intrinsic gas too low');
  lab.chain.faults.broadcast = (tx) => (isPaid(tx) && gasOf(tx) < wanted ? words : undefined);
  lab.chain.faults.estimate = ({ data }) => {
    if (data !== tagged(PAID)) return undefined;
    return estimate === null ? { kind: 'unavailable', message: 'busy' } : { kind: 'ok', gas: estimate };
  };
});

function isPaid({ data }: ModelTx): boolean {
  return data === tagged(PAID);
}

function gasOf({ raw }: ModelTx): bigint {
  return Transaction.from(raw).gasLimit;
}

/** The gas limits with which the payload was sent, without repetitions. */
function limits(): bigint[] {
  return [...new Set(lab.chain.sent.filter(isPaid).map(gasOf))];
}

/** Its first send finds that gas has risen. */
async function sentAfterRise(): Promise<string> {
  wanted = 100_000n;
  return lab.sent(PAID);
}

async function expectPaidOnce(txId: string): Promise<void> {
  await lab.confirmAll();
  expect(await lab.node.tx(txId)).toMatchObject({ state: 'CONFIRMED', nonce: 0, failureReason: null });
  expect(lab.minedWith(PAID)).toHaveLength(1);
  expect(lab.chain.minedTxs().filter(({ data }) => data === '0x')).toEqual([]);
}

describe('a payload with an estimate that is too low when it is sent', () => {
  it.each<[string, NodeErrorClass, string]>([
    ['Arbitrum', 'intrinsic_gas_too_low', 'intrinsic gas too low'],
    [
      'zkSync Era',
      'invalid_transaction',
      'failed to validate the transaction. reason: Validation revert: Account validation error: Not enough gas for transaction validation',
    ],
    [
      'Filecoin',
      'intrinsic_gas_too_low',
      "message will not be included in a block: 'GasLimit' field cannot be less than the cost of storing a message on chain",
    ],
    ['Hedera', 'intrinsic_gas_too_low', 'Intrinsic gas exceeds gas limit'],
  ])('is estimated and signed again with its nonce, and paid once (%s)', async (_chain, errorClass, message) => {
    words = refused(errorClass, message);
    const txId = await sentAfterRise();
    estimate = 100_000n;
    const waiting = { state: 'ALLOCATED', subState: 'NODE_REFUSED', nonce: 0, lastError: message };
    expect(await lab.node.tx(txId)).toMatchObject(waiting);
    const later = await lab.sent(2);
    await lab.resubmit();
    expect(limits()).toEqual([FIRST_LIMIT, 62_500n]);
    await lab.resubmit();
    expect(limits()).toEqual([FIRST_LIMIT, 62_500n, 125_000n]);
    await expectPaidOnce(txId);
    expect(await lab.states([later])).toEqual(['CONFIRMED']);
    expect(await lab.node.tx(txId)).toMatchObject({ gasLimit: '125000' });
    const bumps = (await lab.node.get(TxHistory).of(txId)).filter(({ reason }) => reason === 'gas_bumped');
    expect(bumps).toMatchObject([{ detail: { gasLimit: '62500' } }, { detail: { gasLimit: '125000' } }]);
  });

  it('gets more gas twice at most, also from the next owners of its signer; then a no-op uses its nonce', async () => {
    wanted = 10n ** 9n;
    const txId = await lab.sent(PAID);
    let owner = lab.node;
    for (let round = 0; round < 4; round += 1) {
      owner = await lab.takeOver(owner);
      await owner.step();
      await lab.resubmit(owner);
    }
    expect(limits()).toEqual([50_000n, 62_500n, 78_125n]);
    expect(await owner.tx(txId)).toMatchObject({ state: 'IN_MEMPOOL', subState: 'REFUSED', nonce: 0 });
    await lab.confirmAll(owner);
    const ended = { state: 'FAILED', failureReason: 'intrinsic gas too low', nonce: 0 };
    expect(await owner.tx(txId)).toMatchObject(ended);
    expect(lab.minedWith(PAID)).toEqual([]);
  });

  it('is watched with all that was sent for it: the bytes with too little gas were kept, and are mined', async () => {
    const kept: ModelTx[] = [];
    lab.chain.faults.broadcast = (tx) => {
      if (!isPaid(tx)) return undefined;
      kept.push(tx);
      return gasOf(tx) === FIRST_LIMIT ? words : { ...words, outcome: { kind: 'accepted' } };
    };
    const txId = await lab.sent(PAID);
    await lab.resubmit();
    expect(limits()).toHaveLength(2);
    for (const tx of kept.slice(0, 1)) lab.chain.force(tx);
    await expectPaidOnce(txId);
    const attempts = await lab.node.get(TxQueries).attempts(txId);
    expect(attempts.map(({ gasLimit, status }) => [gasLimit, status]).sort()).toEqual([
      ['50000', 'MINED'],
      ['62500', 'LOST'],
    ]);
  });

  it('is sent with more gas after a crash between the refusal and the new bytes', async () => {
    const txId = await sentAfterRise();
    estimate = 100_000n;
    const next = await lab.takeOver();
    // The bytes that are stored go first, whatever is known against them.
    await next.step();
    wanted = 130_000n;
    estimate = 110_000n;
    await lab.resubmit(next);
    await lab.resubmit(next);
    await lab.confirmAll(next);
    expect(await next.tx(txId)).toMatchObject({ state: 'CONFIRMED', nonce: 0 });
    expect(lab.minedWith(PAID)).toHaveLength(1);
    expect(limits().at(-1)).toBeGreaterThanOrEqual(130_000n);
  });

  it('gets a margin above what was refused while nothing is estimated', async () => {
    wanted = 60_000n;
    const txId = await lab.create(PAID);
    lab.chain.faults.broadcast = (tx) => {
      if (!isPaid(tx)) return undefined;
      estimate = null;
      return gasOf(tx) < wanted ? words : undefined;
    };
    await lab.node.step();
    await lab.resubmit();
    expect(limits()).toEqual([FIRST_LIMIT, 62_500n]);
    await expectPaidOnce(txId);
  });

  it('is refused at once when it would revert by now', async () => {
    const txId = await lab.create(PAID);
    lab.chain.faults.broadcast = (tx) => {
      if (!isPaid(tx)) return undefined;
      lab.chain.faults.estimate = () => ({ kind: 'reverted', reason: 'too late' });
      return words;
    };
    await lab.node.step();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'IN_MEMPOOL', subState: 'REFUSED' });
    expect(limits()).toEqual([FIRST_LIMIT]);
  });

  it('outbids what a pool may have: its first send had no answer', async () => {
    wanted = 100_000n;
    lab.chain.faults.broadcast = (tx) => (isPaid(tx) ? timedOut({ deliver: true }) : undefined);
    const txId = await lab.sent(PAID);
    const [first] = lab.chain.pooled();
    estimate = 100_000n;
    lab.chain.faults.broadcast = (tx) => (isPaid(tx) && gasOf(tx) < wanted ? words : undefined);
    await lab.resubmit();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'IN_MEMPOOL', subState: 'NODE_REFUSED' });
    await lab.resubmit();
    const [second] = lab.chain.pooled();
    expect(second && gasOf(second)).toBe(125_000n);
    expect(second?.maxFeePerGas).toBeGreaterThan(first?.maxFeePerGas ?? 0n);
    await expectPaidOnce(txId);
  });

  it('goes on as a replacement: the original is not sent again in its place', async () => {
    const original = await lab.sent(2);
    const replacement = await race.replacement(original, PAID);
    wanted = 60_000n;
    await lab.node.commands();
    expect(await lab.states([replacement])).toEqual(['ALLOCATED']);
    await lab.resubmit();
    await lab.confirmAll();
    expect(await lab.states([original, replacement])).toEqual(['REPLACED', 'CONFIRMED']);
    expect(limits()).toEqual([FIRST_LIMIT, 62_500n]);
  });
});

describe('a limit that its client gave', () => {
  it('is not raised: the payload is refused as too little', async () => {
    wanted = 100_000n;
    const base = aRequest();
    const txId = await lab.create(PAID, { payload: { ...base.payload, data: tagged(PAID), gasLimit: 60_000n } });
    await lab.node.step();
    await lab.confirmAll();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'FAILED', failureReason: 'intrinsic gas too low' });
    expect(limits()).toEqual([60_000n]);
  });
});

it('a no-op that has too little gas gets more, however often, and everything behind it goes on', async () => {
  lab.chain.faults.broadcast = (tx) => (tx.data === '0x' && gasOf(tx) < 40_000n ? words : undefined);
  const [, cancelled] = await lab.gap();
  lab.chain.faults.broadcast = (tx) => (tx.data === '0x' && gasOf(tx) < 40_000n ? words : undefined);
  await lab.node.step();
  for (let round = 0; round < 4; round += 1) {
    await makeDue(lab.node);
    await lab.node.resubmit();
  }
  await lab.confirmAll();
  expect(await lab.openFills()).toEqual([]);
  expect(await lab.states([cancelled ?? ''])).toEqual(['CANCELLED']);
  const noOps = lab.chain.sent.filter(({ data }) => data === '0x').map(gasOf);
  expect([...new Set(noOps)]).toEqual([21_000n, 26_250n, 32_812n, 41_015n]);
});

describe('an estimate that is far too high, because one endpoint is wrong', () => {
  const tooDear = (most: bigint) => (tx: ModelTx) =>
    gasOf(tx) > most ? refused('insufficient_funds', 'insufficient funds for gas * price + value') : undefined;
  const after = async (rounds: number): Promise<void> => {
    for (let round = 0; round < rounds; round += 1) {
      await lab.resubmit();
      await lab.node.step();
    }
    await lab.confirmAll();
  };

  it('of a no-op that cannot be paid then: it is estimated again, and everything behind it goes on', async () => {
    const [first = '', , last = ''] = await lab.gap();
    lab.chain.faults.estimate = () => ({ kind: 'ok', gas: 20_000_000n, blockGas: 30_000_000n });
    lab.chain.faults.broadcast = tooDear(1_000_000n);
    await lab.node.step();
    await lab.resubmit();
    lab.chain.faults.estimate = () => ({ kind: 'ok', gas: 24_000n });
    await after(2);
    expect(await lab.states([first, last])).toEqual(['CONFIRMED', 'CONFIRMED']);
    expect(await lab.openFills()).toEqual([]);
    const noOps = lab.chain.sent.filter(({ data }) => data === '0x').map(gasOf);
    expect([...new Set(noOps)]).toEqual([25_000_000n, 30_000n]);
  });

  it('of a payload that had too little: it gets less again, and everything behind it goes on', async () => {
    const broadcast = lab.chain.faults.broadcast;
    wanted = 60_000n;
    lab.chain.faults.broadcast = (tx) => {
      estimate = 10n ** 9n;
      return broadcast?.(tx) ?? tooDear(1_000_000n)(tx);
    };
    const txId = await lab.sent(PAID);
    const later = await lab.sent(2);
    lab.chain.faults.broadcast = (tx) => {
      estimate = 56_000n;
      return broadcast?.(tx) ?? tooDear(1_000_000n)(tx);
    };
    await after(3);
    expect(limits()).toEqual([FIRST_LIMIT, 1_250_000_000n, 70_000n]);
    await expectPaidOnce(txId);
    expect(await lab.states([later])).toEqual(['CONFIRMED']);
  });

  it('of a payload that had too little, at the end of all numbers: its lane goes on', async () => {
    wanted = 10n ** 30n;
    const broadcast = lab.chain.faults.broadcast;
    lab.chain.faults.broadcast = (tx) => {
      estimate = (1n << 63n) - 1n;
      return broadcast?.(tx);
    };
    const [txId, later] = [await lab.create(PAID), await lab.create(2)];
    await lab.node.step();
    await after(3);
    expect(await lab.states([txId, later])).toEqual(['FAILED', 'CONFIRMED']);
  });
});

it('an estimate of a no-op that hangs holds up nobody for long, and the no-op is sent without it', async () => {
  await lab.gap();
  const honest = lab.chain.estimateGas.bind(lab.chain);
  lab.chain.estimateGas = (calls) =>
    calls.some(({ data }) => data === '0x') ? new Promise(() => undefined) : honest(calls);
  const begun = performance.now();
  await lab.node.step();
  expect(performance.now() - begun).toBeLessThan(4_000);
  await lab.confirmAll();
  expect(await lab.openFills()).toEqual([]);
});
