import { expect, it } from '@jest/globals';
import { ReadPolicies } from '../../../src/modules/ops/application/read-policies.js';
import { SignerPolicies } from '../../../src/modules/policies/index.js';
import { aPolicy, aSigner } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { FakeMetrics } from '../../support/fakes/fake-metrics.js';
import { KeysOf } from '../../support/fakes/fake-node.js';
import { MemoryPolicies } from '../../support/fakes/memory-policies.js';
import { RecordingLog } from '../chain/chain-fixture.js';

const [FIRST, SECOND, THIRD, FOURTH] = [aSigner(1), aSigner(2), aSigner(3), aSigner(4)];

it('policies are listed by signer, in pages, with what another node has set a moment ago', async () => {
  const stored = new MemoryPolicies();
  const custody = new KeysOf([THIRD, FIRST], aPolicy({ maxValue: 5n }));
  const policies = new SignerPolicies(custody, stored, new FakeMetrics(), new RecordingLog(), new FakeClock());
  const read = new ReadPolicies(policies, stored);
  await stored.set(SECOND, { maxFee: 7 });
  const page = await read.list(null, 2);
  expect(page).toMatchObject([
    { signer: FIRST, config: { maxValue: 5n }, stored: null },
    { signer: SECOND, config: null, stored: { policy: { maxFee: 7n } } },
  ]);
  expect(await read.list(SECOND, 2)).toMatchObject([{ signer: THIRD }]);
  await stored.set(FOURTH, {});
  expect(await read.find(FOURTH)).toMatchObject({ stored: { version: 1 } });
});
