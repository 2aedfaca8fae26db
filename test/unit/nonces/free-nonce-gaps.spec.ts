import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Chains } from '../../../src/modules/chain/index.js';
import { FreeNonceGaps } from '../../../src/modules/nonces/application/free-nonce-gaps.js';
import type { StalledNonces } from '../../../src/modules/nonces/application/stalled-nonces.js';
import type { NonceLedger, SlotRef } from '../../../src/modules/signers/index.js';
import { aSigner, DEV_CHAIN } from '../../support/builders.js';
import { RecordedWrites } from '../../support/fakes/recorded-writes.js';
import { RecordingLog } from '../chain/chain-fixture.js';
import { ourWork } from '../confirmations/txs-in-memory.js';

const SIGNER = aSigner();
const WIDEST = 64;
const PLACE: SlotRef = { signer: SIGNER, nonce: 5n };

/** The chain's next nonce, whether it stands still, and how many below our lowest slot are missing from there. */
let chain: { nonce: bigint | null; stalled: boolean; missing: number };
let asked: unknown[][];
let writes: RecordedWrites;
let log: RecordingLog;
let freeGaps: FreeNonceGaps;

beforeEach(() => {
  [asked, writes, log] = [[], new RecordedWrites(), new RecordingLog()];
  chain = { nonce: PLACE.nonce, stalled: true, missing: 2 };
  freeGaps = new FreeNonceGaps(
    {
      get: () => ({
        transactionCounts: async (...args: unknown[]) => {
          asked.push(['counts', ...args]);
          return chain.nonce === null ? [] : [chain.nonce];
        },
      }),
    } as unknown as Chains,
    ourWork,
    {
      missing: async (places: readonly SlotRef[]) =>
        chain.missing === 0 ? [] : places.map((place) => ({ ...place, count: chain.missing })),
      freeMissing: async (_fence: unknown, places: readonly SlotRef[], atMost: number) => {
        asked.push(['free', places.map(({ nonce }) => nonce), atMost]);
        return places.map(({ signer, nonce }) => ({ signer, nonce }));
      },
    } as unknown as NonceLedger,
    writes.asDoor(),
    { observe: (place: SlotRef) => (asked.push(['observe', place]), chain.stalled) } as unknown as StalledNonces,
    log,
  );
});

async function freed(...signers: readonly (typeof SIGNER)[]): Promise<SlotRef[]> {
  await freeGaps.execute(DEV_CHAIN, signers);
  return writes.slots('freed');
}

describe('a gap below our lowest nonce', () => {
  it('is freed under the lease of its signer when the chain stands still, and says so in the log', async () => {
    expect(await freed(SIGNER)).toEqual([PLACE]);
    expect(asked).toEqual([
      ['counts', [SIGNER.address], 'latest'],
      ['observe', PLACE],
      ['free', [5n], WIDEST],
    ]);
    expect(writes.written).toMatchObject([{ operation: 'free_gaps', tokens: [1n] }]);
    expect(log.lines.map(({ fields }) => fields['nonce'])).toEqual([5n]);
  });

  it('is left alone while the chain moves', async () => {
    chain.stalled = false;
    expect([await freed(SIGNER), writes.written]).toEqual([[], []]);
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
    expect(log.lines.filter(({ fields }) => 'missing' in fields)).toHaveLength(1);
  });

  it('is not looked for while the chain does not tell its nonce', async () => {
    chain.nonce = null;
    expect([await freed(SIGNER), asked.length]).toEqual([[], 1]);
  });

  it('costs no call of the chain while nothing is late', async () => {
    expect([await freed(), asked]).toEqual([[], []]);
  });
});
