import { beforeEach, expect, it } from '@jest/globals';
import type { SignerId } from '../../../src/kernel/signer-id.js';
import { LateReserves } from '../../../src/modules/confirmations/application/late-reserves.js';
import { LaneMemory, SignerFeeCaps } from '../../../src/modules/ledger/index.js';
import { SignerPolicies, SpendLedger } from '../../../src/modules/policies/index.js';
import { PolicySet } from '../../../src/modules/policies/domain/policy-set.js';
import { Fence } from '../../../src/modules/signers/index.js';
import { DatabaseWatch } from '../../../src/platform/database/database-watch.js';
import { aLease, aSigner } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { fakeOf } from '../../support/fakes/fake-of.js';

const CAPS = { maxFeePerGas: 7n, maxPriorityFeePerGas: 2n, maxFeePerBlobGas: 3n };
const MARK = 'newest';

let memory: LaneMemory;
let hasReconnected: boolean;

beforeEach(() => {
  [memory, hasReconnected] = [new LaneMemory(new FakeClock()), false];
});

/** All but the first signer have daily amounts. */
async function reservedFor(...signers: readonly SignerId[]): Promise<unknown[]> {
  const reserved: unknown[] = [];
  const reserves = new LateReserves(
    fakeOf(SignerPolicies, {
      present: fakeOf(PolicySet, { mark: MARK, withDailyLimit: (some) => some.slice(1) }),
    }),
    fakeOf(SpendLedger, { reserveInFlight: async (_fence, some) => void reserved.push(...some) }),
    fakeOf(SignerFeeCaps, { of: () => CAPS }),
    memory,
    fakeOf(DatabaseWatch, {
      get hasReconnected() {
        return hasReconnected;
      },
    }),
  );
  await reserves.make(fakeOf(Fence, { tokenFor: () => 1n }), signers);
  return reserved;
}

it('what becomes final is reserved at the caps of its signer, where that one has daily amounts', async () => {
  expect(await reservedFor(aSigner(1), aSigner(2))).toEqual([{ signer: aSigner(2), ...CAPS }]);
});

it('nothing is reserved of a signer all of whose txs in flight are known to have reserves, by the policies that hold', async () => {
  const [known, older, former] = [2, 3, 4].map((index) => aSigner(index));
  for (const [signer, token, mark] of [
    [known, 1n, MARK],
    [older, 1n, 'older'],
    [former, 0n, MARK],
  ] as const) {
    if (!signer) continue;
    memory.recovered([aLease(signer, token)]);
    memory.summedUp(signer, token, mark, { value: 0n, fees: 0n });
  }
  expect(await reservedFor(aSigner(1), aSigner(2), aSigner(3), aSigner(4))).toMatchObject([
    { signer: older },
    { signer: former },
  ]);
});

it('what is remembered does not count on a connection that may be to a server that lost commits', async () => {
  memory.recovered([aLease(aSigner(2), 1n)]);
  memory.summedUp(aSigner(2), 1n, MARK, { value: 0n, fees: 0n });
  expect(await reservedFor(aSigner(1), aSigner(2))).toEqual([]);
  hasReconnected = true;
  expect(await reservedFor(aSigner(1), aSigner(2))).toMatchObject([{ signer: aSigner(2) }]);
});
