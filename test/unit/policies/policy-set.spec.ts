import { describe, expect, it } from '@jest/globals';
import { signerKey } from '../../../src/kernel/signer-id.js';
import type { Policy } from '../../../src/modules/policies/domain/policy.js';
import { type PolicyRules, toPolicy, toRules } from '../../../src/modules/policies/domain/policy-rules.js';
import { PolicySet } from '../../../src/modules/policies/domain/policy-set.js';
import type { PolicyNews } from '../../../src/modules/policies/domain/stored-policies.js';
import { aRequest, aSigner } from '../../support/builders.js';

const [CONFIGURED, OTHER] = [aSigner(1), aSigner(2)];

const configured = (rules: PolicyRules): PolicySet => {
  const entry = { signer: CONFIGURED, config: toPolicy(rules), stored: null };
  return new PolicySet('', new Map([[signerKey(CONFIGURED), entry]]));
};

const version = (signer: typeof OTHER, rules: PolicyRules | null) => {
  const policy: Policy | null = rules && toPolicy(rules);
  return { signer, version: 1, policy, changedBy: 'key:1', changedAt: new Date(0) };
};

const all = (mark: string, newest: PolicyNews['newest']): PolicyNews => ({ mark, isAll: true, newest });

describe('what was set by the API', () => {
  it('holds beside what the config says: each must allow it', () => {
    const set = configured({ maxValue: 5n }).with(all('1', [version(CONFIGURED, { maxFee: 7n }), version(OTHER, {})]));
    expect(set.of(CONFIGURED)).toMatchObject([{ maxValue: 5n }, { maxFee: 7n }]);
    expect(set.of(OTHER)).toMatchObject([{ maxValue: null }]);
    const request = aRequest({ signer: CONFIGURED });
    const judged = set.ofRequest({ ...request, payload: { ...request.payload, value: 6n } });
    expect(judged.map(({ verdict }) => verdict.kind)).toEqual(['refused', 'allowed']);
  });

  it('that was withdrawn leaves what the config says', () => {
    const set = configured({ maxValue: 5n })
      .with(all('1', [version(CONFIGURED, { maxValue: 1n }), version(OTHER, {})]))
      .with(all('2', [version(CONFIGURED, null), version(OTHER, null)]));
    expect([set.mark, set.of(CONFIGURED), set.of(OTHER)]).toMatchObject(['2', [{ maxValue: 5n }], []]);
    expect(set.with(all('', [])).all()).toMatchObject([{ signer: CONFIGURED, stored: null }]);
  });

  it('that has changed leaves that of others, unless all was read', () => {
    const both = configured({}).with(all('1', [version(CONFIGURED, { maxFee: 1n }), version(OTHER, { maxFee: 1n })]));
    const newest = [version(OTHER, { maxFee: 2n })];
    const [changed, read] = [both.with({ mark: '2', isAll: false, newest }), both.with(all('2', newest))];
    expect([changed.lowest(CONFIGURED, 'maxFee'), changed.lowest(OTHER, 'maxFee')]).toEqual([1n, 2n]);
    expect([read.lowest(CONFIGURED, 'maxFee'), read.lowest(OTHER, 'maxFee')]).toEqual([null, 2n]);
  });

  it('is counted by the day where either of the two has a daily amount', () => {
    const set = configured({ dailyValue: 5n }).with(all('1', [version(OTHER, { dailyFees: 1n })]));
    expect(set.withDailyLimit([CONFIGURED, OTHER, aSigner(3)])).toEqual([CONFIGURED, OTHER]);
  });
});

it('the lowest amount limits prices, without those that only report', () => {
  const set = configured({ maxFee: 5n, dailyFees: 9n });
  expect(set.lowest(CONFIGURED, 'maxFee')).toBe(5n);
  expect(set.with(all('1', [version(CONFIGURED, { maxFee: 4n })])).lowest(CONFIGURED, 'maxFee')).toBe(4n);
  expect(set.with(all('1', [version(CONFIGURED, { maxFee: 4n, dryRun: true })])).lowest(CONFIGURED, 'maxFee')).toBe(5n);
  expect(set.with(all('1', [version(CONFIGURED, { maxFee: 6n })])).lowest(CONFIGURED, 'dailyFees')).toBe(9n);
  expect(set.lowest(OTHER, 'maxFee')).toBeNull();
});

it('rules are the same after they were written and read again', () => {
  const rules = {
    to: [
      { address: `0x${'AB'.repeat(20)}`, selectors: ['0xA9059CBB', '0x'] },
      { address: `0x${'cd'.repeat(20)}` },
      { address: `0x${'ab'.repeat(20)}`, selectors: ['0xa9059cbb'] },
    ],
    ...{ maxValue: '0x10', maxFee: 17, dailyValue: '18', dailyFees: null },
    ...{ contractCreation: true, dryRun: true, typedData: [`0x${'AB'.repeat(20)}/Permit`, 'Mail/Mail'] },
  };
  const written = toRules(toPolicy(rules));
  expect(written).toEqual({
    to: [
      { address: `0x${'ab'.repeat(20)}`, selectors: ['0xa9059cbb', '0x'] },
      { address: `0x${'cd'.repeat(20)}`, selectors: null },
    ],
    ...{ maxValue: '16', maxFee: '17', dailyValue: '18', dailyFees: null },
    ...{ contractCreation: true, blobs: false, authorizations: false, dryRun: true },
    typedData: [`0x${'ab'.repeat(20)}/Permit`, 'Mail/Mail'],
  });
  expect(toPolicy(written)).toEqual(toPolicy(rules));
  expect(toRules(toPolicy({ to: [] }))).toMatchObject({ to: [], maxValue: null });
});

describe('typed data', () => {
  const TOKEN = '0xAAAAaaaaAAAAaaaaAAAAaaaaAAAAaaaaAAAAaaaa';
  const permit = `${TOKEN.toLowerCase()}/Permit`;
  const kinds = (set: PolicySet, what = permit) => set.ofTypedData(CONFIGURED, what).map(({ verdict }) => verdict.kind);

  it('is refused without a policy that names it, also where one only reports', () => {
    expect(kinds(new PolicySet('', new Map()))).toEqual(['refused']);
    expect(kinds(configured({ dryRun: true }))).toEqual(['refused']);
    expect(kinds(configured({ typedData: [`${TOKEN}/Order`] }))).toEqual(['refused']);
    expect(configured({ dryRun: true }).ofTypedData(CONFIGURED, permit)).toMatchObject([
      { dryRun: false, verdict: { rule: 'typedData', reason: `it may not sign typed data ${permit}` } },
    ]);
  });

  it('is allowed where each policy names it, whatever the spelling of its contract', () => {
    const set = configured({ typedData: [`${TOKEN}/Permit`, 'Mail/Mail'] });
    expect([kinds(set), kinds(set, 'Mail/Mail'), kinds(set, 'mail/Mail')]).toEqual([
      ['allowed'],
      ['allowed'],
      ['refused'],
    ]);
    expect(kinds(set.with(all('1', [version(CONFIGURED, {})])))).toEqual(['allowed', 'refused']);
    expect(kinds(set.with(all('1', [version(CONFIGURED, { typedData: [permit] })])))).toEqual(['allowed', 'allowed']);
  });
});
