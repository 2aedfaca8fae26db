import { expect, it } from '@jest/globals';
import { DailyRoom } from '../../../src/modules/lanes/application/daily-room.js';
import { SignerPolicies } from '../../../src/modules/policies/index.js';
import { Fence, type SignerPolicy } from '../../../src/modules/signers/index.js';
import { aManagedTx, aPolicy, aRequest, aSigner } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { FakeMetrics } from '../../support/fakes/fake-metrics.js';
import { KeysOf } from '../../support/fakes/fake-node.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { MemoryPolicies } from '../../support/fakes/memory-policies.js';
import { MemorySpendLedger } from '../../support/fakes/memory-spend-ledger.js';
import { RecordingLog } from '../chain/chain-fixture.js';

const SIGNER = aSigner(1);

/** Ids of those without room, when 60 wei of value and 5 of fees are reserved, and how often the database was asked. */
async function lacking(policy: Partial<SignerPolicy>, ...costs: readonly (readonly [bigint, bigint])[]) {
  const spending = new MemorySpendLedger();
  await spending.reserve(fakeOf(Fence, {}), [{ signer: SIGNER, nonce: 7n, value: 60n, fees: 5n }]);
  spending.calls = 0;
  const policies = new SignerPolicies(
    new KeysOf([SIGNER], aPolicy(policy)),
    new MemoryPolicies(),
    new FakeMetrics(),
    new RecordingLog(),
    new FakeClock(),
  );
  const request = aRequest({ signer: SIGNER });
  const found = await new DailyRoom(policies, spending).lacking(
    costs.map(([value, fees], index) => ({
      tx: aManagedTx({ txId: `${index}`, signer: SIGNER }).build(),
      request: { ...request, payload: { ...request.payload, value } },
      cost: value + fees,
    })),
  );
  return [[...found.keys()], spending.calls];
}

it('what the daily value or the daily fees have no room for is told apart from what fits', async () => {
  expect(await lacking({ dailyValue: 100n }, [41n, 1n], [40n, 1n])).toEqual([['0'], 1]);
  expect(await lacking({ dailyFees: 9n }, [1n, 5n], [1n, 4n])).toEqual([['0'], 1]);
});

it('a dry run holds nothing back, and no statement is sent where there are no daily amounts', async () => {
  expect(await lacking({ dailyValue: 100n, dryRun: true }, [41n, 1n])).toEqual([[], 1]);
  expect(await lacking({ maxValue: 100n }, [41n, 1n])).toEqual([[], 0]);
});
