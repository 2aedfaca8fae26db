import { beforeEach, describe, expect, it } from '@jest/globals';
import type { SignerId } from '../../../src/kernel/signer-id.js';
import type { FillNonceGaps } from '../../../src/modules/nonces/application/fill-nonce-gaps.js';
import type { FindFreedNonces } from '../../../src/modules/nonces/application/find-freed-nonces.js';
import { ReopenNonces } from '../../../src/modules/nonces/application/reopen-nonces.js';
import type { Lease, LeaseManager } from '../../../src/modules/signers/index.js';
import type { AttemptRepository, ConsumedSlot, LeasedWork } from '../../../src/modules/transactions/index.js';
import { aSigner, DEV_CHAIN } from '../../support/builders.js';
import { RecordingLog } from '../chain/chain-fixture.js';
import { ourWork } from '../confirmations/txs-in-memory.js';

const SIGNER = aSigner();
const [FIRST, SECOND] = [1n, 2n].map((nonce) => ({ signer: SIGNER, nonce, updatedAt: 'now' })) as [
  ConsumedSlot,
  ConsumedSlot,
];

/** Foreign nonces above a block that is gone, as the database has them. */
let consumed: ConsumedSlot[];
/** What the chain says of them; the others are not decided. */
let free: ConsumedSlot[];
let used: ConsumedSlot[];
/** Happens while the chain is asked. */
let meanwhile: () => void;
let isOurs: boolean;
let lowest: number[];
let asked: bigint[][];
/** Nonces that got fills, and the tokens of the leases. */
let filled: unknown[][];
let leased: SignerId[];
let log: RecordingLog;
let reopen: ReopenNonces;

beforeEach(() => {
  [consumed, free, used] = [[FIRST, SECOND], [FIRST, SECOND], []];
  [meanwhile, isOurs, lowest, asked, filled, leased] = [() => undefined, true, [], [], [], []];
  log = new RecordingLog();
  const work: typeof ourWork.run = async (...args) => (isOurs ? ourWork.run(...args) : []);
  reopen = new ReopenNonces(
    { takeFree: async (signers: readonly SignerId[]) => void leased.push(...signers) } as unknown as LeaseManager,
    { run: work } as unknown as LeasedWork,
    {
      consumedWithoutTx: async (_: unknown, from: number) => (lowest.push(from), consumed),
      stillConsumed: async (some: readonly ConsumedSlot[]) => some.filter((slot) => consumed.includes(slot)),
    } as unknown as AttemptRepository,
    {
      execute: async (_: unknown, slots: readonly ConsumedSlot[]) => {
        asked.push(slots.map(({ nonce }) => nonce));
        const said = (some: readonly ConsumedSlot[]) => slots.filter((slot) => some.includes(slot));
        const answer = { freed: said(free), used: said(used) };
        meanwhile();
        return answer;
      },
    } as unknown as FindFreedNonces,
    {
      fill: async (chainId: number, leases: readonly Lease[], slots: readonly ConsumedSlot[]) =>
        void filled.push([chainId, leases[0]?.token, ...slots.map(({ nonce }) => nonce)]),
    } as unknown as FillNonceGaps,
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
    expect([asked, filled, isWaiting()]).toEqual([[[1n, 2n], []], [], false]);
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
    expect(asked).toEqual([
      [1n, 2n],
      [1n, 2n],
    ]);
  });
});

describe('a foreign nonce that is not free', () => {
  it('is checked until its use on the new branch is proven, and gets no fill', async () => {
    free = [FIRST];
    await look(5);
    expect([filled, isWaiting()]).toEqual([[[DEV_CHAIN, 1n, 1n]], true]);
    [consumed, used] = [[SECOND], [SECOND]];
    await look(null);
    expect([filled.length, isWaiting()]).toEqual([1, false]);
  });

  it('gets a fill at a later check when it was freed after all', async () => {
    free = [];
    await look(5);
    expect([leased, filled, isWaiting()]).toEqual([[], [], true]);
    free = [SECOND];
    await look(null);
    expect([filled, isWaiting()]).toEqual([[[DEV_CHAIN, 1n, 2n]], true]);
  });
});

it('is waiting for nothing before a reorg', async () => {
  expect(isWaiting()).toBe(false);
  await look(null);
  expect([isWaiting(), lowest]).toEqual([false, []]);
});
