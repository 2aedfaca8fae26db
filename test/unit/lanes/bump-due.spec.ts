import { beforeEach, describe, expect, it } from '@jest/globals';
import { ResubmitConfig } from '../../../src/config/index.js';
import { sameSigner } from '../../../src/kernel/signer-id.js';
import type { ChainConnector, Chains, HeadTracker } from '../../../src/modules/chain/index.js';
import { BumpDue } from '../../../src/modules/lanes/application/bump-due.js';
import type { BumpAttempts, BumpResult, WantedBump } from '../../../src/modules/sending/index.js';
import type { Lease, LeaseManager } from '../../../src/modules/signers/index.js';
import { BumpWatch, type TxsInFlight } from '../../../src/modules/ledger/index.js';
import type { UnminedTx } from '../../../src/modules/ledger/domain/txs-in-flight.js';
import type { TxProgress } from '../../../src/modules/ledger/domain/managed-tx.js';
import { aManagedTx, aSigner, DEV_CHAIN } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { begunWork } from '../../support/fakes/our-work.js';

const HEAD = 100;
const LEASES: Lease[] = [1, 2].map((n) => ({ signer: aSigner(n), owner: 'node', token: 1n }));
const CHAIN = { chainId: DEV_CHAIN } as ChainConnector;

let head: number | null;
let config: ResubmitConfig;
let unmined: UnminedTx[];
let results: Map<string, BumpResult>;
let asked: unknown[][];
let wanted: WantedBump[];
let looked: [number, number | null][];
let bump: BumpDue;

beforeEach(() => {
  [unmined, results, asked, wanted, looked] = [[], new Map(), [], [], []];
  [head, config] = [HEAD, Object.assign(new ResubmitConfig(), { bumpAfterBlocks: 5, bumpDepth: 2 })];
  bump = aNewOwner();
});

/** It looks once at each signer, and then when the time has come. */
function aNewOwner(): BumpDue {
  return new BumpDue(
    { get: () => CHAIN } as unknown as Chains,
    { appliedTip: () => head } as unknown as HeadTracker,
    { heldOn: () => LEASES } as unknown as LeaseManager,
    new RecordingWatch(config, new FakeClock()),
    begunWork,
    { lowestUnmined: async (...args: unknown[]) => (asked.push(args), unmined) } as unknown as TxsInFlight,
    {
      execute: async (_chain: unknown, _leases: unknown, some: readonly WantedBump[]) => (
        wanted.push(...some),
        results
      ),
    } as unknown as BumpAttempts,
    config,
  );
}

class RecordingWatch extends BumpWatch {
  override looked(lease: Lease, next: number | null): void {
    looked.push([LEASES.findIndex(({ signer }) => sameSigner(signer, lease.signer)), next]);
    super.looked(lease, next);
  }
}

function low(
  txId: string,
  newest: Partial<UnminedTx['newest']> | null = {},
  progress: Partial<TxProgress> = {},
): UnminedTx {
  const tx = aManagedTx({ txId, state: 'IN_MEMPOOL', nonce: 7n, ...progress }).build();
  return { tx, newest: newest && { kind: 'payload', pricedAtBlock: 10, errorClass: null, ...newest }, isHeld: false };
}

async function bumped(...found: readonly UnminedTx[]): Promise<string[]> {
  [unmined, bump] = [[...found], aNewOwner()];
  await bump.execute(DEV_CHAIN);
  return wanted.map(({ tx }) => tx.id);
}

describe('a look', () => {
  it('reads one more than bumpDepth of each signer, and asks for a bump of what is due', async () => {
    expect(await bumped(low('old'), low('new', { pricedAtBlock: HEAD }))).toEqual(['old']);
    expect([asked, wanted[0]?.force]).toEqual([[[LEASES.map(({ signer }) => signer), 3]], false]);
  });

  it('asks whether a pool dropped the lowest that is due of each signer, when it was that at the look before, too', async () => {
    unmined = [low('a'), low('b'), low('c', {}, { signer: aSigner(2) })];
    const asksOf = async (): Promise<unknown[]> => {
      wanted.length = 0;
      await bump.execute(DEV_CHAIN);
      return wanted.map(({ tx, mayBeDropped }) => [tx.id, mayBeDropped]);
    };
    expect(await asksOf()).toEqual([
      ['a', false],
      ['b', false],
      ['c', false],
    ]);
    [head, unmined] = [HEAD + 5, [low('a'), low('b'), low('d', {}, { signer: aSigner(2), nonce: 8n })]];
    expect(await asksOf()).toEqual([
      ['a', true],
      ['b', false],
      ['d', false],
    ]);
  });

  it('is about each signer alone: the lowest of one are not the lowest of another', async () => {
    const other = (txId: string): UnminedTx => low(txId, {}, { signer: aSigner(2) });
    expect(await bumped(low('a'), low('b'), low('c'), other('d'))).toEqual(['a', 'b', 'd']);
  });

  it('is repeated at the next block for a signer with a bump, and later for the others', async () => {
    results = new Map([['mine', 'bumped']]);
    await bumped(low('mine'), low('other', {}, { signer: aSigner(2) }));
    expect(looked).toEqual([
      [0, HEAD + 1],
      [1, HEAD + 5],
    ]);
  });

  it('is not repeated for a signer with nothing in flight', async () => {
    await bumped(low('mine', { pricedAtBlock: HEAD - 2 }));
    expect(looked).toEqual([
      [0, HEAD + 3],
      [1, null],
    ]);
  });
});

describe('no higher price is tried', () => {
  it.each<[string, UnminedTx]>([
    ['while its signer is paused', { ...low('tx'), isHeld: true }],
    ['without an attempt', low('tx', null, { state: 'ALLOCATED' })],
    ['before it was sent', low('tx', {}, { state: 'ALLOCATED' })],
    ['while its account cannot pay', low('tx', {}, { subState: 'INSUFFICIENT_FUNDS' })],
    ['while its nonce may be used', low('tx', {}, { subState: 'NONCE_SYNC' })],
  ])('%s', async (_what, tx) => {
    expect(await bumped(tx)).toEqual([]);
  });

  it('of a payload whose slot is being closed; but of the no-op that closes it', async () => {
    const closing = { closing: { as: 'FAILED', reason: 'refused', won: false } } as const;
    expect(await bumped(low('tx', {}, closing))).toEqual([]);
    expect(await bumped(low('tx', { kind: 'cancel' }, closing))).toEqual(['tx']);
  });
});

it('a price that a node refused is raised at the next block', async () => {
  const pricedAtBlock = HEAD - 1;
  expect(await bumped(low('tx', { pricedAtBlock, errorClass: 'txpool_full' }))).toEqual([]);
  expect(await bumped(low('tx', { pricedAtBlock, errorClass: 'replacement_underpriced' }))).toEqual(['tx']);
});

describe('a signer', () => {
  it('is not read at the same head again, nor before the next look is due', async () => {
    await bumped(low('mine', { pricedAtBlock: HEAD - 2 }));
    const readAt: number[] = [];
    for (const at of [HEAD, HEAD + 2, HEAD + 3]) {
      [head, asked] = [at, []];
      await bump.execute(DEV_CHAIN);
      if (asked.length > 0) readAt.push(at);
    }
    expect(readAt).toEqual([HEAD + 3]);
  });

  it('is not read before a block was followed, nor with resubmit.enabled off', async () => {
    head = null;
    await bump.execute(DEV_CHAIN);
    [head, config.enabled] = [HEAD, false];
    await bump.execute(DEV_CHAIN);
    expect(asked).toEqual([]);
  });
});
