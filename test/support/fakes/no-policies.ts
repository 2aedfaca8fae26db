import { SignerPolicies } from '../../../src/modules/policies/index.js';
import { PolicySet } from '../../../src/modules/policies/domain/policy-set.js';
import { fakeOf } from './fake-of.js';

/** No signer has a policy. */
export const NO_POLICIES = fakeOf(SignerPolicies, { present: new PolicySet('', new Map()) });
