import { beforeEach, describe, expect, it } from '@jest/globals';
import { TxQueries } from '../../../src/modules/ledger/index.js';
import { SignerPolicies } from '../../../src/modules/policies/index.js';
import { PolicyGate } from '../../../src/modules/requests/application/policy-gate.js';
import type { SignerPolicy } from '../../../src/modules/signers/index.js';
import { aPolicy, aRequest, aSigner } from '../../support/builders.js';
import { FakeMetrics } from '../../support/fakes/fake-metrics.js';
import { KeysOf } from '../../support/fakes/fake-node.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { aTxView } from '../../support/view-builders.js';
import { RecordingLog } from '../chain/chain-fixture.js';

const [SIGNER, AUTHORITY] = [aSigner(1), aSigner(2)];

let isStored: boolean;

beforeEach(() => {
  isStored = false;
});

const gate = (policy: Partial<SignerPolicy>, of = SIGNER): PolicyGate =>
  new PolicyGate(
    new SignerPolicies(new KeysOf([of], aPolicy(policy)), new FakeMetrics(), new RecordingLog()),
    fakeOf(TxQueries, { findByRequest: async () => (isStored ? aTxView() : null) }),
  );
const REQUEST = aRequest({ signer: SIGNER });

describe('a request', () => {
  it('that the policy of its signer refuses is not accepted, with the rule', async () => {
    await expect(gate({ maxValue: 0n }).assertAllowed(REQUEST)).rejects.toMatchObject({
      kind: 'forbidden',
      code: 'policy_refused',
      facts: { ...SIGNER, rule: 'maxValue' },
    });
  });

  it('that was stored before the policy became stricter is accepted: its client repeats it', async () => {
    isStored = true;
    await gate({ maxValue: 0n }).assertAllowed(REQUEST);
  });

  it('is accepted in a dry run', async () => {
    await gate({ maxValue: 0n, dryRun: true }).assertAllowed(REQUEST);
  });

  it('is not accepted when a signer that shall sign an authorization for it may not', async () => {
    const authorizationList = [{ chainId: 0n, address: AUTHORITY.address, authority: AUTHORITY.address }];
    const asked = { ...REQUEST, payload: { ...REQUEST.payload, authorizationList } };
    await expect(gate({}, AUTHORITY).assertAllowed(asked)).rejects.toMatchObject({ facts: { rule: 'authorizations' } });
    await gate({ authorizations: true }, AUTHORITY).assertAllowed(asked);
  });
});

describe('a simulation', () => {
  it('is told what the policy says, also where it only reports', () => {
    expect(gate({}).verdictOn({ ...REQUEST, signer: aSigner(9) })).toBeNull();
    expect(gate({}).verdictOn(REQUEST)).toMatchObject({ dryRun: false, verdict: { kind: 'allowed' } });
    expect(gate({ maxValue: 0n, dryRun: true }).verdictOn(REQUEST)).toMatchObject({
      dryRun: true,
      verdict: { kind: 'refused', rule: 'maxValue' },
    });
  });
});
