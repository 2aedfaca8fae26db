import { beforeEach, describe, expect, it } from '@jest/globals';
import { ReservedFees } from '../../../src/modules/sending/application/reserved-fees.js';
import { FeeRules } from '../../../src/modules/sending/index.js';
import { LaneMemory, WriteChanges } from '../../../src/modules/ledger/index.js';
import { SignerPolicies } from '../../../src/modules/policies/index.js';
import { Fence, type SignerPolicy, slotKey } from '../../../src/modules/signers/index.js';
import { aLease, aManagedTx, aPolicy, aRequest, aSigner } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { FakeMetrics } from '../../support/fakes/fake-metrics.js';
import { KeysOf } from '../../support/fakes/fake-node.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { MemoryPolicies } from '../../support/fakes/memory-policies.js';
import { MemorySpendLedger } from '../../support/fakes/memory-spend-ledger.js';
import { RecordingLog } from '../chain/chain-fixture.js';

const FENCE = fakeOf(Fence, {});
const CAPS = { maxFeePerGas: 10n, maxPriorityFeePerGas: 1n, maxFeePerBlobGas: 1n };
const item = (signer = aSigner(1), nonce = 7n) => ({
  tx: aManagedTx({ txId: `tx-${nonce}`, signer, state: 'IN_MEMPOOL', nonce, gasLimit: 1n }).build(),
  request: aRequest({ signer }),
});
const [OWN, OTHER] = [item(), item(aSigner(2))];

let spending: MemorySpendLedger;
let memory: LaneMemory;
/** Wei that a payload costs at its caps. */
let most: bigint;

beforeEach(() => {
  [spending, most] = [new MemorySpendLedger(), 5n];
  memory = new LaneMemory(new FakeClock());
  memory.recovered([aLease(OWN.tx.signer)]);
  memory.summedUp(OWN.tx.signer, 1n, 'mark', { value: 0n, fees: 0n });
});

async function isReserved({ tx: { signer, nonce } }: typeof OWN, fees: bigint): Promise<void> {
  await spending.reserve(FENCE, [{ signer, nonce, value: 1n, fees }]);
  spending.calls = 0;
}

const isSumKnown = () => memory.hasReserves(OWN.tx.signer, 1n, 'mark');

async function reservedBy(policy: Partial<SignerPolicy>, ...items: readonly (typeof OWN)[]) {
  const { signer } = OWN.tx;
  const reserved = new ReservedFees(
    new SignerPolicies(
      new KeysOf([signer], aPolicy(policy)),
      new MemoryPolicies(),
      new FakeMetrics(),
      new RecordingLog(),
      new FakeClock(),
    ),
    spending,
    fakeOf(FeeRules, { most: () => most, capsFor: () => CAPS }),
    fakeOf(WriteChanges, { underFence: (_leases, _operation, changesOf) => changesOf(FENCE) }),
    memory,
  );
  return [...(await reserved.of([aLease(signer)], items))];
}

describe('another attempt of a payload may cost', () => {
  it('what is reserved for its slot, where its signer has daily fees', async () => {
    await isReserved(OWN, 5n);
    expect(await reservedBy({ dailyFees: 9n }, OWN, OTHER)).toEqual([[slotKey(OWN.tx), 5n]]);
    expect([spending.calls, isSumKnown()]).toEqual([1, true]);
  });

  it.each([{ dailyValue: 9n }, { dailyFees: 9n, dryRun: true }])(
    'else anything, and no statement: %j',
    async (policy) => {
      expect(await reservedBy(policy, OWN, OTHER)).toEqual([]);
      expect(spending.calls).toBe(0);
    },
  );

  it('also what the day has room for, where its caps allow more than is reserved: it was sent before there was a policy', async () => {
    const behind = item(OWN.tx.signer, 8n);
    await isReserved(OWN, 2n);
    expect(await reservedBy({ dailyFees: 9n }, OWN, behind)).toEqual([
      [slotKey(OWN.tx), 5n],
      [slotKey(behind.tx), 4n],
    ]);
    expect([...spending.reserves.values()]).toMatchObject([{ fees: 5n }, { nonce: 8n, fees: 4n }]);
    // The next tx must not take what they have now.
    expect(isSumKnown()).toBe(false);
  });

  it('nothing more, where the day has no room', async () => {
    await isReserved(item(OWN.tx.signer, 9n), 20n);
    await isReserved(OWN, 2n);
    expect(await reservedBy({ dailyFees: 9n }, OWN)).toEqual([[slotKey(OWN.tx), 2n]]);
  });
});
