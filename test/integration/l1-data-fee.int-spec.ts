import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { configFrom } from '../../src/config/index.js';
import { type RunningAnvil, startAnvil } from '../../src/dev/anvil.js';
import { callRpc } from '../../src/dev/json-rpc.js';
import { parseAddress, parseHash, parseHex } from '../../src/kernel/hex.js';
import { unsignedSize } from '../../src/modules/chain/domain/l1-data-fees.js';
import { ConfiguredChains } from '../../src/modules/chain/infrastructure/configured-chains.js';
import { RecordingLog, ShiftedClock } from '../unit/chain/chain-fixture.js';
import { FakeMetrics } from '../support/fakes/fake-metrics.js';

const CHAIN_ID = 31_337;
const ORACLE = '0x420000000000000000000000000000000000000F';
/** Answers a thousand times the first word of the arguments: of `getL1FeeUpperBound` that is the size, and of `getOperatorFee` the gas. */
const SINCE_ISTHMUS = '0x6004356103e80260005260206000f3';
/** Reverts, except `getL1Fee(bytes)`: a thousand times the length of the bytes. */
const BEFORE_FJORD = '0x60003560e01c6349948e0e14601457600060' + '00fd5b6024356103e80260005260206000f3';

const PLAIN = { data: parseHex('0x'), gas: 21_000n };
const LONG = {
  gas: 90_000n,
  data: parseHex(`0x${'ab'.repeat(300)}`),
  accessList: [{ address: parseAddress(`0x${'1'.repeat(40)}`), storageKeys: [parseHash(`0x${'2'.repeat(64)}`)] }],
};

describe('the L1 data fee of a chain of the OP stack', () => {
  let anvil: RunningAnvil;
  const started: ConfiguredChains[] = [];

  beforeAll(async () => {
    anvil = await startAnvil({ chainId: CHAIN_ID });
  });
  afterAll(async () => {
    await Promise.all(started.map((chains) => chains.close()));
    await anvil.stop();
  });

  const feesOf = async (code: string, l1DataFee: string, calls = [PLAIN, LONG, PLAIN]) => {
    await callRpc(anvil.url, 'anvil_setCode', [ORACLE, code]);
    const config = configFrom({
      database: { url: 'postgres://nobody@localhost/none' },
      chains: [{ id: CHAIN_ID, rpcUrls: [anvil.url], l1DataFee }],
    });
    const chains = new ConfiguredChains(config, new FakeMetrics(), new ShiftedClock(), new RecordingLog());
    started.push(chains);
    return chains.get(CHAIN_ID).l1DataFees(calls);
  };
  const ofData = [PLAIN, LONG, PLAIN].map((call) => 1_000n * BigInt(unsignedSize(call)));
  const withOperator = [PLAIN, LONG, PLAIN].map(({ gas }, i) => (ofData[i] ?? 0n) + 1_000n * gas);

  it.each([
    ['its upper bound for the size, and what the operator wants for the gas', SINCE_ISTHMUS, withOperator],
    ['that of as many bytes before the Fjord upgrade, without a fee for the operator', BEFORE_FJORD, ofData],
  ])('is what the oracle answers: %s', async (_words, code, expected) => {
    expect(await feesOf(code, 'optimism')).toEqual(expected);
  });

  it('is not known where the chain has no oracle', async () => {
    await expect(feesOf('0x', 'optimism')).rejects.toMatchObject({ code: 'rpc_malformed_answer' });
  });

  it('is nothing, and nobody is asked, on every other chain', async () => {
    expect(await feesOf('0x', 'none')).toEqual([0n, 0n, 0n]);
  });
});
