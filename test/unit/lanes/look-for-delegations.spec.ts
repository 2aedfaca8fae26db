import { beforeEach, expect, it } from '@jest/globals';
import { IN_FLIGHT_START } from '../../../src/config/index.js';
import { LookForDelegations } from '../../../src/modules/lanes/application/look-for-delegations.js';
import { type InFlightLimits } from '../../../src/modules/ledger/index.js';
import { EthersChainConnector } from '../../../src/modules/chain/infrastructure/ethers-chain-connector.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { aSigner } from '../../support/builders.js';
import { RecordingLog } from '../chain/chain-fixture.js';
import { inFlightLimits } from '../../support/in-flight-limits.js';

const [A, B] = [aSigner(1), aSigner(2)];
const START = IN_FLIGHT_START;

let asked: unknown[];
let answer: () => boolean[];
let limits: InFlightLimits;
let log: RecordingLog;
let look: LookForDelegations;

const chain = fakeOf(EthersChainConnector, {
  chainId: A.chainId,
  delegated: async (accounts) => (asked.push(accounts), answer()),
});

beforeEach(() => {
  [asked, answer] = [[], () => [false, true]];
  [limits, log] = [inFlightLimits(), new RecordingLog()];
  look = new LookForDelegations(limits, log);
});

it('a signer that delegates has one transaction in flight, until it does not delegate any more', async () => {
  await look.execute(chain, [A, B]);
  expect([limits.of(A), limits.of(B)]).toEqual([START, 1]);
  answer = () => [true, false];
  await look.execute(chain, [A, B]);
  expect([limits.of(A), limits.of(B)]).toEqual([1, START]);
  expect(asked).toEqual([
    [A.address, B.address],
    [A.address, B.address],
  ]);
});

it('nothing is asked for no signer', async () => {
  await look.execute(chain, []);
  expect(asked).toEqual([]);
});

it('a chain that does not answer stops nothing, and what is known stays', async () => {
  await look.execute(chain, [A, B]);
  answer = () => {
    throw new Error('no endpoint');
  };
  await look.execute(chain, [A, B]);
  expect(limits.of(B)).toBe(1);
  expect(log.lines.map(({ event }) => event)).toEqual(['failed to read the code of accounts']);
});
