import { expect, it } from '@jest/globals';
import { ExecutionConfig } from '../../../src/config/index.js';
import { SignerLimits } from '../../../src/modules/ops/application/signer-limits.js';
import type { LeaseManager } from '../../../src/modules/signers/index.js';
import { InFlightLimits } from '../../../src/modules/transactions/index.js';
import { aSigner } from '../../support/builders.js';

it('the limit of a signer is the one of the config, and what was learnt under the lease of this node', () => {
  const config = Object.assign(new ExecutionConfig(), { maxInFlight: 64 });
  const limits = new InFlightLimits(config);
  let lease: object | null = {};
  const signer = new SignerLimits(config, limits, { held: () => lease } as unknown as LeaseManager);
  expect(signer.of(aSigner())).toEqual({ configured: 64, learnt: null, delegated: false });
  limits.refused(aSigner(), 16);
  expect(signer.of(aSigner())).toEqual({ configured: 64, learnt: 16, delegated: false });
  limits.seen(aSigner(), true);
  expect(signer.of(aSigner())).toEqual({ configured: 64, learnt: 1, delegated: true });
  lease = null;
  expect(signer.of(aSigner())).toEqual({ configured: 64, learnt: null, delegated: false });
});
