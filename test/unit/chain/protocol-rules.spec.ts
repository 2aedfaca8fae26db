import { beforeEach, describe, expect, it } from '@jest/globals';
import { ProtocolRules } from '../../../src/modules/chain/application/protocol-rules.js';
import { Chains, type GasEstimate } from '../../../src/modules/chain/index.js';
import { EthersChainConnector } from '../../../src/modules/chain/infrastructure/ethers-chain-connector.js';
import { aSigner } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { fakeOf } from '../../support/fakes/fake-of.js';

const SIGNER = aSigner();
const [MINUTE_MS, HOUR_MS] = [60_000, 3_600_000];

let clock: FakeClock;
/** Gas for each byte of call data, on top of 21,000. */
let ofByte: bigint;
let creation: GasEstimate;
let answers: boolean;
let asked: number;
let rules: ProtocolRules;

beforeEach(() => {
  [clock, ofByte, answers, asked] = [new FakeClock(), 40n, true, 0];
  creation = { kind: 'rejected', message: 'max initcode size exceeded' };
  const chain = fakeOf(EthersChainConnector, {
    estimateGas: async (calls) => {
      asked += 1;
      if (!answers) return new Promise(() => undefined);
      return calls.map(({ to, data }): GasEstimate => {
        const bytes = BigInt((data.length - 2) / 2);
        return to === null ? creation : { kind: 'ok', gas: 21_000n + 100_000n + bytes * ofByte };
      });
    },
  });
  const pauses = { pause: async () => new Promise<void>((resolve) => setTimeout(resolve, 5)) };
  rules = new ProtocolRules(fakeOf(Chains, { get: () => chain }), clock, pauses);
});

describe('what a chain charges for call data', () => {
  it('is what a byte adds, whatever a transaction costs besides', async () => {
    expect(await rules.leastGasOfByte(SIGNER)).toBe(40n);
  });

  it('is asked for once an hour, by many at once', async () => {
    await Promise.all([rules.leastGasOfByte(SIGNER), rules.leastGasOfByte(SIGNER)]);
    ofByte = 10n;
    clock.advance(HOUR_MS - 1);
    expect([await rules.leastGasOfByte(SIGNER), asked]).toEqual([40n, 1]);
    clock.advance(1);
    expect([await rules.leastGasOfByte(SIGNER), asked]).toEqual([10n, 2]);
  });

  it('is not known while nobody answers, and asked for again after a minute', async () => {
    answers = false;
    expect(await rules.leastGasOfByte(SIGNER)).toBeNull();
    answers = true;
    clock.advance(MINUTE_MS - 1);
    expect([await rules.leastGasOfByte(SIGNER), asked]).toEqual([null, 1]);
    clock.advance(1);
    expect(await rules.leastGasOfByte(SIGNER)).toBe(40n);
  });
});

describe('the limit of init code', () => {
  it.each<[string, GasEstimate, boolean | null]>([
    ['there where a node refuses more', { kind: 'rejected', message: 'max initcode size exceeded' }, true],
    ['not there where a node takes more', { kind: 'ok', gas: 400_000n }, false],
    ['not known where the answer is about something else', { kind: 'insufficient_funds', message: 'no money' }, null],
  ])('is %s', async (_what, estimate, expected) => {
    creation = estimate;
    expect(await rules.limitsInitCode(SIGNER)).toBe(expected);
  });
});
