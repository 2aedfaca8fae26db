import { describe, expect, it } from '@jest/globals';
import { parseHex } from '../../../src/kernel/hex.js';
import {
  authorizing,
  hasDailyLimit,
  type JudgedRequest,
  type Policy,
  verdict,
} from '../../../src/modules/policies/domain/policy.js';
import { aHash, anAddress } from '../../support/builders.js';

const [TOKEN, OTHER] = [anAddress(1), anAddress(2)];
const TRANSFER = parseHex('0xa9059cbb');
const CALL = parseHex(`${TRANSFER}${'00'.repeat(64)}`);
const NO_LIMIT: Policy = {
  ...{ to: null, maxValue: null, maxFee: null, dailyValue: null, dailyFees: null },
  ...{ contractCreation: false, blobs: false, authorizations: false, typedData: new Set(), dryRun: false },
};
const only = (selectors: readonly string[] | null): Partial<Policy> => ({
  to: new Map([[TOKEN, selectors && new Set(selectors)]]),
});
const EMPTY = parseHex('0x');

function asked(payload: Partial<JudgedRequest['payload']>, fees: Partial<JudgedRequest['fees']> = {}): JudgedRequest {
  return {
    payload: { to: TOKEN, value: 0n, data: EMPTY, gasLimit: null, ...payload },
    fees: { maxFeePerGas: null, gasPrice: null, ...fees },
  };
}

const AUTHORIZATIONS = { authorizationList: [{}] };

describe('what a policy says of a request', () => {
  it.each<[string, Partial<Policy>, JudgedRequest, string | null]>([
    ['a receiver where none is named', {}, asked({ to: OTHER }), null],
    ['a receiver that is named', only(null), asked({ data: CALL }), null],
    ['a receiver that is not named', only(null), asked({ to: OTHER }), 'to'],
    ['any receiver where the list is empty', { to: new Map() }, asked({}), 'to'],
    ['a selector that is named', only([TRANSFER]), asked({ data: CALL }), null],
    ['a selector that is not named', only(['0x095ea7b3']), asked({ data: CALL }), 'selector'],
    ['no data where only a selector is named', only([TRANSFER]), asked({}), 'selector'],
    ['no data where that is named', only(['0x']), asked({}), null],
    ['less than a selector', only(['0x', TRANSFER]), asked({ data: parseHex('0xa905') }), 'selector'],
    ['a contract', {}, asked({ to: null, data: CALL }), 'contractCreation'],
    ['a contract that is allowed, beside a list', { ...only(null), contractCreation: true }, asked({ to: null }), null],
    ['blobs', {}, asked({ blobHashes: [aHash(1)] }), 'blobs'],
    ['blobs that are allowed', { blobs: true }, asked({ blobHashes: [aHash(1)] }), null],
    ['authorizations', {}, asked(AUTHORIZATIONS), 'authorizations'],
    ['authorizations that are allowed', { authorizations: true }, asked(AUTHORIZATIONS), null],
    ['the highest value', { maxValue: 5n }, asked({ value: 5n }), null],
    ['one wei more', { maxValue: 5n }, asked({ value: 6n }), 'maxValue'],
    ['no value where none is allowed', { maxValue: 0n }, asked({ value: 0n }), null],
    ['more than a day may have', { dailyValue: 5n }, asked({ value: 6n }), 'dailyValue'],
    ['the highest fee', { maxFee: 20n }, asked({ gasLimit: 10n }, { maxFeePerGas: 2n }), null],
    ['a fee above it', { maxFee: 19n }, asked({ gasLimit: 10n }, { maxFeePerGas: 2n }), 'maxFee'],
    ['a gas price above it', { maxFee: 19n }, asked({ gasLimit: 10n }, { gasPrice: 2n }), 'maxFee'],
    ['a fee that the client left open', { maxFee: 1n }, asked({ gasLimit: 10n }), null],
    ['gas that the client left open', { maxFee: 1n }, asked({}, { maxFeePerGas: 2n }), null],
  ])('about %s', (_name, limits, request, rule) => {
    const said = verdict({ ...NO_LIMIT, ...limits }, request);
    expect(said.kind === 'allowed' ? null : [said.kind, said.rule]).toEqual(rule === null ? null : ['refused', rule]);
  });

  it('is the same in a dry run', () => {
    expect(verdict({ ...NO_LIMIT, maxValue: 1n, dryRun: true }, asked({ value: 2n }))).toMatchObject({
      kind: 'refused',
      rule: 'maxValue',
    });
  });
});

describe('the daily amounts', () => {
  const limits: Partial<Policy> = { dailyValue: 100n, dailyFees: 10n };
  const judged = (spent: [bigint, bigint], needs: [bigint, bigint]) => {
    const said = verdict({ ...NO_LIMIT, ...limits }, asked({}), {
      spent: { value: spent[0], fees: spent[1] },
      needs: { value: needs[0], fees: needs[1] },
    });
    return said.kind === 'allowed' ? said.kind : `${said.kind} ${said.rule}`;
  };

  it.each<[string, [bigint, bigint], [bigint, bigint], string]>([
    ['are used up to the last wei', [60n, 7n], [40n, 3n], 'allowed'],
    ['hold one wei of value more', [60n, 0n], [41n, 0n], 'held dailyValue'],
    ['hold one wei of fees more', [0n, 7n], [0n, 4n], 'held dailyFees'],
    ['refuse a value that never has room', [0n, 0n], [101n, 0n], 'refused dailyValue'],
    ['refuse fees that never have room', [0n, 0n], [0n, 11n], 'refused dailyFees'],
    ['hold nothing back that needs none of what is used up', [500n, 0n], [0n, 10n], 'allowed'],
  ])('%s', (_name, spent, needs, said) => {
    expect(judged(spent, needs)).toBe(said);
  });

  it('are counted where a policy has one of them', () => {
    expect([limits, { dailyFees: 0n }, {}].map((some) => hasDailyLimit({ ...NO_LIMIT, ...some }))).toEqual([
      true,
      true,
      false,
    ]);
  });
});

it('a signer signs authorizations for others only where its policy names them', () => {
  expect(authorizing(NO_LIMIT)).toMatchObject({ kind: 'refused', rule: 'authorizations' });
  expect(authorizing({ ...NO_LIMIT, authorizations: true })).toEqual({ kind: 'allowed' });
});
