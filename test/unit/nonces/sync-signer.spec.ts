import { type Compared, CompareBooks } from '../../../src/modules/lost-commits/application/compare-books.js';
import type { ChainBehind } from '../../../src/modules/ledger/index.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { signerKey, type SignerId } from '../../../src/kernel/signer-id.js';
import type { Chains } from '../../../src/modules/chain/index.js';
import { type Lease, type NonceLedger, NotLeader, type SlotRef } from '../../../src/modules/signers/index.js';
import type { LeasedWork } from '../../../src/modules/ledger/index.js';
import type { ReconcileSigner } from '../../../src/modules/lost-commits/application/reconcile-lanes.js';
import { type LeftFree, LeftFreeNonces } from '../../../src/modules/nonces/application/left-free-nonces.js';
import { SyncSigner } from '../../../src/modules/nonces/application/sync-signer.js';
import { aHash, aManagedTx, aSigner } from '../../support/builders.js';
import { RecordedWrites } from '../../support/fakes/recorded-writes.js';
import { RecordingLog } from '../chain/chain-fixture.js';

const SIGNER = aSigner();
const LEASE = { signer: SIGNER, owner: 'node', token: 1n };
const FOUND = [{ nonce: 4n, txHash: aHash(4) }];
/** The agreed nonce, where the cursor is to be at least. */
const PLACE: SlotRef = { signer: SIGNER, nonce: 5n };

/** Null when too few endpoints tell. */
let agreed: bigint | null;
let pending: bigint[];
let cursor: bigint | null;
/** Nonces that nobody had, from the agreed one on. */
let missing: number;
let held: boolean;
/** Whether this node acts for the signer. */
let isOurs: boolean;
let calls: unknown[][];
let writes: RecordedWrites;
let log: RecordingLog;
let sync: SyncSigner;

/** What the chain shows when it is behind our books. */
let shown: ChainBehind | null;
let standing: Compared['standing'];
/** Null when not only failed transactions had the nonces that the chain calls free. */
let leftFree: LeftFree[] | null;
/** Which of them get fills. */
let filled: bigint[];
const behindAs = (what: ChainBehind): Compared => ({
  books: { signer: SIGNER, begun: true, usedBelow: 5n, block: 1, origin: [], behind: null },
  standing,
  origin: null,
  shown: what,
});

beforeEach(() => {
  [shown, standing, leftFree, filled] = [null, 'behind', null, []];
  [agreed, pending, cursor, missing, held, isOurs, calls] = [5n, [5n], 9n, 1, false, true, []];
  [writes, log] = [new RecordedWrites(), new RecordingLog()];
  const chain = {
    agreedCounts: async (...args: unknown[]) => {
      calls.push(['agreed', ...args]);
      return [agreed === null ? null : { nonce: agreed, block: { number: 7, hash: aHash(7) } }];
    },
    transactionCounts: async (...args: unknown[]) => (calls.push(['counts', ...args]), pending),
  };
  const ledger = {
    cursors: async (signers: unknown) => (
      calls.push(['cursors', signers]),
      new Map(cursor === null ? [] : [[signerKey(SIGNER), cursor]])
    ),
    align: async (_fence: unknown, places: readonly SlotRef[]) => void calls.push(['align', ...places]),
    freeMissing: async (_fence: unknown, places: readonly SlotRef[], atMost: number) => {
      calls.push(['free', ...places, atMost]);
      const freed = Math.min(missing, atMost);
      missing -= freed;
      return new Array(freed).fill(places[0]);
    },
    missing: async (places: readonly SlotRef[]) => (missing === 0 ? [] : [{ ...places[0], count: missing }]),
  };
  sync = new SyncSigner(
    { get: (chainId: number) => (calls.push(['chain', chainId]), chain) } as unknown as Chains,
    fakeOf(CompareBooks, { execute: async () => (shown === null ? [] : [behindAs(shown)]) }),
    fakeOf(LeftFreeNonces, {
      find: async (from, atMost) => (calls.push(['left free', from, atMost]), leftFree),
      fill: async (...args) => (calls.push(['fill', ...args]), filled),
    }),
    {
      execute: async (...args: unknown[]) => (calls.push(['reconcile', ...args]), { held, found: FOUND }),
    } as unknown as ReconcileSigner,
    {
      asOwner: async (signer: SignerId, task: (lease: Lease) => unknown) => {
        calls.push(['as owner', signer]);
        if (!isOurs) throw new NotLeader(signer, { nodeId: 'owner', advertisedUrl: null, expiresInMs: 1 });
        return task(LEASE);
      },
    } as unknown as LeasedWork,
    ledger as unknown as NonceLedger,
    writes.asDoor(),
    log,
  );
});

it('a gap that a person freed is handed to the lane, also when no payload waits for its nonces', async () => {
  const { gap, cursor: place } = await sync.execute(SIGNER, 64);
  expect([gap.freed, place]).toEqual([1, { before: 9n, after: 9n }]);
  expect(writes.slots('freed')).toEqual([PLACE]);
  expect(writes.txs).toEqual([]);
});

describe('a signer that a person aligns', () => {
  it('is first looked at for what is out, and then changed by its own worker, under its lease', async () => {
    await sync.execute(SIGNER, 64, true);
    expect(calls).toEqual([
      ['chain', SIGNER.chainId],
      ['reconcile', SIGNER, true],
      ['as owner', SIGNER],
      ['agreed', [SIGNER.address], 'latest'],
      ['counts', [SIGNER.address], 'pending'],
      ['cursors', [SIGNER]],
      ['align', PLACE],
      ['free', PLACE, 64],
    ]);
    expect(writes.written).toMatchObject([{ operation: 'sync', tokens: [1n] }]);
  });

  it('is not vouched for unless the person says so', async () => {
    await sync.execute(SIGNER, 64);
    expect(calls).toContainEqual(['reconcile', SIGNER, false]);
  });

  it('is shown with its proof, and with what was found', async () => {
    [pending, missing] = [[8n], 3];
    expect(await sync.execute(SIGNER, 2)).toEqual({
      signer: SIGNER,
      chain: { nonce: 5n, block: { number: 7, hash: aHash(7) } },
      pending: 8n,
      cursor: { before: 9n, after: 9n },
      gap: { freed: 2, remaining: 1 },
      recovered: FOUND,
      behind: null,
      leftFree: [],
      refusal: null,
    });
  });

  it('leaves a line in the log with the same', async () => {
    await sync.execute(SIGNER, 64);
    expect(log.lines).toMatchObject([
      { fields: { signer: signerKey(SIGNER), cursor: { before: 9n, after: 9n }, gap: { freed: 1, remaining: 0 } } },
    ]);
  });

  it('has a cursor that is raised, made when there was none, and never lowered', async () => {
    for (const [before, after] of [
      [4n, 5n],
      [5n, 5n],
      [6n, 6n],
      [null, 5n],
    ] as const) {
      cursor = before;
      expect((await sync.execute(SIGNER, 0)).cursor).toEqual({ before, after });
    }
  });

  it('is as far as its chain says where no pool tells', async () => {
    pending = [];
    expect((await sync.execute(SIGNER, 0)).pending).toBe(5n);
  });
});

describe('a signer is not aligned', () => {
  const untouched = () => expect([writes.written, log.lines]).toEqual([[], []]);

  it('while not all that is out of it is known', async () => {
    held = true;
    await expect(sync.execute(SIGNER, 64)).rejects.toMatchObject({
      kind: 'conflict',
      code: 'signer_held',
      facts: SIGNER,
    });
    untouched();
  });

  it('by a node that does not act for it', async () => {
    isOurs = false;
    await expect(sync.execute(SIGNER, 64)).rejects.toMatchObject({
      code: 'not_leader',
      facts: { ownerNodeId: 'owner' },
    });
    untouched();
  });

  it('while too few endpoints tell its nonce', async () => {
    agreed = null;
    await expect(sync.execute(SIGNER, 64)).rejects.toMatchObject({
      kind: 'unavailable',
      code: 'nonce_not_known',
      facts: SIGNER,
    });
    untouched();
  });
});

it('changes nothing while the chain is behind our books, and says what it shows', async () => {
  shown = { cause: 'CHAIN_RESET', chainNonce: 0, usedBelow: 5, block: null };
  await expect(sync.execute(SIGNER, 10, true)).rejects.toMatchObject({
    code: 'chain_behind_books',
    facts: { cause: 'CHAIN_RESET', chainNonce: 0, usedBelow: 5 },
  });
  expect(calls.filter(([what]) => what !== 'chain')).toEqual([]);
});

const LOWER: ChainBehind = { cause: 'LOWER_NONCE', chainNonce: 5, usedBelow: 6, block: null };
const LEFT: LeftFree = {
  ...PLACE,
  leftBy: aManagedTx().build(),
  txHash: aHash(1),
  blockHash: aHash(2),
  blockNumber: 2,
};

describe('nonces that failed transactions left free', () => {
  beforeEach(() => {
    [shown, leftFree] = [LOWER, [LEFT]];
  });

  it('get fills when it is known what is out, under the lease of the signer, and nothing else is done', async () => {
    expect(await sync.execute(SIGNER, 10)).toMatchObject({ behind: 'LOWER_NONCE', leftFree: [LEFT] });
    expect(calls.filter(([what]) => ['reconcile', 'as owner', 'left free', 'fill'].includes(String(what)))).toEqual([
      ['reconcile', SIGNER, false],
      ['as owner', SIGNER],
      ['left free', PLACE, 10],
      ['fill', LEASE, [LEFT]],
    ]);
    expect(writes.written).toEqual([]);
  });

  it.each([[[]], [[LEFT.nonce]]])('are logged when they got fills: %p', async (some) => {
    filled = some;
    await sync.execute(SIGNER, 10);
    expect(log.lines).toMatchObject([{ event: 'signer aligned with its chain', fields: { filled } }]);
  });

  it('get none while not all that is out is known', async () => {
    held = true;
    await expect(sync.execute(SIGNER, 10)).rejects.toMatchObject({ code: 'signer_held' });
    expect(calls.some(([what]) => what === 'fill')).toBe(false);
  });

  it.each([
    ['not only they had such nonces', (): void => void (leftFree = null)],
    ['it is not proven yet', (): void => void (standing = 'unknown')],
  ] as const)('get none while %s', async (_words, change) => {
    change();
    await expect(sync.execute(SIGNER, 10)).rejects.toMatchObject({ code: 'chain_behind_books' });
    expect(calls.some(([what]) => what === 'fill')).toBe(false);
  });
});

describe('a preview', () => {
  it('says what would be done, by any node, and changes nothing', async () => {
    [missing, isOurs] = [3, false];
    expect(await sync.execute(SIGNER, 2, true, true)).toMatchObject({
      cursor: { before: 9n, after: 9n },
      gap: { freed: 2, remaining: 1 },
      recovered: [],
      refusal: null,
    });
    expect([calls.map(([what]) => what), writes.written]).toEqual([['chain', 'agreed', 'counts', 'cursors'], []]);
  });

  it.each([
    ['was reset', { cause: 'CHAIN_RESET' }, 'behind', 'new database'],
    ['may be behind', {}, 'unknown', 'repeat the call'],
    ['lost blocks', {}, 'behind', 'endpoints'],
  ] as const)('says what to do when the chain %s', async (_words, change, how, advice) => {
    [shown, standing] = [{ ...LOWER, ...change }, how];
    const { refusal, leftFree: left } = await sync.execute(SIGNER, 2, true, true);
    expect([refusal?.advice, left]).toEqual([expect.stringContaining(advice), []]);
  });
});
