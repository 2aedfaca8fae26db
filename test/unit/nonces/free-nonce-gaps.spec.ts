import { beforeEach, describe, expect, it } from '@jest/globals';
import { ConfirmationsConfig } from '../../../src/config/index.js';
import type { Chains } from '../../../src/modules/chain/index.js';
import { FreeNonceGaps } from '../../../src/modules/nonces/application/free-nonce-gaps.js';
import type { NonceLedger, SlotRef } from '../../../src/modules/signers/index.js';
import { aSigner, DEV_CHAIN } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { RecordedWrites } from '../../support/fakes/recorded-writes.js';
import { RecordingLog } from '../chain/chain-fixture.js';
import { begunWork } from '../../support/fakes/our-work.js';
import { noneBehind } from '../../support/fakes/even-books.js';

const SIGNER = aSigner();
const WIDEST = 64;
const INTERVAL = 60_000;
const PLACE: SlotRef = { signer: SIGNER, nonce: 5n };

/** The chain's next nonce, and how many below our lowest slot are missing from there. */
let chain: { nonce: bigint | null; missing: number };
let clock: FakeClock;
let asked: unknown[][];
let writes: RecordedWrites;
let log: RecordingLog;
let freeGaps: FreeNonceGaps;

beforeEach(() => {
  [asked, writes, log] = [[], new RecordedWrites(), new RecordingLog()];
  [clock, chain] = [new FakeClock(), { nonce: PLACE.nonce, missing: 2 }];
  freeGaps = new FreeNonceGaps(
    {
      get: () => ({
        transactionCounts: async (...args: unknown[]) => {
          asked.push(['counts', ...args]);
          return chain.nonce === null ? [] : [chain.nonce];
        },
      }),
    } as unknown as Chains,
    begunWork,
    {
      missing: async (places: readonly SlotRef[]) =>
        chain.missing === 0 ? [] : places.map((place) => ({ ...place, count: chain.missing })),
      freeMissing: async (_fence: unknown, places: readonly SlotRef[], atMost: number) => {
        asked.push(['free', places.map(({ nonce }) => nonce), atMost]);
        return places.map(({ signer, nonce }) => ({ signer, nonce }));
      },
    } as unknown as NonceLedger,
    writes.asDoor(),
    noneBehind,
    Object.assign(new ConfirmationsConfig(), { staleReceiptTimeout: INTERVAL }),
    clock,
    log,
  );
});

async function look(afterMs: number, ...signers: readonly (typeof SIGNER)[]): Promise<SlotRef[]> {
  clock.advance(afterMs);
  writes.written.length = 0;
  await freeGaps.execute(DEV_CHAIN, signers);
  return writes.slots('freed');
}

/** What is freed by the second of two looks that find the chain standing still. */
async function freed(...signers: readonly (typeof SIGNER)[]): Promise<SlotRef[]> {
  await look(0, ...signers);
  [asked, log.lines.length] = [[], 0];
  return look(INTERVAL, ...signers);
}

describe('a gap below our lowest nonce', () => {
  it('is freed under the lease of its signer when the chain stands still, and says so in the log', async () => {
    expect(await freed(SIGNER)).toEqual([PLACE]);
    expect(asked).toEqual([
      ['counts', [SIGNER.address], 'latest'],
      ['free', [5n], WIDEST],
    ]);
    expect(writes.written).toMatchObject([{ operation: 'free_gaps', tokens: [1n] }]);
    expect(log.lines.map(({ fields }) => fields['nonce'])).toEqual([5n]);
  });

  it('is left alone while the chain moves', async () => {
    await look(0, SIGNER);
    chain.nonce = PLACE.nonce + 1n;
    expect([await look(INTERVAL, SIGNER), writes.written]).toEqual([[], []]);
  });

  it('is none when every nonce from the next of the chain on is ours', async () => {
    chain.missing = 0;
    expect([await freed(SIGNER), writes.written, log.lines]).toEqual([[], [], []]);
  });

  it('is left to people, with an error, when it is wider than sixty-four', async () => {
    chain.missing = WIDEST + 1;
    expect(await freed(SIGNER)).toEqual([]);
    expect(log.lines.map(({ fields }) => fields['missing'])).toEqual([WIDEST + 1]);
    chain.missing = WIDEST;
    expect(await freed(SIGNER)).toEqual([PLACE]);
    expect(log.lines.filter(({ fields }) => 'missing' in fields)).toEqual([]);
  });

  it('is not looked for while the chain does not tell its nonce', async () => {
    chain.nonce = null;
    expect([await freed(SIGNER), asked.length]).toEqual([[], 1]);
  });

  it('costs no call of the chain while nothing is late', async () => {
    expect([await freed(), asked]).toEqual([[], []]);
  });
});

/** Whether a look so much later finds that the nonce stands still. */
async function observed(afterMs: number, nonce = PLACE.nonce, signer = SIGNER): Promise<boolean> {
  chain.nonce = nonce;
  return (await look(afterMs, signer)).length > 0;
}

describe('the chain’s next nonce stands still', () => {
  it('when it was the same an interval ago, and not a millisecond sooner', async () => {
    expect([await observed(0), await observed(INTERVAL - 1), await observed(1), await observed(1)]).toEqual([
      false,
      false,
      true,
      true,
    ]);
  });

  it('from its last move on', async () => {
    await observed(0);
    expect([await observed(INTERVAL, 6n), await observed(INTERVAL - 1, 6n), await observed(1, 6n)]).toEqual([
      false,
      false,
      true,
    ]);
  });

  it('also when it moved back: a reorg freed nonces', async () => {
    await observed(0);
    expect([await observed(INTERVAL, 4n), await observed(INTERVAL, 4n)]).toEqual([false, true]);
  });

  it('only when nobody stopped looking for longer than three intervals', async () => {
    await observed(0);
    expect(await observed(3 * INTERVAL)).toBe(true);
    expect([await observed(3 * INTERVAL + 1), await observed(INTERVAL)]).toEqual([false, true]);
  });

  it('for each signer by itself', async () => {
    await observed(0);
    expect([await observed(INTERVAL, 5n, aSigner(2)), await observed(0)]).toEqual([false, true]);
  });
});
