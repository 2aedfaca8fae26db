import { beforeEach, expect, it } from '@jest/globals';
import { ChangePolicy } from '../../../src/modules/ops/application/change-policy.js';
import { Doorbell, TxQueue } from '../../../src/modules/ledger/index.js';
import { SignerPolicies, StoredPolicies, toPolicy } from '../../../src/modules/policies/index.js';
import type { PolicyChanged } from '../../../src/modules/policies/domain/stored-policies.js';
import { SignerPauses } from '../../../src/modules/signers/index.js';
import { aSigner } from '../../support/builders.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { NO_POLICIES } from '../../support/fakes/no-policies.js';

const signer = aSigner();
const CHANGE = { signer, policy: toPolicy({ maxValue: 5n }), version: 1, by: { name: 'key:1', account: '' } };
const STORED = { signer, policy: CHANGE.policy, version: 2, changedBy: 'key:1', changedAt: new Date(0) };

let steps: string[];
let changed: PolicyChanged;
let change: ChangePolicy;

beforeEach(() => {
  [steps, changed] = [[], { kind: 'changed', stored: STORED }];
  const step = (name: string) => async () => void steps.push(name);
  change = new ChangePolicy(
    fakeOf(StoredPolicies, { change: async () => (steps.push('commit'), changed) }),
    fakeOf(SignerPolicies, { present: NO_POLICIES.present, refresh: step('refresh') }),
    fakeOf(SignerPauses, { writesEnded: step('writes ended') }),
    fakeOf(TxQueue, { makeHeldDue: step('held due') }),
    fakeOf(Doorbell, { ring: () => void steps.push('ring') }),
  );
});

it('a change is answered after the writes before it, and what is held is made due after them', async () => {
  expect(await change.execute(CHANGE)).toEqual({ signer, config: null, stored: STORED });
  expect(steps).toEqual(['commit', 'writes ended', 'refresh', 'held due', 'ring']);
});

it('a change of another version, or of no signer, changes nothing', async () => {
  changed = { kind: 'other_version', version: 7 };
  await expect(change.execute(CHANGE)).rejects.toMatchObject({ code: 'policy_changed', facts: { version: 7 } });
  changed = { kind: 'unknown_signer' };
  await expect(change.execute(CHANGE)).rejects.toMatchObject({ code: 'unknown_signer' });
  expect(steps).toEqual(['commit', 'commit']);
});
