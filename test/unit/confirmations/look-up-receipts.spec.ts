import { beforeEach, describe, expect, it } from '@jest/globals';
import { RpcUnavailable } from '../../../src/modules/chain/index.js';
import { LookUpReceipts } from '../../../src/modules/confirmations/application/look-up-receipts.js';
import { aHash, anAttempt, aReceipt, aSigner, DEV_CHAIN } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { ModelChain, ModelChains } from '../../support/model-chain.js';
import { RecordingLog } from '../chain/chain-fixture.js';

const ATTEMPTS = [1, 2, 3].map((n) => anAttempt({ txHash: aHash(n) }));
const FOUND = { kind: 'found' as const, receipt: aReceipt({ txHash: aHash(2) }) };

let chain: ModelChain;
let log: RecordingLog;
let clock: FakeClock;
let lookUp: LookUpReceipts;
/** Ends when nobody waits any more. */
let wait: () => Promise<void>;

beforeEach(() => {
  chain = new ModelChain();
  [log, clock] = [new RecordingLog(), new FakeClock()];
  wait = () => new Promise(() => undefined);
  lookUp = new LookUpReceipts(new ModelChains(chain), log, clock, { pause: () => wait() });
});

describe('receipts that are asked for by hash', () => {
  it('are answered for each attempt, whatever its place', async () => {
    chain.faults.receipt = (hash) => (hash === aHash(2) ? FOUND : undefined);
    expect([...(await lookUp.execute(DEV_CHAIN, ATTEMPTS))]).toEqual([
      [aHash(1), { kind: 'none' }],
      [aHash(2), FOUND],
      [aHash(3), { kind: 'none' }],
    ]);
  });

  it('are missing where the chain gave no answer: that is not "no receipt"', async () => {
    chain.receipts = async () => [{ kind: 'none' }];
    expect([...(await lookUp.execute(DEV_CHAIN, ATTEMPTS)).keys()]).toEqual([aHash(1)]);
  });

  it('are all missing when nobody answers, and that is logged', async () => {
    const error = new RpcUnavailable('rpc_unavailable', { chainId: DEV_CHAIN, method: 'receipts' }, 'no answer');
    chain.receipts = () => Promise.reject(error);
    expect([...(await lookUp.execute(DEV_CHAIN, ATTEMPTS))]).toEqual([]);
    expect(log.lines).toMatchObject([{ fields: { chainId: DEV_CHAIN, error } }]);
  });

  it('are asked for fifty at a time', async () => {
    const questions: number[] = [];
    chain.receipts = async (hashes) => {
      questions.push(hashes.length);
      return hashes.map(() => ({ kind: 'none' }));
    };
    const many = Array.from({ length: 51 }, (_, n) => anAttempt({ txHash: aHash(n) }));
    expect([(await lookUp.execute(DEV_CHAIN, many)).size, questions]).toEqual([51, [50, 1]]);
  });

  it('come for the txs of others when those of one signer never come', async () => {
    chain.receipts = (hashes) =>
      hashes.includes(aHash(1)) ? new Promise(() => undefined) : Promise.resolve(hashes.map(() => ({ kind: 'none' })));
    wait = () => new Promise(setImmediate);
    const [poor, other] = [aSigner(1), aSigner(2)];
    const attempts = [anAttempt({ txHash: aHash(1), signer: poor }), anAttempt({ txHash: aHash(2), signer: other })];
    expect([...(await lookUp.execute(DEV_CHAIN, attempts)).keys()]).toEqual([aHash(2)]);
    // The next one of the same signer waits for the answer to the first one.
    const next = [anAttempt({ txHash: aHash(3), signer: poor }), anAttempt({ txHash: aHash(4), signer: other })];
    expect([...(await lookUp.execute(DEV_CHAIN, next)).keys()]).toEqual([aHash(4)]);
  });
});

describe('receipts of blocks', () => {
  const [RECEIPT] = [aReceipt({ txHash: aHash(7) })];
  const blocks = (...numbers: readonly number[]) => numbers.map((number) => ({ number, hash: aHash(number) }));
  let asked: number[];

  beforeEach(() => {
    asked = [];
    chain.blockReceipts = async ({ hash }) => {
      asked.push(Number(hash));
      return { receipts: [RECEIPT], proven: false };
    };
  });

  it('are those of all their transactions, of a few blocks at a time, in turn', async () => {
    const many = blocks(1, 2, 3, 4, 5, 6, 7, 8, 9);
    expect(await lookUp.inBlocks(DEV_CHAIN, [...many, ...many])).toEqual([RECEIPT, RECEIPT, RECEIPT, RECEIPT]);
    await lookUp.inBlocks(DEV_CHAIN, many);
    await lookUp.inBlocks(DEV_CHAIN, many);
    expect(asked).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it('are asked for again half a minute later, and not before', async () => {
    await lookUp.inBlocks(DEV_CHAIN, blocks(1));
    clock.advance(29_999);
    expect(await lookUp.inBlocks(DEV_CHAIN, blocks(1))).toEqual([]);
    clock.advance(1);
    expect(await lookUp.inBlocks(DEV_CHAIN, blocks(1))).toEqual([RECEIPT]);
    expect(asked).toEqual([1, 1]);
  });

  it('are missing where they are not told, which is logged when nobody answers, and those of others are not', async () => {
    const error = new RpcUnavailable('rpc_unavailable', { chainId: DEV_CHAIN, method: 'receipts' }, 'no answer');
    chain.blockReceipts = async ({ hash }) => {
      if (hash === aHash(1)) throw error;
      return hash === aHash(2) ? null : { receipts: [RECEIPT], proven: false };
    };
    expect(await lookUp.inBlocks(DEV_CHAIN, blocks(1, 2, 3))).toEqual([RECEIPT]);
    expect(log.lines).toMatchObject([{ fields: { chainId: DEV_CHAIN, block: aHash(1), error } }]);
  });

  it('that do not come in time hold up nobody', async () => {
    chain.blockReceipts = ({ hash }) =>
      hash === aHash(1) ? new Promise(() => undefined) : Promise.resolve({ receipts: [RECEIPT], proven: false });
    wait = () => new Promise(setImmediate);
    expect(await lookUp.inBlocks(DEV_CHAIN, blocks(1, 2))).toEqual([RECEIPT]);
  });
});
