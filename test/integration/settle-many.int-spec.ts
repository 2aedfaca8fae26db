import { expect, it } from '@jest/globals';
import { nodeLab } from '../support/node-lab.js';

const lab = nodeLab();

/** As many as one look at what is deep enough takes. */
const CROWD = 1_000;

it('a thousand receipts that cannot be read again hold up nobody else', async () => {
  const node = await lab.startNode({ execution: { inFlightStart: CROWD } });
  await lab.node.releaseLeases();
  await Promise.all(Array.from({ length: CROWD }, (_, tag) => lab.create(tag)));
  for (let stepped = 0; stepped < CROWD; stepped = lab.chain.pooled().length) await node.step();
  const { hash } = lab.chain.mine();
  await node.follow();
  const crowd = new Set(lab.chain.minedTxs().map((tx) => tx.hash));
  expect(crowd.size).toBe(CROWD);
  const honest = lab.chain.blockReceipts.bind(lab.chain);
  lab.chain.blockReceipts = async (block) => (block.hash === hash ? null : honest(block));
  lab.chain.faults.receipt = (asked) =>
    crowd.has(asked) ? { kind: 'unavailable', message: 'indexing is in progress' } : undefined;

  const txId = await lab.create(CROWD, { signer: node.signer(1) });
  await node.step(node.signer(1));
  lab.chain.mine();
  await node.follow();
  lab.chain.mineEmpty(4);
  await node.follow();
  lab.chain.mineEmpty(1);
  await node.follow();
  expect(await lab.states([txId])).toEqual(['CONFIRMED']);
});
