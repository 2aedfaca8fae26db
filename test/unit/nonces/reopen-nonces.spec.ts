import { beforeEach, describe, expect, it } from '@jest/globals';
import { RpcUnavailable } from '../../../src/modules/chain/index.js';
import type { SignerId } from '../../../src/kernel/signer-id.js';
import type { FillNonceGaps } from '../../../src/modules/nonces/application/fill-nonce-gaps.js';
import type { ForeignNonces, SlotInDoubt } from '../../../src/modules/nonces/application/foreign-nonces.js';
import { NOTHING_SENT } from '../../../src/modules/nonces/application/search-listings.js';
import { ReopenNonces } from '../../../src/modules/nonces/application/reopen-nonces.js';
import type { Lease, LeaseManager } from '../../../src/modules/signers/index.js';
import type { AttemptRepository, ConsumedSlot, LeasedWork } from '../../../src/modules/ledger/index.js';
import { aSigner, DEV_CHAIN } from '../../support/builders.js';
import { ModelChain, ModelChains } from '../../support/model-chain.js';
import { RecordingLog } from '../chain/chain-fixture.js';
import { ourWork } from '../../support/fakes/our-work.js';
import { evenBooks } from '../../support/fakes/even-books.js';

const SIGNER = aSigner();
const [FIRST, SECOND] = [1n, 2n].map((nonce) => ({ signer: SIGNER, nonce, updatedAt: 'now' })) as [
  ConsumedSlot,
  ConsumedSlot,
];

/** Foreign nonces above a block that is gone, as the database has them. */
let consumed: ConsumedSlot[];
/** The chain's next nonce: those from there on are free. */
let chain: ModelChain;
let count: bigint;
/** What the chain was asked. */
let counted: unknown[][];
/** Of those below: proven to be used; the others are not decided. And what was asked to be proven. */
let used: ConsumedSlot[];
let doubts: SlotInDoubt[];
/** Happens while the chain is asked. */
let meanwhile: () => void;
let isOurs: boolean;
let lowest: number[];
/** Nonces that got fills, and the tokens of the leases. */
let filled: unknown[][];
let leased: SignerId[];
let log: RecordingLog;
let reopen: ReopenNonces;

beforeEach(() => {
  [consumed, count, used, counted, doubts] = [[FIRST, SECOND], 1n, [], [], []];
  [meanwhile, isOurs, lowest, filled, leased] = [() => undefined, true, [], [], []];
  chain = new ModelChain();
  chain.transactionCounts = async (...args) => {
    counted.push(args);
    meanwhile();
    return args[0].map(() => count);
  };
  log = new RecordingLog();
  const work: typeof ourWork.run = async (...args) => (isOurs ? ourWork.run(...args) : []);
  reopen = new ReopenNonces(
    { takeFree: async (signers: readonly SignerId[]) => void leased.push(...signers) } as unknown as LeaseManager,
    { run: work } as unknown as LeasedWork,
    {
      consumedWithoutTx: async (_: unknown, from: number) => (lowest.push(from), consumed),
      stillConsumed: async (some: readonly ConsumedSlot[]) => some.filter((slot) => consumed.includes(slot)),
    } as unknown as AttemptRepository,
    new ModelChains(chain),
    {
      usedForGood: async (_: unknown, some: readonly SlotInDoubt[]) => {
        doubts.push(...some);
        return some.filter(({ slot }) => used.some(({ nonce }) => nonce === slot.nonce));
      },
    } as unknown as ForeignNonces,
    {
      fill: async (chainId: number, leases: readonly Lease[], slots: readonly ConsumedSlot[]) =>
        void filled.push([chainId, leases[0]?.token, ...slots.map(({ nonce }) => nonce)]),
    } as unknown as FillNonceGaps,
    evenBooks,
    log,
  );
});

const look = (from: number | null): Promise<void> => reopen.execute(DEV_CHAIN, from);
const isWaiting = (): boolean => reopen.isWaiting(DEV_CHAIN);

describe('a foreign nonce above a block that is gone', () => {
  it('gets a fill when it is free again, under a lease that the node takes for it', async () => {
    await look(5);
    expect([lowest, leased]).toEqual([[5], [SIGNER]]);
    expect(filled).toEqual([[DEV_CHAIN, 1n, 1n, 2n]]);
    expect(log.lines.map(({ fields }) => fields['nonce'])).toEqual([1n, 2n]);
    expect(isWaiting()).toBe(false);
  });

  it('is checked with every block until the owner of the signer has filled it', async () => {
    isOurs = false;
    await look(5);
    expect([filled, isWaiting()]).toEqual([[], true]);
    isOurs = true;
    await look(null);
    expect([filled.length, isWaiting(), lowest]).toEqual([1, false, [5]]);
  });

  it('is not checked any more when the owner of the signer has filled it', async () => {
    isOurs = false;
    await look(5);
    consumed = [];
    await look(null);
    expect([counted.length, filled, isWaiting()]).toEqual([1, [], false]);
  });

  it('is left alone when another node has filled it while the chain was asked', async () => {
    meanwhile = () => (consumed = [FIRST]);
    await look(5);
    expect([filled, isWaiting()]).toEqual([[[DEV_CHAIN, 1n, 1n]], false]);
  });

  it('costs nothing when another node has filled all of them while the chain was asked', async () => {
    meanwhile = () => (consumed = []);
    await look(5);
    expect([filled, log.lines, isWaiting()]).toEqual([[], [], false]);
  });

  it('is asked for once, also when a second reorg names it again', async () => {
    isOurs = false;
    await look(5);
    await look(4);
    const { address } = SIGNER;
    expect(counted).toEqual([
      [[address, address], 'latest'],
      [[address, address], 'latest'],
    ]);
  });
});

describe('a foreign nonce that is not free', () => {
  it('is checked until its use on the new branch is proven by two observations, and gets no fill', async () => {
    count = 2n;
    await look(5);
    expect([filled, isWaiting(), doubts]).toEqual([
      [[DEV_CHAIN, 1n, 2n]],
      true,
      [{ slot: FIRST, hashes: [], since: NOTHING_SENT }],
    ]);
    [consumed, used] = [[FIRST], [FIRST]];
    await look(null);
    expect([filled.length, isWaiting()]).toEqual([1, false]);
  });

  it('gets a fill at a later check when it was freed after all', async () => {
    count = 3n;
    await look(5);
    expect([leased, filled, isWaiting()]).toEqual([[], [], true]);
    count = 2n;
    await look(null);
    expect([filled, isWaiting()]).toEqual([[[DEV_CHAIN, 1n, 2n]], true]);
  });
});

describe('a foreign nonce is not decided', () => {
  it('on an answer that is missing', async () => {
    chain.transactionCounts = async () => [];
    await look(5);
    expect([filled, isWaiting(), doubts.map(({ slot }) => slot)]).toEqual([[], true, [FIRST, SECOND]]);
  });

  it('while the chain cannot be asked', async () => {
    const facts = { chainId: DEV_CHAIN, method: 'eth_getTransactionCount' };
    chain.transactionCounts = () => Promise.reject(new RpcUnavailable('rpc_unavailable', facts, 'no answer'));
    await look(5);
    expect([filled, isWaiting()]).toEqual([[], true]);
    expect(log.lines).toMatchObject([{ event: 'failed to check foreign nonces after a reorg' }]);
  });

  it('and that is no excuse when something else is broken', async () => {
    chain.transactionCounts = () => Promise.reject(new TypeError('a bug'));
    await expect(look(5)).rejects.toThrow('a bug');
  });
});

it('nothing is waited for or asked before a reorg', async () => {
  expect(isWaiting()).toBe(false);
  await look(null);
  expect([isWaiting(), lowest, counted]).toEqual([false, [], []]);
});
