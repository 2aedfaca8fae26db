import { beforeEach, expect, it } from '@jest/globals';
import { ResubmitConfig } from '../../../src/config/index.js';
import type { HeadTracker } from '../../../src/modules/chain/index.js';
import { BumpDue } from '../../../src/modules/lanes/application/bump-due.js';
import type { BumpStuck } from '../../../src/modules/lanes/application/bump-stuck.js';
import type { Lease, LeaseManager } from '../../../src/modules/signers/index.js';
import { BumpWatch } from '../../../src/modules/transactions/index.js';
import { aSigner, DEV_CHAIN } from '../../support/builders.js';
import { ourWork } from '../confirmations/txs-in-memory.js';

const LEASES: Lease[] = [1, 2].map((n) => ({ signer: aSigner(n), owner: 'node', token: 1n }));

let head: number | null;
let looks: unknown[][];
let config: ResubmitConfig;
let watch: BumpWatch;
let bump: BumpDue;

beforeEach(() => {
  [head, looks, config] = [100, [], new ResubmitConfig()];
  watch = new BumpWatch(config);
  bump = new BumpDue(
    { heldOn: () => LEASES } as unknown as LeaseManager,
    { appliedTip: () => head } as unknown as HeadTracker,
    watch,
    ourWork,
    {
      execute: async (...[chainId, leases, at]: [number, readonly Lease[], number]) => {
        looks.push([chainId, leases.map(({ signer }) => signer), at]);
        for (const lease of leases) watch.looked(lease, at + 3);
      },
    } as unknown as BumpStuck,
    config,
  );
});

it('each signer of this node is looked at when it is due, at the followed head', async () => {
  await bump.execute(DEV_CHAIN);
  expect(looks).toEqual([[DEV_CHAIN, LEASES.map(({ signer }) => signer), 100]]);
});

it('nothing is read at the same head again, nor before the next look is due', async () => {
  for (const at of [100, 100, 102, 103]) {
    head = at;
    await bump.execute(DEV_CHAIN);
  }
  expect(looks.map(([, , at]) => at)).toEqual([100, 103]);
});

it('nothing is bumped before a block was followed, nor with resubmit.enabled off', async () => {
  head = null;
  await bump.execute(DEV_CHAIN);
  [head, config.enabled] = [100, false];
  await bump.execute(DEV_CHAIN);
  expect(looks).toEqual([]);
});
