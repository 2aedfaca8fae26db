import { beforeEach, describe, expect, it } from '@jest/globals';
import { parseHex } from '../../../src/kernel/hex.js';
import { SignerPolicies } from '../../../src/modules/policies/application/signer-policies.js';
import type { SignerPolicy } from '../../../src/modules/signers/index.js';
import { anAddress, aPolicy, aRequest, aSigner } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { FakeMetrics } from '../../support/fakes/fake-metrics.js';
import { KeysOf } from '../../support/fakes/fake-node.js';
import { MemoryPolicies } from '../../support/fakes/memory-policies.js';
import { RecordingLog } from '../chain/chain-fixture.js';

const [FREE, BOUND, AUTHORITY] = [aSigner(1), aSigner(2), aSigner(3)];

let metrics: FakeMetrics;
const clock = new FakeClock();
let log: RecordingLog;

beforeEach(() => {
  [metrics, log] = [new FakeMetrics(), new RecordingLog()];
});

const policiesOf = (policy: Partial<SignerPolicy>): SignerPolicies =>
  new SignerPolicies(new KeysOf([BOUND, AUTHORITY], aPolicy(policy)), new MemoryPolicies(), metrics, log, clock);

const asked = (payload: object = {}) => {
  const request = aRequest({ signer: BOUND });
  return { ...request, payload: { ...request.payload, ...payload } };
};

describe('the policies of this node', () => {
  it('say nothing of a signer without one', () => {
    const policies = policiesOf({ dailyValue: 1n });
    expect(policies.present.of(FREE)).toEqual([]);
    expect(policies.present.ofRequest({ ...asked(), signer: FREE })).toEqual([]);
    expect(policies.present.withDailyLimit([FREE, BOUND])).toEqual([BOUND]);
    expect(policiesOf({ maxValue: 1n }).present.withDailyLimit([FREE, BOUND])).toEqual([]);
  });

  it('allow all that is named of an address, in any spelling', () => {
    const address = `0x${'AB'.repeat(20)}`;
    const to = [
      { address, selectors: ['0xA9059CBB'] },
      { address: address.toLowerCase(), selectors: ['0x'] },
    ];
    const verdicts = (policy: Partial<SignerPolicy>) =>
      ['0xa9059cbb', '0x', '0x095ea7b3'].flatMap((data) =>
        policiesOf(policy)
          .present.ofRequest(asked({ to: parseHex(address), data: parseHex(data) }))
          .map(({ verdict }) => verdict.kind),
      );
    expect(verdicts({ to })).toEqual(['allowed', 'allowed', 'refused']);
    expect(verdicts({ to: [...to, { address }] })).toEqual(['allowed', 'allowed', 'allowed']);
    expect(verdicts({ to: [{ address }, ...to] })).toEqual(['allowed', 'allowed', 'allowed']);
  });

  it('are asked about each signer that shall sign an authorization', () => {
    const policies = policiesOf({});
    const judged = policies.present.ofRequest({ ...asked(), signer: FREE }, [AUTHORITY.address, anAddress(99)]);
    expect(judged).toMatchObject([{ signer: AUTHORITY, verdict: { kind: 'refused', rule: 'authorizations' } }]);
  });
});

it('what one policy refuses comes before what another holds, and what only reports stops nothing', () => {
  const policies = policiesOf({});
  const by = (kind: 'held' | 'refused', dryRun = false) =>
    ({ signer: BOUND, dryRun, verdict: { kind, rule: 'dailyValue', reason: 'why' } }) as const;
  expect(policies.enforced([by('held'), by('refused')], 'nonce')).toMatchObject({ kind: 'refused' });
  expect(policies.enforced([by('refused', true), by('held')], 'nonce')).toMatchObject({ kind: 'held' });
  expect(policies.enforced([by('refused', true)], 'nonce')).toBeNull();
  expect(metrics.counted('policy_refused_total')).toEqual({ 'dailyValue enforced': 1, 'dailyValue dry_run': 2 });
});

describe('what is not allowed', () => {
  const judged = (policy: Partial<SignerPolicy>, where: 'intake' | 'nonce' = 'nonce', times = 1) => {
    const policies = policiesOf(policy);
    const verdicts = Array.from({ length: times }, () => policies.present.ofRequest(asked({ value: 9n })));
    return verdicts.map((judged) => policies.enforced(judged, where));
  };

  it('is told, counted and logged', () => {
    expect(judged({ maxValue: 8n })).toMatchObject([{ kind: 'refused', rule: 'maxValue' }]);
    expect(metrics.counted('policy_refused_total')).toEqual({ 'maxValue enforced': 1 });
    expect(log.lines).toMatchObject([{ event: 'policy does not allow it', fields: { where: 'nonce' } }]);
  });

  it('is told and counted at intake, and not logged: a flood would fill the log', () => {
    expect(judged({ maxValue: 8n }, 'intake')).toMatchObject([{ kind: 'refused', rule: 'maxValue' }]);
    expect([metrics.counted('policy_refused_total'), log.lines]).toEqual([{ 'maxValue enforced': 1 }, []]);
  });

  it('is logged ten times, and once a minute from then on, however often it is judged', () => {
    judged({ maxValue: 8n }, 'nonce', 1_000);
    expect([metrics.counted('policy_refused_total'), log.lines.length]).toEqual([{ 'maxValue enforced': 1_000 }, 10]);
  });

  it('is only counted and logged in a dry run', () => {
    expect(judged({ maxValue: 8n, dryRun: true })).toEqual([null]);
    expect(metrics.counted('policy_refused_total')).toEqual({ 'maxValue dry_run': 1 });
    expect(log.lines).toHaveLength(1);
  });

  it('is nothing of what is allowed', () => {
    expect(judged({ maxValue: 9n })).toEqual([null]);
    expect(log.lines).toEqual([]);
  });
});
