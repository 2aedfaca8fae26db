import { beforeEach, describe, expect, it } from '@jest/globals';
import { signerKey } from '../../../src/kernel/signer-id.js';
import { DailySums } from '../../../src/modules/lanes/application/daily-sums.js';
import { LaneMemory, SignerFeeCaps } from '../../../src/modules/ledger/index.js';
import { PolicySet } from '../../../src/modules/policies/domain/policy-set.js';
import { type PolicyRules, toPolicy } from '../../../src/modules/policies/index.js';
import { Fence } from '../../../src/modules/signers/index.js';
import { aLease, aSigner } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { MemorySpendLedger } from '../../support/fakes/memory-spend-ledger.js';

const [MINE, OTHER] = [aSigner(1), aSigner(2)];
const CAPS = { maxFeePerGas: 10n, maxPriorityFeePerGas: 1n, maxFeePerBlobGas: 1n };

let spending: MemorySpendLedger;
let memory: LaneMemory;
let sums: DailySums;

beforeEach(async () => {
  spending = new MemorySpendLedger();
  memory = new LaneMemory(new FakeClock());
  memory.recovered([aLease(MINE), aLease(OTHER)]);
  sums = new DailySums(spending, fakeOf(SignerFeeCaps, { of: () => CAPS }), memory);
  await reserve(7n, 60n, 5n);
  spending.calls = 0;
});

const fence = (token = 1n) => fakeOf(Fence, { tokenFor: () => token });
const reserve = (nonce: bigint, value: bigint, fees: bigint) =>
  spending.reserve(fence(), [{ signer: MINE, nonce, value, fees }]);

/** Both signers have these policies. */
const policies = (mark: string, ...rules: readonly PolicyRules[]) =>
  fakeOf(PolicySet, { mark, of: () => rules.map(toPolicy) });

const LIMITS = policies('m1', { dailyValue: 100n, dailyFees: 50n });

/** @returns value and fees of the first signer, and how many statements were needed */
async function spent(of: PolicySet, needs: readonly (readonly [bigint, bigint])[], token = 1n): Promise<unknown> {
  const { calls } = spending;
  const needed = needs.map(([value, fees]) => ({ signer: MINE, value, fees }));
  const sum = (await sums.spent(fence(token), of, needed)).get(signerKey(MINE));
  return [sum?.value, sum?.fees, spending.calls - calls];
}

describe('what a signer has spent', () => {
  it('is summed up once, as long as there is room beside it', async () => {
    expect(await spent(LIMITS, [[1n, 1n]])).toEqual([60n, 5n, 1]);
    expect(await spent(LIMITS, [[40n, 45n]])).toEqual([60n, 5n, 0]);
    expect(await spent(LIMITS, [])).toEqual([undefined, undefined, 0]);
  });

  it('has what its slots reserved since then added', async () => {
    await spent(LIMITS, [[1n, 1n]]);
    memory.reserved([{ signer: MINE, nonce: 8n, txId: 'tx', reserve: { value: 30n, fees: 4n } }]);
    expect(await spent(LIMITS, [[10n, 1n]])).toEqual([90n, 9n, 0]);
  });

  it.each<[string, [bigint, bigint][]]>([
    ['value', [[41n, 0n]]],
    [
      'value, all together',
      [
        [40n, 0n],
        [1n, 0n],
      ],
    ],
    ['fees', [[0n, 46n]]],
    ['fees, which alone have none', [[0n, 51n]]],
  ])('is summed up again before something waits for room: %s', async (_what, needs) => {
    await spent(LIMITS, [[1n, 1n]]);
    expect(await spent(LIMITS, needs)).toEqual([60n, 5n, 1]);
  });

  it('is summed up again when one of its policies leaves no room, also one that only reports', async () => {
    const both = policies('m1', { dailyValue: 1_000n }, { dailyValue: 100n, dryRun: true });
    await spent(both, [[1n, 0n]]);
    expect(await spent(both, [[41n, 0n]])).toEqual([60n, 5n, 1]);
  });

  it('is summed up again under another lease, and by other policies', async () => {
    await spent(LIMITS, [[1n, 1n]]);
    await reserve(8n, 20n, 3n);
    expect(await spent(LIMITS, [[1n, 1n]], 2n)).toEqual([80n, 8n, 1]);
    expect(await spent(policies('m2', { dailyValue: 100n }), [[1n, 1n]])).toEqual([80n, 8n, 1]);
  });

  it('is told for those that are known and those that are not, which are summed up together', async () => {
    await spent(LIMITS, [[1n, 1n]]);
    const needed = [MINE, OTHER, MINE].map((signer) => ({ signer, value: 1n, fees: 1n }));
    const told = await sums.spent(fence(), LIMITS, needed);
    expect([...told.values()].map(({ value }) => value)).toEqual([60n, 0n]);
    expect(spending.calls).toBe(2);
  });
});
