import { expect, it } from '@jest/globals';
import { ExecutionConfig } from '../../../src/config/index.js';
import { SignerLimits } from '../../../src/modules/ops/application/signer-limits.js';
import { aSigner, aLease } from '../../support/builders.js';
import { leasesOf } from '../../support/fakes/fake-leases.js';
import { inFlightLimits } from '../../support/in-flight-limits.js';

it('the limit of a signer is the one of the config, and what was learnt under the lease of this node', () => {
  const config = Object.assign(new ExecutionConfig(), { maxInFlight: 64, inFlightStart: 32 });
  const limits = inFlightLimits(config);
  let leases = [aLease()];
  const signer = new SignerLimits(
    config,
    limits,
    leasesOf(() => leases),
  );
  expect(signer.of(aSigner())).toEqual({ configured: 64, learnt: 32, delegated: false });
  limits.refused(aSigner(), 16);
  expect(signer.of(aSigner())).toEqual({ configured: 64, learnt: 16, delegated: false });
  limits.seen(aSigner(), true);
  expect(signer.of(aSigner())).toEqual({ configured: 64, learnt: 1, delegated: true });
  leases = [];
  expect(signer.of(aSigner())).toEqual({ configured: 64, learnt: null, delegated: false });
});
