import { describe, expect, it } from '@jest/globals';
import { SignerPolicies } from '../../../src/modules/policies/index.js';
import { PolicyGate } from '../../../src/modules/requests/application/policy-gate.js';
import type { SignerPolicy } from '../../../src/modules/signers/index.js';
import { aPolicy, aRequest, aSigner } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { FakeMetrics } from '../../support/fakes/fake-metrics.js';
import { KeysOf } from '../../support/fakes/fake-node.js';
import { MemoryPolicies } from '../../support/fakes/memory-policies.js';
import { aPermit } from '../../support/permit-builders.js';
import { RecordingLog } from '../chain/chain-fixture.js';

const [SIGNER, AUTHORITY] = [aSigner(1), aSigner(2)];

const gate = (policy: Partial<SignerPolicy>, of = SIGNER): PolicyGate =>
  new PolicyGate(
    new SignerPolicies(
      new KeysOf([of], aPolicy(policy)),
      new MemoryPolicies(),
      new FakeMetrics(),
      new RecordingLog(),
      new FakeClock(),
    ),
  );
const REQUEST = aRequest({ signer: SIGNER });

/** What is thrown, for its parts. */
function refusal(of: PolicyGate, asked: Parameters<PolicyGate['assertAllowed']>[0]): unknown {
  try {
    of.assertAllowed(asked);
  } catch (error) {
    return error;
  }
  return null;
}

describe('a request', () => {
  it('that the policy of its signer refuses is not accepted, with the rule', () => {
    expect(refusal(gate({ maxValue: 0n }), REQUEST)).toMatchObject({
      kind: 'forbidden',
      code: 'policy_refused',
      facts: { ...SIGNER, rule: 'maxValue' },
    });
  });

  it('is accepted in a dry run', () => {
    expect(refusal(gate({ maxValue: 0n, dryRun: true }), REQUEST)).toBeNull();
  });

  it('is not accepted when a signer that shall sign an authorization for it may not', () => {
    const authorizationList = [{ chainId: 0n, address: AUTHORITY.address, authority: AUTHORITY.address }];
    const asked = { ...REQUEST, payload: { ...REQUEST.payload, authorizationList } };
    expect(refusal(gate({}, AUTHORITY), asked)).toMatchObject({ facts: { rule: 'authorizations' } });
    expect(refusal(gate({ authorizations: true }, AUTHORITY), asked)).toBeNull();
  });

  it('is not accepted when no policy of the owner of its permit names that, also without a policy and in a dry run', () => {
    const permit = aPermit({ owner: AUTHORITY.address });
    const asked = { ...REQUEST, payload: { ...REQUEST.payload, permits: [permit] } };
    const typed = (...typedData: string[]) => ({ typedData });
    const refusing = [gate({}), gate(typed(), AUTHORITY), gate({ ...typed('Token/Permit'), dryRun: true }, AUTHORITY)];
    for (const one of refusing)
      expect(refusal(one, asked)).toMatchObject({ code: 'policy_refused', facts: { rule: 'typedData' } });
    expect(refusal(gate(typed(`${permit.contract}/Permit`), AUTHORITY), asked)).toBeNull();
  });
});

describe('a hold', () => {
  it('is not accepted of a signer with a policy, whatever it allows: nobody knows what is signed', () => {
    const hold = { ...REQUEST, hold: { ttl: 60, count: 1, index: 0 } };
    expect(refusal(gate({ contractCreation: true }), hold)).toMatchObject({ facts: { rule: 'outsideNonces' } });
    expect(refusal(gate({ dryRun: true }), hold)).toBeNull();
    expect(refusal(gate({}), { ...hold, signer: aSigner(9) })).toBeNull();
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
