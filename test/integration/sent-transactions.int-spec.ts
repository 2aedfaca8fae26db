import { describe, expect, it } from '@jest/globals';
import type { Hash } from '../../src/kernel/hex.js';
import { type ChainConnector, Chains } from '../../src/modules/chain/index.js';
import { Database } from '../../src/platform/database/database.js';
import { aHash } from '../support/builders.js';
import { startAnvil } from '../support/anvil.js';
import { startHardhat } from '../support/hardhat.js';
import { loseCommitsOfLanes } from '../support/lost-commits.js';
import { onProxiedNode, type ProxiedStage } from '../support/on-proxied-node.js';
import { until } from '../support/until.js';

const CLIENTS = [
  { client: 'hardhat', start: startHardhat },
  { client: 'anvil', start: () => startAnvil({ extraArgs: ['--no-mining'] }) },
];

describe.each(CLIENTS)('on $client', ({ start }) => {
  let lab: ProxiedStage['lab'];
  let tag: number;

  onProxiedNode(start, (stage) => ({ lab, tag } = stage));

  function chain(): ChainConnector {
    const { chainId } = lab.node.signer();
    return lab.node.get(Chains).get(chainId);
  }

  async function hashesOf(txIds: readonly string[]): Promise<(Hash | undefined)[]> {
    const attempts = await Promise.all(txIds.map((txId) => lab.attempts(txId)));
    return attempts.map(([attempt]) => attempt?.txHash as Hash | undefined);
  }

  it('what is in the pool is found with its bytes', async () => {
    const account = lab.node.signer().address;
    const [before] = await chain().accountCounts([account]);
    const from = before?.latest ?? 0n;
    const hashes = await hashesOf(await lab.sent(tag, tag + 1));
    expect(await chain().accountCounts([account])).toEqual([{ latest: from, pending: from + 2n }]);
    const [pooled] = await chain().pooledOf([{ account, from }]);
    expect(pooled?.transactions.map(({ hash, nonce }) => [hash, nonce])).toEqual([
      [hashes[0], from],
      [hashes[1], from + 1n],
    ]);
    await lab.confirmAll();
  });

  it('a transaction is found by its hash, pooled or mined, and none by one that nobody knows', async () => {
    const account = lab.node.signer().address;
    const [before] = await chain().accountCounts([account]);
    const [hash] = await hashesOf(await lab.sent(tag));
    if (hash === undefined) throw new Error('one was sent');
    const find = () => chain().transactions([aHash(7), hash]);
    const sent = { account, nonce: before?.latest, hash };
    expect(await find()).toMatchObject([null, sent]);
    await lab.confirmAll();
    expect(await find()).toMatchObject([null, sent]);
  });

  it('what was mined is found with its bytes, and nothing from before', async () => {
    const account = lab.node.signer().address;
    const [before] = await chain().accountCounts([account]);
    const from = before?.latest ?? 0n;
    const hashes = await hashesOf(await lab.sent(tag, tag + 1));
    await lab.confirmAll();
    const since = Math.floor(Date.now() / 1000) - 60;
    const [mined] = await chain().minedOf([{ account, from, since }]);
    expect(mined?.complete).toBe(true);
    expect(new Set(mined?.transactions.map(({ hash }) => hash))).toEqual(new Set(hashes));
    expect(await chain().minedOf([{ account, from: from + 2n, since }])).toMatchObject([{ transactions: [] }]);
  });

  it('commits that were lost lead to no second execution, pooled or mined', async () => {
    const txIds = await lab.sent(tag, tag + 1);
    await loseCommitsOfLanes(lab.node.get(Database));
    txIds.push(await lab.create(tag + 2, { priority: 5 }));
    await until('all are final', async () => {
      await lab.node.step().catch(() => undefined);
      await lab.confirmAll();
      await lab.checkReceipts();
      return (await lab.states(txIds)).every((state) => state === 'CONFIRMED');
    });
    expect(await lab.timesOnChain(tag, tag + 1, tag + 2)).toEqual([1, 1, 1]);
  });
});
