import { beforeEach, describe, expect, it } from '@jest/globals';
import type { SignerId } from '../../../src/kernel/signer-id.js';
import type { Chains } from '../../../src/modules/chain/index.js';
import { type Lease, NotLeader } from '../../../src/modules/signers/index.js';
import { LaneMemory } from '../../../src/modules/ledger/application/writing/lane-memory.js';
import type { LeasedWork } from '../../../src/modules/ledger/application/writing/leased-work.js';
import type { HeldSigners } from '../../../src/modules/lost-commits/application/held-signers.js';
import { type ReconcileLanes, ReconcileSigner } from '../../../src/modules/lost-commits/application/reconcile-lanes.js';
import { aHash, aSigner } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';

const SIGNER = aSigner();
const LEASE: Lease = { signer: SIGNER, owner: 'node', token: 1n };
const CHAIN = {};

/** Whether this node acts for the signer. */
let isOurs: boolean;
let isHeld: boolean;
let calls: unknown[][];
let rung: SignerId[];
let memory: LaneMemory;
let reconcile: ReconcileSigner;

beforeEach(() => {
  [isOurs, isHeld, calls, rung, memory] = [true, false, [], [], new LaneMemory(new FakeClock())];
  memory.recovered([LEASE]);
  const sent = [3n, 4n].map((nonce) => ({ nonce, hash: aHash(nonce), raw: '0x' }));
  reconcile = new ReconcileSigner(
    { get: () => CHAIN } as unknown as Chains,
    {
      asOwner: async (signer: SignerId, task: (lease: Lease) => unknown) => {
        calls.push(['as owner', signer]);
        if (!isOurs) throw new NotLeader(signer, null);
        return task(LEASE);
      },
    } as unknown as LeasedWork,
    memory,
    { has: () => isHeld } as unknown as HeldSigners,
    {
      execute: async (...args: unknown[]) => (calls.push(['reconcile', ...args]), [{ unknown: sent }]),
    } as unknown as ReconcileLanes,
    { ring: (signers) => void rung.push(...signers) },
  );
});

describe('a signer that a person has looked at', () => {
  it('is looked at by its worker, and goes on by itself with what was found', async () => {
    expect(await reconcile.execute(SIGNER, true)).toEqual({
      held: false,
      found: [3n, 4n].map((nonce) => ({ nonce, txHash: aHash(nonce) })),
    });
    expect(calls).toEqual([
      ['as owner', SIGNER],
      ['reconcile', CHAIN, [LEASE], true],
    ]);
    expect([memory.needsRecovery(LEASE), rung]).toEqual([true, [SIGNER]]);
  });

  it('is vouched for only by the person', async () => {
    isHeld = true;
    expect(await reconcile.execute(SIGNER, false)).toMatchObject({ held: true });
    expect(calls.at(-1)).toEqual(['reconcile', CHAIN, [LEASE], false]);
  });

  it('is left to the node that acts for it', async () => {
    isOurs = false;
    await expect(reconcile.execute(SIGNER, true)).rejects.toMatchObject({ code: 'not_leader' });
    expect([calls, rung, memory.needsRecovery(LEASE)]).toEqual([[['as owner', SIGNER]], [], false]);
  });
});
