import { expect, it } from '@jest/globals';
import { ReservedFees } from '../../../src/modules/policies/application/reserved-fees.js';
import { SignerPolicies } from '../../../src/modules/policies/index.js';
import { Fence, type SignerPolicy, slotKey } from '../../../src/modules/signers/index.js';
import { aPolicy, aSigner } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { FakeMetrics } from '../../support/fakes/fake-metrics.js';
import { KeysOf } from '../../support/fakes/fake-node.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { MemorySpendLedger } from '../../support/fakes/memory-spend-ledger.js';
import { RecordingLog } from '../chain/chain-fixture.js';

const SLOT = { signer: aSigner(1), nonce: 7n };
const OTHER = { signer: aSigner(2), nonce: 7n };

async function reservedBy(policy: Partial<SignerPolicy>): Promise<[[string, bigint][], number]> {
  const spending = new MemorySpendLedger();
  await spending.reserve(
    fakeOf(Fence, {}),
    [SLOT, OTHER].map((slot) => ({ ...slot, value: 1n, fees: 5n })),
  );
  const policies = new SignerPolicies(
    new KeysOf([SLOT.signer], aPolicy(policy)),
    new FakeMetrics(),
    new RecordingLog(),
    new FakeClock(),
  );
  const reserved = await new ReservedFees(policies, spending).of([SLOT, OTHER]);
  return [[...reserved], spending.calls - 1];
}

it('another attempt may cost what is reserved for its slot, where its signer has daily fees', async () => {
  expect(await reservedBy({ dailyFees: 9n })).toEqual([[[slotKey(SLOT), 5n]], 1]);
});

it.each([{ dailyValue: 9n }, { dailyFees: 9n, dryRun: true }])('else it costs no statement: %j', async (policy) => {
  expect(await reservedBy(policy)).toEqual([[], 0]);
});
