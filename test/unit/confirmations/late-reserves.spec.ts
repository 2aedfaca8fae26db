import { expect, it } from '@jest/globals';
import { LateReserves } from '../../../src/modules/confirmations/application/late-reserves.js';
import { SignerFeeCaps } from '../../../src/modules/ledger/index.js';
import { SignerPolicies, SpendLedger } from '../../../src/modules/policies/index.js';
import { PolicySet } from '../../../src/modules/policies/domain/policy-set.js';
import { Fence } from '../../../src/modules/signers/index.js';
import { aSigner } from '../../support/builders.js';
import { fakeOf } from '../../support/fakes/fake-of.js';

it('what becomes final is reserved at the caps of its signer, where that one has daily amounts', async () => {
  const caps = { maxFeePerGas: 7n, maxPriorityFeePerGas: 2n, maxFeePerBlobGas: 3n };
  const reserved: unknown[] = [];
  const reserves = new LateReserves(
    fakeOf(SignerPolicies, { present: fakeOf(PolicySet, { withDailyLimit: (signers) => signers.slice(1) }) }),
    fakeOf(SpendLedger, { reserveInFlight: async (_fence, signers) => void reserved.push(...signers) }),
    fakeOf(SignerFeeCaps, { of: () => caps }),
  );
  await reserves.make(fakeOf(Fence, {}), [aSigner(1), aSigner(2)]);
  expect(reserved).toEqual([{ signer: aSigner(2), ...caps }]);
});
