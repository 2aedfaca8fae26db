import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type Hash, parseHash } from '../../../src/kernel/hex.js';
import { type Block, type Receipt, RpcUnavailable } from '../../../src/modules/chain/index.js';
import { VerifiedReceipts } from '../../../src/modules/chain/application/verified-receipts.js';
import { anAddress, aReceipt } from '../../support/builders.js';
import { ModelChain } from '../../support/model-chain.js';
import { RecordingLog } from './chain-fixture.js';

let chain: ModelChain;
let receipts: VerifiedReceipts;
let log: RecordingLog;
let block: Block;
let hashes: readonly [Hash, Hash, Hash];

beforeEach(() => {
  chain = new ModelChain();
  log = new RecordingLog();
  receipts = new VerifiedReceipts(log);
  const [a, b, c] = [0n, 1n, 2n].map((nonce) => chain.sendForeign(anAddress(1), nonce).hash);
  if (!a || !b || !c) throw new Error('three were sent');
  hashes = [a, b, c];
  block = chain.mine();
});

const stored = (...of: readonly Hash[]): Receipt[] =>
  of.map((txHash) => aReceipt({ txHash, blockHash: block.hash, blockNumber: block.number }));

/** How many calls one verification costs, and what it finds. */
async function asked(of: readonly Receipt[]): Promise<{ blocks: number; hashes: number; found: Receipt[] }> {
  const blocks = jest.spyOn(chain, 'blockReceipts');
  const single = jest.spyOn(chain, 'receipts');
  const { found } = await receipts.verify(chain, of);
  const answer = {
    blocks: blocks.mock.calls.length,
    hashes: single.mock.calls.flatMap(([list]) => list).length,
    found: of.flatMap(({ txHash }) => found.get(txHash) ?? []),
  };
  jest.restoreAllMocks();
  return answer;
}

describe('the receipt of a lone transaction', () => {
  it('is that of its block where the node has none by hash', async () => {
    chain.faults.lostIndex = true;
    const blocks = jest.spyOn(chain, 'blockReceipts');
    const found = await receipts.ofBlock(chain, block, [hashes[0]]);
    expect([...found.keys()]).toContain(hashes[0]);
    // Not one by one: by hash the node has none.
    expect(blocks.mock.calls).toEqual([[block, true]]);
    jest.restoreAllMocks();
  });

  it('costs no block where the node has it by hash, or does not answer', async () => {
    const blocks = jest.spyOn(chain, 'blockReceipts');
    await receipts.ofBlock(chain, block, [hashes[0]]);
    chain.faults.receipt = () => ({ kind: 'unavailable', message: 'busy' });
    expect(await receipts.ofBlock(chain, block, [hashes[0]])).toEqual(new Map());
    expect(blocks).not.toHaveBeenCalled();
    jest.restoreAllMocks();
  });
});

describe('VerifiedReceipts.verify', () => {
  it('asks for no receipt that the receipts root of its block has proven', async () => {
    chain.provesReceipts = true;
    await receipts.ofBlock(chain, block, hashes);
    expect(await asked(stored(...hashes))).toMatchObject({
      blocks: 0,
      hashes: 0,
      found: hashes.map((txHash) => ({ txHash })),
    });
  });

  it('reads the receipts of a block again in one call when the root did not prove them', async () => {
    await receipts.ofBlock(chain, block, hashes);
    expect(await asked(stored(...hashes))).toMatchObject({ blocks: 1, hashes: 0, found: [{}, {}, {}] });
  });

  it('answers the proven receipt also when another one was stored', async () => {
    chain.provesReceipts = true;
    chain.faults.status = () => 'reverted';
    await receipts.ofBlock(chain, block, hashes);
    delete chain.faults.status;
    expect((await asked(stored(hashes[0]))).found).toMatchObject([{ status: 'reverted' }]);
  });

  it('asks for a receipt that was not ours on the first read, and only for that one', async () => {
    chain.provesReceipts = true;
    await receipts.ofBlock(chain, block, hashes.slice(0, 2));
    chain.faults.status = () => 'reverted';
    expect(await asked(stored(...hashes))).toMatchObject({
      blocks: 0,
      hashes: 1,
      found: [{ status: 'success' }, { status: 'success' }, { status: 'reverted' }],
    });
  });

  it('asks again for a receipt that was read without its whole block', async () => {
    chain.provesReceipts = true;
    await receipts.ofBlock(chain, block, [hashes[0]]);
    expect(await asked(stored(hashes[0]))).toMatchObject({ blocks: 0, hashes: 1 });
  });
});

describe('VerifiedReceipts.ofBlock', () => {
  const elsewhere = parseHash(`0x${'ee'.repeat(32)}`);

  it.each([1, 2])('leaves out a receipt from another block, when %d are asked for', async (count) => {
    const asking = hashes.slice(0, count);
    const found = stored(...asking).map((receipt, n) => (n === 0 ? { ...receipt, blockHash: elsewhere } : receipt));
    chain.receipts = async () => found.map((receipt) => ({ kind: 'found', receipt }));
    chain.blockReceipts = async () => ({ receipts: found, proven: false });
    expect([...(await receipts.ofBlock(chain, block, asking)).values()]).toEqual(found.slice(1));
  });

  it('answers no receipt when the node does not have the block, or does not answer', async () => {
    const refused = new RpcUnavailable('rpc_unavailable', { chainId: chain.chainId, method: 'blockReceipts' }, 'no');
    for (const answer of [async () => null, () => Promise.reject(refused)]) {
      chain.blockReceipts = answer;
      expect(await receipts.ofBlock(chain, block, hashes)).toEqual(new Map());
    }
  });

  it('passes on an error that is not a missing answer', async () => {
    chain.blockReceipts = () => Promise.reject(new TypeError('a fault of ours'));
    await expect(receipts.ofBlock(chain, block, hashes)).rejects.toThrow('a fault of ours');
  });
});

describe('a receipt that is verified', () => {
  it('is gone when the endpoints find its transaction in another block', async () => {
    const [txHash] = hashes;
    const elsewhere = aReceipt({ txHash, blockHash: parseHash(`0x${'ee'.repeat(32)}`), blockNumber: block.number });
    const { found, gone } = await receipts.verify(chain, [elsewhere]);
    expect([[...found.keys()], [...gone]]).toEqual([[], [txHash]]);
  });

  it('is gone when another block of those that are verified proves it: it is in that one', async () => {
    chain.provesReceipts = true;
    await receipts.ofBlock(chain, block, hashes);
    const elsewhere = aReceipt({ txHash: hashes[0], blockHash: parseHash(`0x${'ee'.repeat(32)}`), blockNumber: 1 });
    const { found, gone } = await receipts.verify(chain, [elsewhere, ...stored(hashes[1])]);
    expect([found.has(hashes[0]), [...gone]]).toEqual([false, [hashes[0]]]);
    expect(found.get(hashes[1])).toMatchObject({ blockHash: block.hash });
  });

  it('is gone when no block has its transaction', async () => {
    const txHash = parseHash(`0x${'dd'.repeat(32)}`);
    const { found, gone } = await receipts.verify(chain, stored(txHash));
    expect([[...found.keys()], [...gone]]).toEqual([[], [txHash]]);
  });

  it('is neither found nor gone while no endpoint answers', async () => {
    chain.faults.receipt = () => ({ kind: 'unavailable', message: 'no answer' });
    const { found, gone } = await receipts.verify(chain, stored(hashes[0]));
    expect([[...found.keys()], [...gone]]).toEqual([[], []]);
  });
});

describe('a block whose receipts root proves nothing', () => {
  it('causes no warning: on some chains no block proves its receipts', async () => {
    const warnings = [jest.spyOn(log, 'warn'), jest.spyOn(log, 'error'), jest.spyOn(log, 'info')];
    await receipts.ofBlock(chain, block, hashes);
    for (const warning of warnings) expect(warning).not.toHaveBeenCalled();
  });
});
