import { beforeEach, describe, expect, it } from '@jest/globals';
import { ExecutionConfig, NonceConfig } from '../../../src/config/index.js';
import type { ChainConnector } from '../../../src/modules/chain/index.js';
import type { AdoptSent } from '../../../src/modules/lost-commits/application/adopt-sent.js';
import { CommittedCursors } from '../../../src/modules/lost-commits/application/committed-cursors.js';
import type { FindSent } from '../../../src/modules/lost-commits/application/find-sent.js';
import { Findings } from '../../../src/modules/lost-commits/application/findings.js';
import { HeldSigners } from '../../../src/modules/lost-commits/application/held-signers.js';
import { ReconcileLanes } from '../../../src/modules/lost-commits/application/reconcile-lanes.js';
import type { DatabaseWatch } from '../../../src/platform/database/database-watch.js';
import type { ManagedTx, TxQueue } from '../../../src/modules/ledger/index.js';
import { LeaseLost } from '../../../src/modules/signers/index.js';
import { aManagedTx, aSigner } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { RecordedWrites } from '../../support/fakes/recorded-writes.js';
import { aWatch } from '../../support/fakes/fake-watch.js';
import { RecordingLog } from '../chain/chain-fixture.js';

const SIGNER = aSigner();
const BATCH = 7;
const LEASE = { signer: SIGNER, owner: 'node', token: 1n };

let found: Findings[];
/** What becomes of writing down what was found. */
let written: () => Promise<boolean>;
/** For whom was looked, and who was held back. */
let looked: unknown;
let heldBack: number;
/** What the storing was told of an operator. */
let vouched: unknown;
/** Of the signer. */
let waiting: ManagedTx[];
let rooms: unknown;
let writes: RecordedWrites;
let log: RecordingLog;
let held: HeldSigners;
let cursors: CommittedCursors;

beforeEach(() => {
  found = [
    new Findings(
      { signer: SIGNER, cursor: 3n, open: [], inFlightFrom: null, known: true, suspect: false, epoch: 1 },
      3n,
      [],
      0n,
      true,
      false,
    ),
  ];
  [written, heldBack] = [async () => true, 0];
  [waiting, writes, log] = [[], new RecordedWrites(), new RecordingLog()];
  held = new HeldSigners(new NonceConfig(), new FakeClock(), aWatch());
  cursors = new CommittedCursors({ report: () => undefined } as unknown as DatabaseWatch);
  // This process gave out nonce 5, and the database has forgotten it: its cursor is 3.
  cursors.committed([{ signer: SIGNER, nonce: 5n }]);
});

function reconcile(anyway?: boolean): Promise<Findings[]> {
  return new ReconcileLanes(
    { execute: async (_chain: unknown, signers: unknown) => ((looked = signers), found) } as unknown as FindSent,
    { execute: (...asked: unknown[]) => ((vouched = asked[2]), written()) } as unknown as AdoptSent,
    held,
    cursors,
    {
      nextPending: async (asked: unknown) => {
        [heldBack, rooms] = [heldBack + 1, asked];
        return waiting.map((tx) => ({ tx }));
      },
    } as unknown as TxQueue,
    writes.asDoor(),
    Object.assign(new ExecutionConfig(), { batchSize: BATCH }),
    log,
  ).execute({} as ChainConnector, [LEASE], anyway);
}

const goOn = (): void => cursors.expect([SIGNER], new Map());

describe('a signer whose last commits were lost', () => {
  it('goes on with the lower cursor when what is out is written down', async () => {
    expect(goOn).toThrow('lost commits');
    await reconcile();
    expect(goOn).not.toThrow();
    expect(held.has(SIGNER)).toBe(false);
  });

  it('does not when nothing was looked for', async () => {
    found = [];
    await reconcile();
    expect(goOn).toThrow('lost commits');
  });

  it('is held when what is out cannot be written down', async () => {
    for (const failing of [async () => false, () => Promise.reject(new Error('refused'))]) {
      written = failing;
      await reconcile();
      expect(held.has(SIGNER)).toBe(true);
      expect(goOn).toThrow('lost commits');
      held.release(SIGNER);
    }
  });
});

it('what is not stored yet is told once, and an operator may vouch for it', async () => {
  written = async () => vouched === true;
  for (let look = 0; look < 2; look += 1) await reconcile();
  expect(log.lines.map(({ event }) => event)).toEqual(['signer held: what it has sent is not stored yet']);
  expect(held.has(SIGNER)).toBe(true);
  await reconcile(true);
  expect(held.has(SIGNER)).toBe(false);
});

describe('a signer of which a pool hides something', () => {
  beforeEach(() => {
    const outlook = { signer: SIGNER, cursor: 3n, open: [], inFlightFrom: null, known: true, suspect: false, epoch: 1 };
    found = [new Findings(outlook, 3n, [], 5n, false, false)];
    written = () => Promise.reject(new Error('written down too soon'));
  });

  it('is held, which its txs say once', async () => {
    expect(await reconcile()).toBe(found);
    await reconcile();
    expect([looked, held.has(SIGNER), heldBack]).toEqual([[SIGNER], true, 1]);
    expect(goOn).toThrow('lost commits');
  });

  it('goes on when nothing is to be looked for any more', async () => {
    await reconcile();
    found = [];
    await reconcile();
    expect(held.has(SIGNER)).toBe(false);
  });

  it('goes on when a person vouches for the rest', async () => {
    await reconcile();
    written = async () => true;
    await reconcile(true);
    expect([held.has(SIGNER), heldBack]).toEqual([false, 1]);
    expect(goOn).not.toThrow();
  });
});

it('a lease that is lost meanwhile is no matter of the signer: the step ends', async () => {
  written = () => Promise.reject(new LeaseLost([LEASE], 'reconcile'));
  await expect(reconcile()).rejects.toBeInstanceOf(LeaseLost);
  expect(held.has(SIGNER)).toBe(false);
});

describe('a signer that stands still', () => {
  beforeEach(() => {
    waiting = ['a', 'b'].map((txId) => aManagedTx({ txId }).build());
    writes.canLock = (txId) => txId === 'b';
    const outlook = { signer: SIGNER, cursor: 3n, open: [], inFlightFrom: null, known: true, suspect: true, epoch: 1 };
    found = [new Findings(outlook, 3n, [], 5n, false, false)];
  });

  it('says so in the first of its txs that wait still', async () => {
    await reconcile();
    expect(rooms).toEqual([{ signer: SIGNER, room: BATCH }]);
    expect(writes.written).toMatchObject([{ operation: 'hold_back', tokens: [1n] }]);
    expect(writes.txs).toMatchObject([{ id: 'b', state: 'PENDING', timers: { resubmit: { inMs: 1_000 } } }]);
    expect(writes.txs[0]?.progress).toMatchObject({
      subState: 'NONCE_SYNC',
      lastError: 'the database may have lost commits: the transactions that this signer has sent are not all known yet',
    });
  });

  it('says so in the log, with what is known, also when nothing waits', async () => {
    waiting = [];
    await reconcile();
    expect(log.lines).toMatchObject([
      { fields: { cursor: 3n, chainNonce: 3n, hiddenBelow: 5n, unread: false, suspect: true } },
    ]);
    expect(writes.written).toEqual([]);
  });
});
