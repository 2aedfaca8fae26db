import { beforeEach, describe, expect, it } from '@jest/globals';
import { ReplacementGate } from '../../../src/modules/commands/application/replacement-gate.js';
import { CommandedTxs } from '../../../src/modules/ledger/index.js';
import { SignerPolicies } from '../../../src/modules/policies/index.js';
import { FeeRules } from '../../../src/modules/sending/index.js';
import { Fence, type SignerPolicy } from '../../../src/modules/signers/index.js';
import { aManagedTx, anAttempt, aPolicy, aRequest, aSigner } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { FakeMetrics } from '../../support/fakes/fake-metrics.js';
import { KeysOf } from '../../support/fakes/fake-node.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { MemoryPolicies } from '../../support/fakes/memory-policies.js';
import { MemorySpendLedger } from '../../support/fakes/memory-spend-ledger.js';
import { RecordingLog } from '../chain/chain-fixture.js';

const SIGNER = aSigner();
const FENCE = fakeOf(Fence, {});
const SLOT = { signer: SIGNER, nonce: 7n };
const CAPS = { maxFeePerGas: 10n, maxPriorityFeePerGas: 1n, maxFeePerBlobGas: 1n };
/** Costs 20 wei at most. */
const ATTEMPT = anAttempt({ ...SLOT, gasLimit: 10n, fees: { maxFeePerGas: 2n, maxPriorityFeePerGas: 1n } });

const ADMITTED = { kind: 'admitted' };

let spending: MemorySpendLedger;
let expired: boolean;
let paused: boolean;
let stored: MemoryPolicies;
/** Wei of fees that it can cost at the caps. */
let most: bigint;

beforeEach(() => {
  [spending, expired, paused, most] = [new MemorySpendLedger(), false, false, 0n];
  stored = new MemoryPolicies();
});

const policiesOf = (policy?: Partial<SignerPolicy>): SignerPolicies =>
  new SignerPolicies(
    new KeysOf([SIGNER], policy && aPolicy(policy)),
    stored,
    new FakeMetrics(),
    new RecordingLog(),
    new FakeClock(),
  );

const gate = (policy?: Partial<SignerPolicy>, policies = policiesOf(policy)): ReplacementGate =>
  new ReplacementGate(
    fakeOf(CommandedTxs, {
      hasExpired: async () => expired,
      standing: async () => ({ isPaused: paused, policyMark: stored.mark }),
    }),
    policies,
    spending,
    fakeOf(FeeRules, { most: () => most, capsFor: () => CAPS }),
  );

const replacement = (value: bigint) => {
  const request = aRequest({ signer: SIGNER });
  return {
    tx: aManagedTx({ txId: 'replacement', signer: SIGNER }).build(),
    request: { ...request, payload: { ...request.payload, value } },
  };
};

/** Of a replacement that was judged by what holds when it is admitted. */
async function admission(policy: Partial<SignerPolicy> | undefined, item: ReturnType<typeof replacement>) {
  const policies = policiesOf(policy);
  await policies.refresh();
  return gate(policy, policies).admit(FENCE, item, ATTEMPT, policies.present);
}

async function isReserved(nonce: bigint, value: bigint, fees = 0n): Promise<void> {
  await spending.reserve(FENCE, [{ signer: SIGNER, nonce, value, fees }]);
}

describe('a replacement never takes the place', () => {
  it('when it has expired, or its policy refuses it', async () => {
    expect(await gate({ maxValue: 5n }).refusal(replacement(5n))).toBeNull();
    expect(await gate({ maxValue: 4n }).refusal(replacement(5n))).toContain('policy_refused: maxValue');
    expired = true;
    expect(await gate().refusal(replacement(5n))).toBe('the replacement expired');
  });

  it('when a day never has room for its fees', () => {
    most = 9n;
    const refusal = (of: ReplacementGate) => of.policyRefusal(replacement(5n), of.present, 10n);
    expect(refusal(gate({ dailyFees: 9n }))).toBeNull();
    expect(refusal(gate({ dailyFees: 8n }))).toContain('policy_refused: dailyFees');
  });
});

describe('a replacement is refused under the fence', () => {
  it('when a day never has room for what it was signed with, above what is reserved', async () => {
    await isReserved(7n, 0n, 5n);
    const refused = { kind: 'refused', reason: 'policy_refused: dailyFees: dailyFees is 19 wei, and it needs 20' };
    expect(await admission({ dailyFees: 19n }, replacement(5n))).toMatchObject(refused);
    expect([...spending.reserves.values()]).toMatchObject([{ fees: 5n }]);
  });

  it('and not for what is reserved already: its original may cost that all the same', async () => {
    await isReserved(7n, 60n, 20n);
    expect(await admission({ dailyValue: 50n, dailyFees: 9n }, replacement(5n))).toEqual(ADMITTED);
  });
});

describe('a replacement waits', () => {
  it('when a policy changed after it was priced and judged, and is judged by that then', async () => {
    const policies = policiesOf();
    await policies.refresh();
    const judgedBy = policies.present;
    await stored.set(SIGNER, { maxValue: 4n });
    const changed = gate(undefined, policies);
    expect(await changed.admit(FENCE, replacement(5n), ATTEMPT, judgedBy)).toEqual({ kind: 'later' });
    expect(await changed.refusal(replacement(5n))).toContain('policy_refused: maxValue');
    expect(await changed.admit(FENCE, replacement(4n), ATTEMPT, changed.present)).toEqual(ADMITTED);
  });

  it('while its signer is paused', async () => {
    paused = true;
    expect(await admission(undefined, replacement(5n))).toEqual({ kind: 'later' });
  });

  it('while there is no room for what it needs above its original', async () => {
    await isReserved(7n, 60n);
    await isReserved(8n, 10n);
    expect(await admission({ dailyValue: 100n }, replacement(91n))).toEqual({ kind: 'later' });
    expect(await admission({ dailyValue: 100n }, replacement(90n))).toEqual(ADMITTED);
    expect(spending.reserves.size).toBe(2);
    expect((await spending.reserved(FENCE, [SLOT])).values().next().value).toMatchObject({ value: 90n, fees: 20n });
  });
});

describe('what is reserved for a slot', () => {
  it('is not lowered by a replacement that needs less: its original may be mined', async () => {
    await isReserved(7n, 60n, 50n);
    expect(await admission({ dailyValue: 60n }, replacement(1n))).toEqual(ADMITTED);
    expect([...spending.reserves.values()]).toMatchObject([{ value: 60n, fees: 50n }]);
  });

  it('is what the replacement can cost at its caps, or was signed with', async () => {
    await isReserved(7n, 0n, 5n);
    most = 30n;
    await admission({ dailyFees: 30n }, replacement(1n));
    expect([...spending.reserves.values()]).toMatchObject([{ fees: 30n }]);
  });

  it('is nothing where the signer has no daily amounts', async () => {
    expect(await admission({ maxValue: 9n }, replacement(5n))).toEqual(ADMITTED);
    expect(spending.calls).toBe(0);
  });
});
