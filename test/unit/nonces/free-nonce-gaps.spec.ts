import { beforeEach, describe, expect, it } from '@jest/globals';
import { ResubmitConfig } from '../../../src/config/index.js';
import type { SignerId } from '../../../src/kernel/signer-id.js';
import type { Chains } from '../../../src/modules/chain/index.js';
import type { FencedUnitOfWork, NonceLedger, SlotRef } from '../../../src/modules/signers/index.js';
import { FreeNonceGaps } from '../../../src/modules/nonces/application/free-nonce-gaps.js';
import type { LaneMemory } from '../../../src/modules/transactions/application/writing/lane-memory.js';
import type { LeasedWork } from '../../../src/modules/transactions/application/writing/leased-work.js';
import { aSigner, DEV_CHAIN } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { RecordingLog } from '../chain/chain-fixture.js';

const SIGNER = aSigner();
const INTERVAL = 60_000;
const WIDEST = 64;

let clock: FakeClock;
let log: RecordingLog;
let heal: FreeNonceGaps;
/** The chain's next nonce, and how many below our lowest slot are missing from there. */
let chain: { nonce: bigint | null; missing: number };
let asked: unknown[];
/** What was done for a gap: slots freed, doubts, holes and bells. */
let freed: readonly SlotRef[];
let done: string[];

beforeEach(() => {
  clock = new FakeClock();
  log = new RecordingLog();
  chain = { nonce: 5n, missing: 2 };
  freed = [];
  done = [];
  const note =
    (what: string) =>
    (_signer: SignerId): void =>
      void done.push(what);
  const ledger = {
    missing: async (places: readonly SlotRef[]) => places.map((place) => ({ ...place, count: chain.missing })),
    freeMissing: async (_fence: unknown, places: readonly SlotRef[]) => (freed = places),
  };
  heal = new FreeNonceGaps(
    {
      get: () => ({
        transactionCounts: async (...args: unknown[]) => ((asked = args), chain.nonce === null ? [] : [chain.nonce]),
      }),
    } as unknown as Chains,
    {
      run: async (
        _chain: number,
        items: readonly SlotRef[],
        task: (leases: [], share: readonly SlotRef[]) => unknown,
      ) => items.length > 0 && task([], items),
    } as unknown as LeasedWork,
    {
      run: async (_l: unknown, _o: string, work: (fence: null) => unknown) => work(null),
    } as unknown as FencedUnitOfWork,
    ledger as unknown as NonceLedger,
    { distrustNonce: note('distrusted'), gapOpened: note('hole') } as unknown as LaneMemory,
    { ring: (signers) => void done.push(...signers.map(({ address }) => `rung for ${address}`)) },
    Object.assign(new ResubmitConfig(), { interval: INTERVAL }),
    clock,
    log,
  );
});

async function look(afterMs = 0): Promise<boolean> {
  clock.advance(afterMs);
  freed = [];
  await heal.execute(DEV_CHAIN, [SIGNER]);
  return freed.length > 0;
}

describe('a gap below our lowest nonce', () => {
  it('is freed when the chain stood still for an interval, and the lane is told', async () => {
    expect([await look(), await look(INTERVAL - 1)]).toEqual([false, false]);
    expect(done).toEqual([]);
    expect(await look(1)).toBe(true);
    expect(freed).toMatchObject([{ signer: SIGNER, nonce: 5n }]);
    expect(done).toEqual(['distrusted', 'hole', `rung for ${SIGNER.address}`]);
    expect([asked, log.lines.length]).toEqual([[[SIGNER.address], 'latest'], 1]);
  });

  it('is waited for anew when the chain went on', async () => {
    await look();
    chain.nonce = 6n;
    expect([await look(INTERVAL), await look(INTERVAL - 1), await look(1)]).toEqual([false, false, true]);
  });

  it('is waited for anew when nobody looked for longer than three intervals', async () => {
    await look();
    expect(await look(3 * INTERVAL)).toBe(true);
    expect([await look(3 * INTERVAL + 1), await look(INTERVAL)]).toEqual([false, true]);
  });

  it('is left to people, with an error, when it is wider than sixty-four', async () => {
    chain.missing = WIDEST + 1;
    await look();
    expect(await look(INTERVAL)).toBe(false);
    expect(log.lines.map(({ fields }) => fields['missing'])).toEqual([WIDEST + 1]);
    chain.missing = WIDEST;
    expect(await look(1)).toBe(true);
    expect(log.lines.filter(({ fields }) => 'missing' in fields)).toHaveLength(1);
  });

  it('is not looked for while the chain does not tell its nonce', async () => {
    chain.nonce = null;
    await look();
    expect(await look(INTERVAL)).toBe(false);
  });
});
