import { beforeEach, describe, expect, it } from '@jest/globals';
import { RpcUnavailable } from '../../../src/modules/chain/index.js';
import type { ForeignNonces, SlotInDoubt } from '../../../src/modules/nonces/application/foreign-nonces.js';
import { FindFreedNonces, type FreedNonces } from '../../../src/modules/nonces/application/find-freed-nonces.js';
import type { ConsumedSlot } from '../../../src/modules/transactions/index.js';
import { aSigner } from '../../support/builders.js';
import { ModelChain, ModelChains } from '../../support/model-chain.js';
import { RecordingLog } from '../chain/chain-fixture.js';

const [BELOW, AT, ABOVE] = [1n, 2n, 3n].map((nonce) => ({ signer: aSigner(), nonce, updatedAt: 'now' })) as [
  ConsumedSlot,
  ConsumedSlot,
  ConsumedSlot,
];
const NONE: FreedNonces = { freed: [], used: [] };

let chain: ModelChain;
/** The chain's next nonce. */
let count: bigint;
let isProven: boolean;
/** What a second observation was asked for. */
let doubts: SlotInDoubt[];
let asked: unknown[][];
let log: RecordingLog;
let find: FindFreedNonces;

beforeEach(() => {
  [count, isProven, doubts, asked, log] = [2n, false, [], [], new RecordingLog()];
  chain = new ModelChain();
  chain.transactionCounts = async (...args) => (asked.push(args), args[0].map(() => count));
  const foreign = {
    execute: async (_chain: unknown, some: readonly SlotInDoubt[]) => (doubts.push(...some), isProven ? some : []),
  } as unknown as ForeignNonces;
  find = new FindFreedNonces(new ModelChains(chain), foreign, log);
});

const found = (...slots: readonly ConsumedSlot[]) => find.execute(chain.chainId, slots);

describe('a foreign nonce after a reorg', () => {
  it('is free from the next nonce of the chain on', async () => {
    expect(await found(BELOW, AT, ABOVE)).toEqual({ freed: [AT, ABOVE], used: [] });
    const { address } = aSigner();
    expect(asked).toEqual([[[address, address, address], 'latest']]);
  });

  it('below the next nonce of the chain is used only with the proof of two observations', async () => {
    expect(await found(BELOW)).toEqual(NONE);
    isProven = true;
    expect(await found(BELOW, AT)).toEqual({ freed: [AT], used: [BELOW] });
    expect(doubts).toEqual([BELOW, BELOW].map((slot) => ({ slot, hashes: [] })));
  });

  it('is not free on an answer that is missing', async () => {
    chain.transactionCounts = async () => [];
    expect(await found(AT)).toEqual(NONE);
    expect(doubts).toEqual([{ slot: AT, hashes: [] }]);
  });

  it('is not decided while the chain cannot be asked', async () => {
    const method = 'eth_getTransactionCount';
    chain.transactionCounts = () =>
      Promise.reject(new RpcUnavailable('rpc_unavailable', { chainId: chain.chainId, method }, 'no answer'));
    expect(await found(AT)).toEqual(NONE);
    expect(log.lines).toMatchObject([{ event: 'failed to check foreign nonces after a reorg' }]);
  });

  it('is not taken for undecided when something else is broken', async () => {
    chain.transactionCounts = () => Promise.reject(new TypeError('a bug'));
    await expect(found(AT)).rejects.toThrow('a bug');
  });

  it('costs no call of the chain when there is none', async () => {
    expect([await found(), asked]).toEqual([NONE, []]);
  });
});
