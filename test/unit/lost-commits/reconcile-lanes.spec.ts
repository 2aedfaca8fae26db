import { beforeEach, describe, expect, it } from '@jest/globals';
import { NonceConfig } from '../../../src/config/index.js';
import type { ChainConnector } from '../../../src/modules/chain/index.js';
import type { AdoptSent } from '../../../src/modules/lost-commits/application/adopt-sent.js';
import { CommittedCursors } from '../../../src/modules/lost-commits/application/committed-cursors.js';
import type { FindSent } from '../../../src/modules/lost-commits/application/find-sent.js';
import { Findings } from '../../../src/modules/lost-commits/application/findings.js';
import { HeldSigners } from '../../../src/modules/lost-commits/application/held-signers.js';
import type { HoldBack } from '../../../src/modules/lost-commits/application/hold-back.js';
import { ReconcileLanes } from '../../../src/modules/lost-commits/application/reconcile-lanes.js';
import type { DatabaseWatch } from '../../../src/platform/database/database-watch.js';
import { LeaseLost } from '../../../src/modules/signers/index.js';
import { aSigner } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { RecordingLog } from '../chain/chain-fixture.js';

const SIGNER = aSigner();
const LEASE = { signer: SIGNER, owner: 'node', token: 1n };

let found: Findings[];
/** What becomes of writing down what was found. */
let written: () => Promise<boolean>;
/** For whom was looked, and who was held back. */
let looked: unknown;
let heldBack: number;
let held: HeldSigners;
let cursors: CommittedCursors;

beforeEach(() => {
  found = [
    new Findings({ signer: SIGNER, cursor: 3n, open: [], known: true, suspect: false }, 3n, [], 0n, true, false),
  ];
  [written, heldBack] = [async () => true, 0];
  held = new HeldSigners(new NonceConfig(), new FakeClock());
  cursors = new CommittedCursors({ report: () => undefined } as unknown as DatabaseWatch);
  // This process gave out nonce 5, and the database has forgotten it: its cursor is 3.
  cursors.committed([{ signer: SIGNER, nonce: 5n }]);
});

function reconcile(anyway?: boolean): Promise<Findings[]> {
  return new ReconcileLanes(
    { execute: async (_chain: unknown, signers: unknown) => ((looked = signers), found) } as unknown as FindSent,
    { execute: () => written() } as unknown as AdoptSent,
    held,
    { execute: async () => void (heldBack += 1) } as unknown as HoldBack,
    cursors,
    new RecordingLog(),
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

describe('a signer of which a pool hides something', () => {
  beforeEach(() => {
    const outlook = { signer: SIGNER, cursor: 3n, open: [], known: true, suspect: false };
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
