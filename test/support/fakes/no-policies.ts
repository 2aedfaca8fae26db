import { SignerPolicies } from '../../../src/modules/policies/index.js';
import { fakeOf } from './fake-of.js';

/** No signer has a policy. */
export const NO_POLICIES = fakeOf(SignerPolicies, { of: () => null, withDailyLimit: () => [] });
