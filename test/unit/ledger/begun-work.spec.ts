import { beforeEach, describe, expect, it } from '@jest/globals';
import { signerKey, type SignerId } from '../../../src/kernel/signer-id.js';
import type { Lease } from '../../../src/modules/signers/index.js';
import { BegunWork } from '../../../src/modules/ledger/application/writing/begun-work.js';
import { LaneMemory } from '../../../src/modules/ledger/application/writing/lane-memory.js';
import { aSigner, DEV_CHAIN } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { FakeWatch } from '../../support/fakes/fake-watch.js';
import { ourWork } from '../../support/fakes/our-work.js';

const SIGNERS = [1, 2, 3].map((index) => aSigner(index));
const leaseOf = (signer: SignerId): Lease => ({ signer, owner: 'node', token: 1n });

let memory: LaneMemory;
let watch: FakeWatch;
/** Keys of the signers of each task. */
let shares: string[][];
let work: BegunWork;

beforeEach(() => {
  memory = new LaneMemory(new FakeClock());
  [watch, shares] = [new FakeWatch(), []];
  work = new BegunWork(ourWork, memory, watch.asWatch());
});

async function run(signers: readonly SignerId[]): Promise<SignerId[]> {
  const items = signers.map((signer) => ({ signer }));
  const left = await work.run(DEV_CHAIN, items, async (leases, share) => {
    expect(leases.map(({ signer }) => signer)).toEqual(share.map(({ signer }) => signer));
    shares.push(share.map(({ signer }) => signerKey(signer)));
  });
  return left.map(({ signer }) => signer);
}

describe('work that signs, sends or ends txs', () => {
  it('is done for the signers whose lanes have begun, and left for the others', async () => {
    const [first, second, third] = SIGNERS as [SignerId, SignerId, SignerId];
    memory.recovered([first, third].map(leaseOf));
    expect(await run(SIGNERS)).toEqual([second]);
    expect(shares).toEqual([[first, third].map(signerKey)]);
  });

  it('is not begun for any signer when all lanes have to begin again', async () => {
    memory.recovered(SIGNERS.map(leaseOf));
    memory.forgetAll();
    expect(await run(SIGNERS)).toEqual(SIGNERS);
    expect(shares).toEqual([]);
  });

  it('is left when the database is found to have lost commits while it waited for its turn', async () => {
    const items = SIGNERS.map((signer) => ({ signer }));
    memory.recovered(SIGNERS.map(leaseOf));
    watch.checkIfReconnected = async () => {
      watch.checks += 1;
      if (watch.checks > 1) memory.forgetAll();
    };
    expect(await work.run(DEV_CHAIN, items, () => Promise.reject(new Error('not now')))).toEqual(items);
  });

  it('asks first whether the database may have lost commits, when there is anything to do', async () => {
    await run([]);
    expect(watch.checks).toBe(0);
    await run(SIGNERS);
    expect(watch.checks).toBe(2);
  });
});
