import { SignerPolicies } from '../../../src/modules/policies/index.js';
import { fakeOf } from './fake-of.js';

/** No signer has daily amounts. */
export const NO_POLICIES = fakeOf(SignerPolicies, { withDailyLimit: () => [] });
