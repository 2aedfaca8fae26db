import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type Hash, parseHash } from '../../../src/kernel/hex.js';
import { type Block, type Receipt, RpcUnavailable } from '../../../src/modules/chain/index.js';
import { ReadReceipts, Rereading } from '../../../src/modules/confirmations/application/read-receipts.js';
import { anAddress, aReceipt } from '../../support/builders.js';
import { ModelChain } from '../../support/model-chain.js';
import { RecordingLog } from '../chain/chain-fixture.js';

let chain: ModelChain;
let reader: ReadReceipts;
let log: RecordingLog;
let block: Block;
let hashes: readonly [Hash, Hash, Hash];

beforeEach(() => {
  chain = new ModelChain();
  log = new RecordingLog();
  reader = new ReadReceipts(log);
  const [a, b, c] = [0n, 1n, 2n].map((nonce) => chain.sendForeign(anAddress(1), nonce).hash);
  if (!a || !b || !c) throw new Error('three were sent');
  hashes = [a, b, c];
  block = chain.mine();
});

const stored = (...of: readonly Hash[]): Receipt[] =>
  of.map((txHash) => aReceipt({ txHash, blockHash: block.hash, blockNumber: block.number }));

/** How often the chain is asked while receipts are read once more. */
async function asked(of: readonly Receipt[]): Promise<{ blocks: number; hashes: number; found: Receipt[] }> {
  const blocks = jest.spyOn(chain, 'blockReceipts');
  const single = jest.spyOn(chain, 'receipts');
  const { found } = await new Rereading(reader, chain).of(of);
  const answer = {
    blocks: blocks.mock.calls.length,
    hashes: single.mock.calls.flatMap(([list]) => list).length,
    found: of.flatMap(({ txHash }) => found.get(txHash) ?? []),
  };
  jest.restoreAllMocks();
  return answer;
}

describe('receipts that are read once more', () => {
  it('are not asked for when their block has proven them', async () => {
    chain.provesReceipts = true;
    await reader.atOnce(chain, block, hashes);
    expect(await asked(stored(...hashes))).toMatchObject({
      blocks: 0,
      hashes: 0,
      found: hashes.map((txHash) => ({ txHash })),
    });
  });

  it('are asked for when it has not, in one call', async () => {
    await reader.atOnce(chain, block, hashes);
    expect(await asked(stored(...hashes))).toMatchObject({ blocks: 1, hashes: 0, found: [{}, {}, {}] });
  });

  it('are those that were proven, also where another answer was stored', async () => {
    chain.provesReceipts = true;
    chain.faults.status = () => 'reverted';
    await reader.atOnce(chain, block, hashes);
    delete chain.faults.status;
    expect((await asked(stored(hashes[0]))).found).toMatchObject([{ status: 'reverted' }]);
  });

  it('are asked for when they were not ours at the time, which changes nothing about those that were', async () => {
    chain.provesReceipts = true;
    await reader.atOnce(chain, block, hashes.slice(0, 2));
    chain.faults.status = () => 'reverted';
    expect(await asked(stored(...hashes))).toMatchObject({
      blocks: 0,
      hashes: 1,
      found: [{ status: 'success' }, { status: 'success' }, { status: 'reverted' }],
    });
  });

  it('are asked for when they came one by one', async () => {
    chain.provesReceipts = true;
    await reader.atOnce(chain, block, [hashes[0]]);
    expect(await asked(stored(hashes[0]))).toMatchObject({ blocks: 0, hashes: 1 });
  });
});

describe('the receipts of a block', () => {
  const elsewhere = parseHash(`0x${'ee'.repeat(32)}`);

  it.each([1, 2])('are only those from that block, when %d are asked for', async (count) => {
    const asking = hashes.slice(0, count);
    const found = stored(...asking).map((receipt, n) => (n === 0 ? { ...receipt, blockHash: elsewhere } : receipt));
    chain.receipts = async () => found.map((receipt) => ({ kind: 'found', receipt }));
    chain.blockReceipts = async () => ({ receipts: found, proven: false });
    expect([...(await reader.atOnce(chain, block, asking)).values()]).toEqual(found.slice(1));
  });

  it('are none when the node does not have the block, or does not answer', async () => {
    const refused = new RpcUnavailable('rpc_unavailable', { chainId: chain.chainId, method: 'blockReceipts' }, 'no');
    for (const answer of [async () => null, () => Promise.reject(refused)]) {
      chain.blockReceipts = answer;
      expect(await reader.atOnce(chain, block, hashes)).toEqual(new Map());
    }
  });

  it('are not swallowed with an error that is no missing answer', async () => {
    chain.blockReceipts = () => Promise.reject(new TypeError('a fault of ours'));
    await expect(reader.atOnce(chain, block, hashes)).rejects.toThrow('a fault of ours');
  });
});

describe('a receipt that is read once more', () => {
  it('is gone when the transaction is found in another block: a receipt from there is no proof of this one', async () => {
    const [txHash] = hashes;
    const elsewhere = aReceipt({ txHash, blockHash: parseHash(`0x${'ee'.repeat(32)}`), blockNumber: block.number });
    const { found, gone } = await new Rereading(reader, chain).of([elsewhere]);
    expect([[...found.keys()], [...gone]]).toEqual([[], [txHash]]);
  });

  it('is gone when no block has the transaction', async () => {
    const txHash = parseHash(`0x${'dd'.repeat(32)}`);
    const { found, gone } = await new Rereading(reader, chain).of(stored(txHash));
    expect([[...found.keys()], [...gone]]).toEqual([[], [txHash]]);
  });

  it('is neither found nor gone while nobody answers', async () => {
    chain.faults.receipt = () => ({ kind: 'unavailable', message: 'no answer' });
    const { found, gone } = await new Rereading(reader, chain).of(stored(hashes[0]));
    expect([[...found.keys()], [...gone]]).toEqual([[], []]);
  });
});

describe('a block that proves nothing', () => {
  it('is no news: there are chains of which none does', async () => {
    const warnings = [jest.spyOn(log, 'warn'), jest.spyOn(log, 'error'), jest.spyOn(log, 'info')];
    await reader.atOnce(chain, block, hashes);
    for (const warning of warnings) expect(warning).not.toHaveBeenCalled();
  });
});
