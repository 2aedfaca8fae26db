import { expect, it } from '@jest/globals';
import { ChainActivity } from '../../src/modules/confirmations/application/head-tracking-duty.js';
import { Router } from '../../src/modules/signers/index.js';
import { DEV_CHAIN } from '../support/builders.js';
import { nodeLab } from '../support/node-lab.js';

const lab = nodeLab();

it('what a reorg takes back of an idle signer is opened again by whoever follows, also when another node is preferred', async () => {
  const txId = await lab.create(1);
  await lab.node.step();
  await lab.confirmAll();
  const follower = await lab.startNode();
  await follower.follow();
  await lab.node.releaseLeases();
  follower.get(Router).membership(['another']);
  lab.chain.reorg(3, { drop: true });
  await follower.follow();
  expect(await lab.states([txId], follower)).toEqual(['IN_MEMPOOL']);
});

it('nodes tell each other through the database on which chains there was work', async () => {
  const [a, b] = [lab.node.get(ChainActivity), (await lab.startNode()).get(ChainActivity)];
  expect(await b.note([])).toEqual(new Map());
  await Promise.all([a.note([DEV_CHAIN, 7]), b.note([7, DEV_CHAIN])]);
  const ages = await b.note([]);
  expect([...ages.keys()].sort((x, y) => x - y)).toEqual([7, DEV_CHAIN]);
  for (const age of ages.values()) expect(age).toBeLessThan(60_000);
});
