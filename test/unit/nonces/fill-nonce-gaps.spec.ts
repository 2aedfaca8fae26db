import { beforeEach, describe, expect, it } from '@jest/globals';
import { sameSigner, type SignerId } from '../../../src/kernel/signer-id.js';
import type { Chains } from '../../../src/modules/chain/index.js';
import { type CreateFills, FillNonceGaps } from '../../../src/modules/nonces/application/fill-nonce-gaps.js';
import type { BroadcastAttempts, SignAttempts } from '../../../src/modules/sending/index.js';
import type { NonceLedger, SlotRef } from '../../../src/modules/signers/index.js';
import { LaneMemory } from '../../../src/modules/ledger/index.js';
import { aSigner, DEV_CHAIN } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { KeysOf } from '../../support/fakes/fake-node.js';

const [LEASE, OTHER] = [1, 2].map((n) => ({ signer: aSigner(n), owner: 'node', token: BigInt(n) })) as [Lease, Lease];
type Lease = { signer: SignerId; owner: string; token: bigint };
const SLOT: SlotRef = { signer: LEASE.signer, nonce: 7n };
const QUOTE = {};

/** Released slots that no tx holds, as the ledger has them. */
let gaps: SlotRef[];
/** Those that are to be signed. */
let fills: unknown[];
/** What was done, in order. */
let calls: unknown[][];
/** The step at which a fill fails, and the error. */
let failing: { readonly step: string; readonly error: Error } | null;
let memory: LaneMemory;
let custody: KeysOf;
let fillGaps: FillNonceGaps;

beforeEach(() => {
  [gaps, calls, failing, memory] = [[], [], null, new LaneMemory(new FakeClock())];
  custody = new KeysOf([]);
  fills = ['fill'];
  const chain = { feeQuote: async () => QUOTE };
  const step =
    <Answer>(name: string, answer: Answer) =>
    async (...args: unknown[]) => {
      calls.push([name, ...args]);
      if (failing?.step === name) throw failing.error;
      return answer;
    };
  fillGaps = new FillNonceGaps(
    { get: () => chain } as unknown as Chains,
    {
      gaps: async (signers: readonly SignerId[]) => {
        calls.push(['gaps', ...signers]);
        return gaps.filter(({ signer }) => signers.some((each) => sameSigner(each, signer)));
      },
    } as unknown as NonceLedger,
    {
      execute: step('create', fills),
      giveBack: async (_leases: unknown, slots: readonly SlotRef[]) => {
        if (slots.length > 0) calls.push(['give back', slots]);
      },
    } as unknown as CreateFills,
    { execute: step('sign', 'signed') } as unknown as SignAttempts,
    { execute: step('send', undefined) } as unknown as BroadcastAttempts,
    memory,
    custody,
  );
  /** Their lanes do not begin anew. */
  memory.recovered([LEASE, OTHER]);
});

const names = (): unknown[] => calls.map(([name]) => name);

describe('a nonce gap', () => {
  it('gets a fill, which is stored and signed before it is sent', async () => {
    gaps = [SLOT];
    await fillGaps.execute(DEV_CHAIN, [LEASE]);
    const chain = expect.objectContaining({});
    expect(calls).toEqual([
      ['gaps', LEASE.signer],
      ['create', chain, [LEASE], [SLOT]],
      ['sign', QUOTE, [LEASE], fills],
      ['send', chain, [LEASE], 'signed'],
    ]);
  });

  it('is looked for only where the lane may have some', async () => {
    await fillGaps.execute(DEV_CHAIN, [LEASE, OTHER]);
    memory.gapOpened(OTHER.signer);
    await fillGaps.execute(DEV_CHAIN, [LEASE, OTHER]);
    expect(calls).toEqual([
      ['gaps', LEASE.signer, OTHER.signer],
      ['gaps', OTHER.signer],
    ]);
  });

  it('that got its fill is not looked for again: a fill is sent and settled like every tx', async () => {
    gaps = [SLOT];
    await fillGaps.execute(DEV_CHAIN, [LEASE]);
    expect([memory.mayHaveGaps(LEASE), memory.needsRecovery(LEASE)]).toEqual([false, false]);
  });

  it('costs no call of the chain where there is none', async () => {
    await fillGaps.execute(DEV_CHAIN, [LEASE]);
    expect(names()).toEqual(['gaps']);
  });

  it('is not looked for where no node has the key, and what is free again goes back to outside senders', async () => {
    [gaps, custody.external] = [[SLOT], [LEASE.signer]];
    await fillGaps.execute(DEV_CHAIN, [LEASE, OTHER]);
    expect(memory.mayHaveGaps(LEASE)).toBe(false);
    memory.aligned([LEASE, OTHER]);
    await fillGaps.fill(DEV_CHAIN, [LEASE], [SLOT]);
    expect(calls).toEqual([
      ['gaps', OTHER.signer],
      ['give back', [SLOT]],
    ]);
    expect([LEASE, OTHER].map((lease) => memory.needsAlignment(lease, 1_000))).toEqual([true, false]);
  });

  it('that the caller knows of is filled without a look', async () => {
    await fillGaps.fill(DEV_CHAIN, [LEASE], [SLOT]);
    expect(names()).toEqual(['create', 'sign', 'send']);
  });
});

describe('a fill that was left half done', () => {
  it('because its slot has bytes already, is finished from the database', async () => {
    [gaps, fills] = [[SLOT, { ...SLOT, nonce: 8n }], ['fill']];
    await fillGaps.execute(DEV_CHAIN, [LEASE, OTHER]);
    expect(names()).toEqual(['gaps', 'create', 'sign', 'send']);
    expect([memory.needsRecovery(LEASE), memory.needsRecovery(OTHER)]).toEqual([true, false]);
  });

  it.each(['create', 'sign', 'send'])('by a failure to %s it is finished from the database', async (step) => {
    gaps = [SLOT];
    failing = { step, error: new Error('broken') };
    await expect(fillGaps.execute(DEV_CHAIN, [LEASE, OTHER])).rejects.toThrow('broken');
    expect([memory.needsRecovery(LEASE), memory.mayHaveGaps(LEASE)]).toEqual([true, true]);
    expect([memory.needsRecovery(OTHER), memory.mayHaveGaps(OTHER)]).toEqual([false, false]);
  });
});
