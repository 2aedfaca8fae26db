import { beforeEach, expect, it } from '@jest/globals';
import { ExecutionConfig } from '../../../src/config/index.js';
import { sameSigner, type SignerId } from '../../../src/kernel/signer-id.js';
import { LaneRooms } from '../../../src/modules/lanes/application/lane-rooms.js';
import { type InFlightLimits, LaneMemory, TxQueue } from '../../../src/modules/ledger/index.js';
import { NonceLedger } from '../../../src/modules/signers/index.js';
import { aLease, aSigner } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { KeysOf } from '../../support/fakes/fake-node.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { inFlightLimits } from '../../support/in-flight-limits.js';

const [EXTERNAL, OURS] = [aSigner(1), aSigner(2)];
const MAX_IN_FLIGHT = 4;

let inFlight: number;
/** Who has a nonce gap. */
let gaps: SignerId[];
let asked: SignerId[];
let limits: InFlightLimits;

beforeEach(() => {
  [inFlight, gaps, asked] = [0, [], []];
});

async function rooms(): Promise<[SignerId, number][]> {
  const config = Object.assign(new ExecutionConfig(), { maxInFlight: MAX_IN_FLIGHT, batchSize: 2 });
  limits = inFlightLimits(config);
  const custody = new KeysOf([]);
  custody.external = [EXTERNAL];
  const lanes = new LaneRooms(
    fakeOf(TxQueue, { countInFlight: async (signers) => signers.map(() => inFlight) }),
    new LaneMemory(new FakeClock()),
    limits,
    config,
    custody,
    fakeOf(NonceLedger, {
      gaps: async (signers) => {
        asked.push(...signers);
        return gaps
          .flatMap((signer) => signers.filter((each) => sameSigner(each, signer)))
          .map((signer) => ({ signer, nonce: 3n }));
      },
    }),
  );
  // A pool took two, and no more.
  for (const signer of [EXTERNAL, OURS]) limits.refused(signer, 2);
  return (await lanes.of([EXTERNAL, OURS].map((signer) => aLease(signer)))).map(({ signer, room }) => [signer, room]);
}

it('what is in flight leaves no room below a limit that has become lower', async () => {
  inFlight = 1;
  expect(await rooms()).toEqual([
    [EXTERNAL, 1],
    [OURS, 1],
  ]);
  expect(asked).toEqual([]);
  inFlight = MAX_IN_FLIGHT;
  expect(await rooms()).toEqual([]);
});

it('a nonce gap that only outside senders can close has room all the same, for one', async () => {
  [inFlight, gaps] = [MAX_IN_FLIGHT, [EXTERNAL, OURS]];
  expect(await rooms()).toEqual([[EXTERNAL, 1]]);
  expect(asked).toEqual([EXTERNAL]);
});
