import { describe, expect, it } from '@jest/globals';
import { parseHex } from '../../src/kernel/hex.js';
import { startAnvil } from '../support/anvil.js';
import { startHardhat } from '../support/hardhat.js';
import { aRequest } from '../support/builders.js';
import { makeWaitingDue } from '../support/node-lab.js';
import { onProxiedNode, type ProxiedStage } from '../support/on-proxied-node.js';

/** A constructor that reverts without a word, and one that reverts with `Error("nope")`. */
const REVERTS = parseHex('0x60006000fd');
const REVERTS_WITH_NOPE = parseHex(
  '0x7f08c379a0000000000000000000000000000000000000000000000000000000006000526020600452600460245263' +
    '6e6f706560e01b60445260646000fd',
);
/** A constructor that no gas is enough for: a word of memory at 2^32. */
const INSATIABLE = parseHex('0x600063ffffffff5200');

const creation = (data: typeof REVERTS, gasLimit: bigint | null) => ({
  payload: { ...aRequest().payload, to: null, value: 0n, data, gasLimit },
});

/** What is different between the two, as far as it shows. */
const CLIENTS = [
  { client: 'hardhat', start: startHardhat, hasBlockReceipts: false },
  {
    client: 'anvil',
    start: () => startAnvil({ extraArgs: ['--no-mining'] }),
    hasBlockReceipts: true,
  },
];

describe.each(CLIENTS)('on $client', ({ start, hasBlockReceipts }) => {
  let proxy: ProxiedStage['proxy'];
  let lab: ProxiedStage['lab'];
  let tag: number;

  onProxiedNode(start, (stage) => ({ proxy, lab, tag } = stage));

  it('a tx goes from create to CONFIRMED, and is on chain once', async () => {
    const txIds = await lab.sent(tag);
    expect(await lab.states(txIds)).toEqual(['IN_MEMPOOL']);
    await lab.mine();
    await lab.node.follow();
    expect(await lab.states(txIds)).toEqual(['MINED']);
    await lab.confirmAll();
    expect(await lab.node.tx(txIds[0] ?? '')).toMatchObject({ state: 'CONFIRMED', receipt: { status: 'success' } });
    expect(await lab.timesOnChain(tag)).toEqual([1]);
  });

  it('the receipts of a block come by one call where there is one, and by hash where it was refused once', async () => {
    const asked = proxy.count('eth_getBlockReceipts');
    for (const first of [tag, tag + 2]) {
      const txIds = await lab.sent(first, first + 1);
      await lab.mine();
      await lab.node.follow();
      expect(await lab.states(txIds)).toEqual(['MINED', 'MINED']);
    }
    expect(proxy.count('eth_getBlockReceipts') - asked).toBe(hasBlockReceipts ? 2 : 1);
  });

  it('a revert on chain is FAILED when it is deep enough, and took its nonce', async () => {
    const txId = await lab.create(tag, creation(REVERTS, 100_000n));
    const behind = await lab.create(tag + 1);
    await lab.node.step();
    await lab.mine();
    await lab.node.follow();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'MINED', receipt: { status: 'reverted' } });
    await lab.confirmAll();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'FAILED', failureReason: 'execution reverted' });
    expect(await lab.states([behind])).toEqual(['CONFIRMED']);
  });

  it('what would revert, or has never enough gas, takes no nonce, and says why', async () => {
    const txIds = [
      await lab.create(tag, creation(REVERTS, null)),
      await lab.create(tag + 1, creation(REVERTS_WITH_NOPE, null)),
      await lab.create(tag + 2, creation(INSATIABLE, null)),
    ];
    await lab.node.step();
    // One look ends nothing: a later block must say the same.
    expect(await lab.states(txIds)).toEqual(['PENDING', 'PENDING', 'PENDING']);
    await lab.mine();
    await makeWaitingDue(lab.node);
    await lab.node.step();
    const txs = await Promise.all(txIds.map((txId) => lab.node.tx(txId)));
    expect(txs.map(({ state, nonce }) => [state, nonce])).toEqual(txs.map(() => ['FAILED', null]));
    expect(txs.map(({ failureReason }) => failureReason)).toEqual([
      expect.stringContaining('no reason given'),
      expect.stringContaining('nope'),
      expect.stringMatching(/out of gas|gas required exceeds/i),
    ]);
  });

  it('the same bytes again are known already, which is as good as accepted', async () => {
    const [txId = ''] = await lab.sent(tag);
    await lab.resubmit();
    expect(await lab.attempts(txId)).toMatchObject([
      { status: 'ACCEPTED', errorClass: 'already_known', lastError: null },
    ]);
    await lab.confirmAll();
    expect(await lab.states([txId])).toEqual(['CONFIRMED']);
    expect(await lab.timesOnChain(tag)).toEqual([1]);
  });

  it('a nonce that is too low because the tx was mined unseen leads to its receipt', async () => {
    const [txId = ''] = await lab.sent(tag);
    await lab.mine();
    await lab.resubmit();
    expect((await lab.attempts(txId)).map(({ errorClass }) => errorClass)).toEqual(['nonce_too_low']);
    await lab.node.checkReceipts();
    await lab.node.follow();
    expect(await lab.states([txId])).toEqual(['MINED']);
    await lab.confirmAll();
    expect(await lab.states([txId])).toEqual(['CONFIRMED']);
    expect(await lab.timesOnChain(tag)).toEqual([1]);
  });

  it('a tx that the mempool dropped is sent again, the same bytes, and mined', async () => {
    const [txId = '', behind = ''] = await lab.sent(tag, tag + 1);
    const { txHash } = await lab.node.tx(txId);
    expect(await lab.ask('hardhat_dropTransaction', txHash)).toBeTruthy();
    await lab.mine();
    await lab.node.follow();
    expect(await lab.states([txId, behind])).toEqual(['IN_MEMPOOL', 'IN_MEMPOOL']);
    await lab.resubmit();
    await lab.confirmAll();
    expect(await lab.states([txId, behind])).toEqual(['CONFIRMED', 'CONFIRMED']);
    expect((await lab.node.tx(txId)).txHash).toBe(txHash);
    expect(await lab.timesOnChain(tag, tag + 1)).toEqual([1, 1]);
  });
});
