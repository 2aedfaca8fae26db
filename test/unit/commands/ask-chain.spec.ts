import { beforeEach, describe, expect, it } from '@jest/globals';
import { ExecutionConfig } from '../../../src/config/index.js';
import { SecondObservations } from '../../../src/modules/chain/application/second-observations.js';
import { AskChain, NOTHING_ASKED } from '../../../src/modules/commands/application/ask-chain.js';
import { ManagedTxRepository, type RequestedTx } from '../../../src/modules/ledger/index.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { aCommand, aManagedTx, aRequest, FREE_QUOTE } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { gasRules } from '../../support/gas-rules.js';
import { ModelChain } from '../../support/model-chain.js';
import { RecordingLog } from '../chain/chain-fixture.js';

const IDS = ['a', 'b'];
const REPLACES = IDS.map((id) => aCommand({ kind: 'replace', commandId: id, replacement: id }));

let chain: ModelChain;
/** How many calls each question had. */
let questions: number[];
let log: RecordingLog;
let ask: AskChain;

beforeEach(() => {
  [chain, questions, log] = [new ModelChain(), [], new RecordingLog()];
  chain.estimateGas = async (calls) => (questions.push(calls.length), calls.map(() => ({ kind: 'ok', gas: 40_000n })));
  const known = IDS.map((txId): RequestedTx => ({ tx: aManagedTx({ txId, version: 3 }).build(), request: aRequest() }));
  ask = new AskChain(
    fakeOf(ManagedTxRepository, { requested: async (ids) => known.filter(({ tx }) => ids.includes(tx.id)) }),
    new SecondObservations(new FakeClock()),
    gasRules(),
    Object.assign(new ExecutionConfig(), { giveUpAfter: 60_000 }),
    log,
  );
});

it('the gas of all replacements is one question, and says of which version it is', async () => {
  const { gas, quote } = await ask.execute(chain, REPLACES);
  const known = { kind: 'gas', gas: 50_000n, version: 3 };
  expect([quote, questions]).toEqual([await chain.feeQuote(), [2]]);
  expect([...gas]).toEqual(IDS.map((id) => [id, known]));
});

it('a speed-up needs a quote only', async () => {
  const { gas, quote } = await ask.execute(chain, [aCommand({ kind: 'speed_up' })]);
  expect([quote, gas.size, questions]).toEqual([await chain.feeQuote(), 0, []]);
});

it('the balance is asked for where gas is free, and nowhere else', async () => {
  chain.balances = async () => [7n];
  expect((await ask.execute(chain, REPLACES)).balance).toBeNull();
  chain.feeQuote = async () => FREE_QUOTE;
  expect((await ask.execute(chain, REPLACES)).balance).toBe(7n);
});

it('nothing is known when no endpoint answers, which is logged', async () => {
  chain.feeQuote = () => Promise.reject(new Error('no answer'));
  expect(await ask.execute(chain, REPLACES)).toEqual(NOTHING_ASKED);
  expect(log.lines.map(({ event }) => event)).toEqual(['commands wait: the chain gave no answer']);
});

describe('an estimate of a replacement that no endpoint gives, while it gives others', () => {
  const tried = (tries: number) => REPLACES.map((command) => ({ ...command, tries }));

  it.each(['silent', 'unclear'] as const)('ends the command in the end, when it is %s', async (kind) => {
    chain.estimateGas = async () => [
      { kind, message: 'no answer to this call' },
      { kind: 'ok', gas: 40_000n },
    ];
    expect((await ask.execute(chain, tried(5))).gas.get('a')).toEqual({ kind: 'later' });
    const { gas } = await ask.execute(chain, tried(6));
    const reason = 'its gas was asked for 7 times: no answer to this call';
    expect(gas.get('a')).toEqual({ kind: 'refused', reason, version: 3 });
    expect(gas.get('b')).toMatchObject({ kind: 'gas' });
  });

  it.each(['unavailable', 'insufficient_funds'] as const)('does not end it when it is %s', async (kind) => {
    chain.estimateGas = async (calls) => calls.map(() => ({ kind, message: 'later' }));
    expect((await ask.execute(chain, tried(1_000))).gas.get('a')).toEqual({ kind: 'later' });
  });
});
