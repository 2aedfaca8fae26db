import { beforeEach, describe, expect, it } from '@jest/globals';
import { Wallet } from 'ethers';
import { type Address, parseAddress, parseHex } from '../../src/kernel/hex.js';
import type { SignerId } from '../../src/kernel/signer-id.js';
import { SubmitCommand } from '../../src/modules/commands/index.js';
import type { AttemptView } from '../../src/modules/ledger/application/views/tx-views.js';
import { ProveBlobs } from '../../src/modules/requests/application/prove-blobs.js';
import { InFlightLimits } from '../../src/modules/ledger/index.js';
import { NO_FEES } from '../../src/modules/ledger/domain/tx-request.js';
import { startAnvil } from '../support/anvil.js';
import { aBlob, anOrder, aRequest, anAddress, DEV_CHAIN } from '../support/builders.js';
import { knowNonce } from '../support/known-nonce.js';
import { makeWaitingDue } from '../support/node-lab.js';
import { onProxiedNode, type ProxiedStage } from '../support/on-proxied-node.js';
import type { TestNode } from '../support/test-node.js';
import { until } from '../support/until.js';

/** Init code of a contract whose code is one STOP. */
const STOP_CREATION = parseHex('0x6001600c60003960016000f300');
const ZERO_ADDRESS = parseAddress(`0x${'00'.repeat(20)}`);
const ACCESS = [{ address: anAddress(3), storageKeys: [] }];
const GWEI = 1_000_000_000n;

const anvil = (hardfork: string) => () => startAnvil({ extraArgs: ['--no-mining', '--hardfork', hardfork] });

describe('on a chain with every type of transaction', () => {
  let lab: ProxiedStage['lab'];
  let url: string;
  let tag: number;

  onProxiedNode(anvil('prague'), ({ chain, ...stage }) => {
    ({ lab, tag } = stage);
    ({ url } = chain);
  });

  it('a contract is created at the address that was told as soon as its nonce was known', async () => {
    const payload = { ...aRequest().payload, to: null, value: 0n, data: STOP_CREATION };
    const txId = await lab.create(tag, { payload });
    expect(await lab.node.tx(txId)).toMatchObject({ nonce: null, contractAddress: null });
    await lab.node.step();
    const { contractAddress } = await lab.node.tx(txId);
    await lab.confirmAll();
    expect(await lab.node.tx(txId)).toMatchObject({
      state: 'CONFIRMED',
      contractAddress,
      receipt: { contractAddress },
    });
    expect(await lab.ask('eth_getCode', contractAddress, 'latest')).toBe('0x00');
  });

  it.each([
    ['legacy', [], '0x0'],
    ['with an access list', ACCESS, '0x1'],
  ])('a gas price makes a transaction %s, at this price', async (_, accessList, type) => {
    const { payload } = lab.request(tag);
    const fees = { ...NO_FEES, gasPrice: 7n * GWEI };
    const txId = await lab.create(tag, { fees, payload: { ...payload, accessList } });
    await lab.node.step();
    await lab.confirmAll();
    const { state, txHash } = await lab.node.tx(txId);
    expect(state).toBe('CONFIRMED');
    expect(await lab.ask('eth_getTransactionByHash', txHash)).toMatchObject({ type, gasPrice: '0x1a13b8600' });
    expect(await lab.attempts(txId)).toMatchObject([
      { type: Number(type), gasPrice: '7000000000', maxFeePerGas: null, maxPriorityFeePerGas: null },
    ]);
  });

  it('an account that has signed an authorization runs the code that it names', async () => {
    const owner = Wallet.createRandom();
    const code = anAddress(0xc0de);
    const { chainId, nonce, signature } = await owner.authorize({ address: code, chainId: DEV_CHAIN, nonce: 0 });
    const authorization = {
      chainId,
      address: code,
      nonce,
      yParity: signature.yParity,
      r: parseHex(signature.r),
      s: parseHex(signature.s),
    };
    const payload = {
      ...lab.request(tag).payload,
      to: parseAddress(owner.address),
      authorizationList: [authorization],
    };
    const txId = await lab.create(tag, { payload });
    await lab.node.step();
    await lab.confirmAll();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'CONFIRMED', receipt: { status: 'success' } });
    expect(await lab.attempts(txId)).toMatchObject([{ type: 4 }]);
    expect(await lab.ask('eth_getCode', owner.address, 'latest')).toBe(`0xef0100${code.slice(2)}`);
  });

  it('a signer that has delegated has one transaction in flight, until it ends the delegation', async () => {
    const delegateTo = async (n: number, address: Address): Promise<void> => {
      const signer = lab.node.signer().address;
      const authorizationList = [{ chainId: BigInt(DEV_CHAIN), address, signer }];
      await lab.create(n, { payload: { ...lab.request(n).payload, gasLimit: 100_000n, authorizationList } });
      await lab.node.step();
      await lab.confirmAll();
    };
    const inFlightOfTwo = async (n: number): Promise<number> => {
      const states = await lab.states(await lab.sent(n, n + 1));
      await lab.node.step();
      await lab.confirmAll();
      await lab.node.step();
      await lab.confirmAll();
      return states.filter((state) => state === 'IN_MEMPOOL').length;
    };
    await delegateTo(tag, anAddress(0xc0de));
    expect(await inFlightOfTwo(tag + 1)).toBe(1);
    expect(lab.node.get(InFlightLimits).isDelegated(lab.node.signer())).toBe(true);
    await delegateTo(tag + 3, ZERO_ADDRESS);
    expect(await inFlightOfTwo(tag + 4)).toBe(2);
  });

  describe('the nonce of an authorization that a signer gave for itself', () => {
    let other: SignerId;

    beforeEach(async () => {
      other = lab.node.signer(1);
      await knowNonce(lab.node, url, other);
      await lab.node.step(lab.node.signer(), other);
    });

    const delegating = async (n: number): Promise<string> => {
      const authorizationList = [
        { chainId: BigInt(DEV_CHAIN), address: ZERO_ADDRESS, signer: lab.node.signer().address },
      ];
      return lab.create(n, { payload: { ...lab.request(n).payload, gasLimit: 100_000n, authorizationList } });
    };

    it.each(['this node', 'another one'])(
      'goes to the next payload of %s when its transaction is cancelled, without a resend',
      async (who) => {
        const txId = await delegating(tag);
        await lab.node.step();
        const { nonce } = await lab.node.tx(txId);
        await lab.node.get(SubmitCommand).execute(anOrder('cancel', txId));
        await lab.node.commands();
        await lab.resubmit();
        await lab.confirmAll();
        expect(await lab.states([txId])).toEqual(['CANCELLED']);
        const node = who === 'this node' ? lab.node : await takenOver();
        const next = await lab.create(tag + 1);
        await node.step();
        await lab.mine();
        expect(await lab.node.tx(next)).toMatchObject({ state: 'IN_MEMPOOL', nonce: Number(nonce) + 1 });
        expect(await lab.timesOnChain(tag, tag + 1)).toEqual([0, 1]);
      },
    );

    it.each(['this node', 'another one'])('is passed by the next payload of %s when it was used', async (who) => {
      const txId = await delegating(tag);
      await lab.node.step();
      const { nonce } = await lab.node.tx(txId);
      const node = who === 'this node' ? lab.node : await takenOver();
      // The lane step of another signer reads the nonces of all, before this one is used.
      await lab.create(tag + 2, { signer: other });
      await node.step(lab.node.signer(), other);
      await lab.mine(2);
      await node.follow();
      const next = await lab.create(tag + 1);
      await node.step(lab.node.signer(), other);
      await lab.mine();
      expect(await lab.node.tx(next)).toMatchObject({ state: 'IN_MEMPOOL', nonce: Number(nonce) + 2 });
      expect(await lab.timesOnChain(tag, tag + 1)).toEqual([1, 1]);
    });

    async function takenOver(): Promise<TestNode> {
      await lab.node.releaseLeases();
      return lab.startNode();
    }
  });
});

/** Its attempts after a client wanted a higher price. */
async function spedUp(lab: ProxiedStage['lab'], txId: string): Promise<readonly AttemptView[]> {
  await lab.node.get(SubmitCommand).execute(anOrder('speed_up', txId));
  await lab.node.commands();
  return lab.attempts(txId);
}

/** Anvil does not check proofs: test/geth/types.geth-spec.ts runs on a node that does. */
describe.each(['prague', 'osaka'])('on a chain with blobs (%s)', (hardfork) => {
  let lab: ProxiedStage['lab'];
  let proxy: ProxiedStage['proxy'];
  let tag: number;

  onProxiedNode(anvil(hardfork), (stage) => ({ lab, proxy, tag } = stage));

  it('a transaction whose send was lost is sent again with its blobs, and sped up with the same ones', async () => {
    const asked = await lab.node.get(ProveBlobs).execute(lab.request(tag), [aBlob(4)]);
    const { txId } = await lab.node.create(asked);
    proxy.fail('eth_sendRawTransaction', {
      kind: 'refuse',
      code: -32000,
      message: 'service temporarily unavailable',
    });
    await lab.node.step();
    const { txHash } = await lab.node.tx(txId);
    expect(await lab.ask('eth_getTransactionByHash', txHash)).toBeNull();
    proxy.heal();
    // The node loads its setup for blobs, which takes longer than a resend waits.
    await until('the node has answered the resend', async () => {
      await lab.resubmit();
      const [attempt] = await lab.attempts(txId);
      return attempt?.status === 'ACCEPTED';
    });
    expect(await lab.ask('eth_getTransactionByHash', txHash)).toMatchObject({ type: '0x3' });
    const [first, second] = await spedUp(lab, txId);
    expect([first?.type, second?.type]).toEqual([3, 3]);
    expect(BigInt(second?.maxFeePerBlobGas ?? 0)).toBe(2n * BigInt(first?.maxFeePerBlobGas ?? 0));
    await lab.confirmAll();
    expect(await lab.node.tx(txId)).toMatchObject({ state: 'CONFIRMED', txHash: second?.txHash });
  });

  it('a transaction with blobs is mined, and waits for what has none', async () => {
    const plain = await lab.create(tag);
    await lab.node.step();
    const { payload, ...rest } = lab.request(tag + 1);
    const blobs = [aBlob(3), Buffer.alloc(131_072)];
    const asked = await lab.node.get(ProveBlobs).execute({ ...rest, payload }, blobs);
    const { txId } = await lab.node.create(asked);
    await lab.node.step();
    expect(await lab.states([plain, txId])).toEqual(['IN_MEMPOOL', 'PENDING']);
    await lab.confirmAll();
    await makeWaitingDue(lab.node);
    await lab.node.step();
    expect(await lab.states([txId])).toEqual(['IN_MEMPOOL']);
    await lab.confirmAll();
    const { state, txHash, payload: shown } = await lab.node.tx(txId);
    expect(state).toBe('CONFIRMED');
    expect(await lab.ask('eth_getTransactionByHash', txHash)).toMatchObject({
      type: '0x3',
      blobVersionedHashes: shown.blobs,
    });
    expect(await lab.attempts(txId)).toMatchObject([{ type: 3, maxFeePerBlobGas: expect.stringMatching(/^[1-9]/) }]);
  });
});

describe('on a chain without a base fee', () => {
  let lab: ProxiedStage['lab'];
  let tag: number;

  onProxiedNode(anvil('berlin'), (stage) => ({ lab, tag } = stage));

  it('transactions are legacy, or have an access list, and are sped up as such', async () => {
    const txIds = await lab.sent(tag);
    const { payload } = lab.request(tag + 1);
    txIds.push(await lab.create(tag + 1, { payload: { ...payload, accessList: ACCESS } }));
    await lab.node.step();
    for (const txId of txIds) {
      const [first, second] = await spedUp(lab, txId);
      expect(BigInt(second?.gasPrice ?? 0)).toBeGreaterThanOrEqual((BigInt(first?.gasPrice ?? 0) * 9n) / 8n);
    }
    await lab.confirmAll();
    expect(await lab.states(txIds)).toEqual(['CONFIRMED', 'CONFIRMED']);
    const types = await Promise.all(txIds.map(async (txId) => (await lab.attempts(txId)).map(({ type }) => type)));
    expect(types).toEqual([
      [0, 0],
      [1, 1],
    ]);
  });
});
