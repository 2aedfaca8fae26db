import { beforeEach, describe, expect, it } from '@jest/globals';
import { parseHex } from '../../../src/kernel/hex.js';
import { ProtocolRules, ChainRules } from '../../../src/modules/chain/index.js';
import type { TxPayload } from '../../../src/modules/ledger/index.js';
import { PayloadLimits } from '../../../src/modules/requests/application/payload-limits.js';
import { anAddress, aHash, aRequest } from '../../support/builders.js';
import { fakeOf } from '../../support/fakes/fake-of.js';

let cap: bigint | undefined;
/** Null while no node tells. */
let gasOfByte: bigint | null;
let limitsInitCode: boolean | null;
let asked: string[];
let limits: PayloadLimits;

beforeEach(() => {
  [cap, gasOfByte, limitsInitCode, asked] = [undefined, 40n, true, []];
  limits = new PayloadLimits(
    fakeOf(ChainRules, { transactionGasCap: () => cap }),
    fakeOf(ProtocolRules, {
      leastGasOfByte: async () => (asked.push('gas'), gasOfByte),
      limitsInitCode: async () => (asked.push('init code'), limitsInitCode),
    }),
  );
});

async function refusal(payload: Partial<TxPayload>): Promise<unknown> {
  const request = aRequest({ payload: { ...aRequest().payload, ...payload } });
  return limits.assertPossible(request).then(
    () => null,
    (error: unknown) => error,
  );
}

const bytes = (count: number, byte = 'ff') => parseHex(`0x${byte.repeat(count)}`);
const DATA = bytes(5_000);
const LIST = [{ address: anAddress(1), storageKeys: [aHash(1)] }];

describe('a gas limit of a client', () => {
  it.each<[string, Partial<TxPayload>, bigint]>([
    ['a transfer', {}, 21_000n],
    ['a creation', { to: null, data: bytes(1) }, 53_018n],
    ['an access list', { accessList: LIST }, 25_300n],
    ['call data with a floor (EIP-7623)', { data: DATA }, 221_000n],
    ['init code with its words (EIP-3860)', { to: null, data: bytes(3_200, '00') }, 66_000n],
  ])('below what %s costs is refused, and the least is not', async (_what, payload, least) => {
    expect(await refusal({ ...payload, gasLimit: least - 1n })).toMatchObject({
      code: 'gas_limit_too_low',
      retryable: false,
      facts: { least: least.toString() },
    });
    expect(await refusal({ ...payload, gasLimit: least })).toBeNull();
  });

  it('is held to no floor on a chain without one, nor while no node tells', async () => {
    for (const ofByte of [16n, null]) {
      gasOfByte = ofByte;
      expect(await refusal({ data: DATA, gasLimit: 101_000n })).toBeNull();
      expect(await refusal({ data: DATA, gasLimit: 100_999n })).toMatchObject({ code: 'gas_limit_too_low' });
    }
  });

  it('is not held to what Ethereum charges for call data where a chain charges less', async () => {
    gasOfByte = 10n;
    expect(await refusal({ data: DATA, gasLimit: 80_000n })).toBeNull();
    expect(await refusal({ data: DATA, gasLimit: 20_999n })).toMatchObject({ code: 'gas_limit_too_low' });
  });

  it('that is enough for all rules, or is left out, asks the chain nothing', async () => {
    await refusal({ data: DATA, gasLimit: 221_000n });
    await refusal({ data: DATA });
    await refusal({ gasLimit: 20_999n });
    expect(asked).toEqual([]);
  });

  it('above the cap of its chain is refused, where the chain has one that is known', async () => {
    for (const unlimited of [undefined, 0n]) {
      cap = unlimited;
      expect(await refusal({ gasLimit: 300_000_000n })).toBeNull();
    }
    cap = 16_777_216n;
    expect(await refusal({ gasLimit: 16_777_216n })).toBeNull();
    expect(await refusal({ gasLimit: 16_777_217n })).toMatchObject({
      code: 'gas_limit_above_cap',
      retryable: false,
      facts: { cap: '16777216' },
    });
  });
});

describe('a payload', () => {
  it('of more than 128 kB is refused, whatever its gas, but not its blobs', async () => {
    expect(await refusal({ data: bytes(130_997) })).toBeNull();
    expect(await refusal({ data: bytes(130_998) })).toMatchObject({ code: 'payload_too_large', retryable: false });
    expect(await refusal({ data: bytes(130_950), accessList: LIST })).toMatchObject({ code: 'payload_too_large' });
    expect(await refusal({ data: bytes(130_998), blobHashes: [aHash(1)] })).toBeNull();
  });

  it('with more init code than the chain takes is refused', async () => {
    expect(await refusal({ to: null, data: bytes(49_152) })).toBeNull();
    expect(asked).toEqual([]);
    expect(await refusal({ to: null, data: bytes(49_153) })).toMatchObject({ code: 'payload_too_large' });
  });

  it('with as much init code as a chain with larger contracts takes is not refused', async () => {
    limitsInitCode = false;
    expect(await refusal({ to: null, data: bytes(130_000) })).toBeNull();
  });

  it('with more init code is not refused while no node tells, unless no pool takes so much', async () => {
    limitsInitCode = null;
    expect(await refusal({ to: null, data: bytes(49_153) })).toBeNull();
    expect(await refusal({ to: null, data: bytes(131_072) })).toMatchObject({ code: 'payload_too_large' });
  });
});
