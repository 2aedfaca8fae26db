import { describe, expect, it } from '@jest/globals';
import { PgMinedTxs } from '../../src/modules/ledger/infrastructure/pg-mined-txs.js';
import { aHash, aSigner, DEV_CHAIN } from '../support/builders.js';
import { storedRows, txIdOf } from '../support/stored-rows.js';

const stored = await storedRows();
const txs = new PgMinedTxs(stored.node.database);

const OURS = aSigner(1);
const OTHER = aSigner(2);
const idsOf = (found: readonly { readonly id: string }[]): string[] => found.map(({ id }) => id);
const sortedIdsOf = (found: readonly { readonly id: string }[]): string[] => idsOf(found).sort();
const ids = (...numbers: readonly number[]): string[] => numbers.map(txIdOf);

const mined = (n: number, overrides = {}): Promise<string> => stored.putTx(n, { state: 'MINED', ...overrides });

/** A tx of a signer that consumed its slot in the block of its number. */
async function final(n: number, overrides: Record<string, string | number | null> = {}): Promise<void> {
  const txId = await stored.putTx(n, { state: 'CONFIRMED', ...overrides });
  const { chain_id, signer } = { chain_id: DEV_CHAIN, signer: OURS.address, ...overrides };
  await stored.putSlot(n, 'CONSUMED', { chain_id, signer, tx_id: txId, tx_hash: aHash(n) });
}

async function register(...signers: readonly (typeof OURS)[]): Promise<void> {
  for (const { chainId, address } of signers) await stored.put('signer', { chain_id: chainId, address, custody: '{}' });
}

describe('MINED txs', () => {
  it('are told to be there by their chain and their state', async () => {
    expect(await txs.anyMined(DEV_CHAIN)).toBe(false);
    await stored.putTx(1, { state: 'CONFIRMED' });
    await mined(2, { chain_id: 7 });
    expect(await txs.anyMined(DEV_CHAIN)).toBe(false);
    await mined(3, { ...{ signer: OTHER.address } });
    expect(await txs.anyMined(DEV_CHAIN)).toBe(true);
  });

  it('are found by the hashes of their blocks, of the signers asked', async () => {
    await mined(1);
    await mined(2);
    await mined(3, { signer: OTHER.address, block_hash: aHash(1) });
    await mined(4, { chain_id: 7, block_hash: aHash(1) });
    await stored.putTx(5, { state: 'CONFIRMED', block_hash: aHash(1) });
    expect(idsOf(await txs.minedIn(DEV_CHAIN, [OURS], [aHash(1)]))).toEqual(ids(1));
  });
});

describe('what is deep enough', () => {
  /** By the chain's rule up to block 10; the head is 12, and nothing above 11 is final. */
  const heights = { byRule: 10, head: 12, ceiling: 11 };
  const deep = async (skip = 0, limit = 100): Promise<string[]> =>
    idsOf(await txs.minedUpTo(DEV_CHAIN, [OURS], heights, { skip, limit }));

  it('by the chain’s rule is in the block it names, and below', async () => {
    for (const n of [9, 10, 11]) await mined(n);
    expect(await deep()).toEqual(ids(9, 10));
  });

  it('by its own rule is as many blocks below the head, and not above the ceiling', async () => {
    await mined(9, { confirmations: 3 });
    await mined(10, { confirmations: 3 });
    await mined(11, { confirmations: 1 });
    await mined(12, { confirmations: 0 });
    await mined(8, { confirmations: 0 });
    await mined(5, { confirmations: 7 });
    await mined(6, { confirmations: 7 });
    expect((await deep()).sort()).toEqual(ids(5, 8, 9, 11));
  });

  it('is MINED, of this chain and of the signers asked', async () => {
    for (const confirmations of [null, 1]) {
      const base = confirmations === null ? 0 : 100;
      const own = { confirmations, block_number: 5 };
      await mined(base + 1, own);
      await mined(base + 2, { ...own, signer: OTHER.address });
      await mined(base + 3, { ...own, chain_id: 7 });
      await stored.putTx(base + 4, { ...own, state: 'CONFIRMED' });
    }
    expect((await deep()).sort()).toEqual(ids(1, 101));
  });

  it('comes in pages that leave nothing out and tell nothing twice', async () => {
    for (const n of [1, 2, 3, 4, 5, 6]) await mined(n, { confirmations: n % 2 === 0 ? 2 : null });
    const pages = [await deep(0, 2), await deep(2, 2), await deep(4, 2), await deep(6, 2)];
    expect(pages.map((page) => page.length)).toEqual([2, 2, 2, 0]);
    expect(pages.flat().sort()).toEqual(ids(1, 2, 3, 4, 5, 6));
  });
});

describe('what became final in blocks that are canonical no more', () => {
  it('is found by their hashes, of every signer of the chain', async () => {
    await register(OURS, OTHER, { ...OURS, chainId: 7 });
    for (const n of [10, 11, 12]) await final(n);
    await final(13, { signer: OTHER.address, block_number: 11, block_hash: aHash(11) });
    await final(14, { chain_id: 7, block_number: 11, block_hash: aHash(11) });
    expect(sortedIdsOf(await txs.finalIn(DEV_CHAIN, 11, [aHash(11)]))).toEqual(ids(11, 13));
  });

  it('is found down to the lowest block, with all that was mined in it', async () => {
    await register(OURS);
    for (const n of [8, 9, 10, 11])
      await final(n, { block_number: n < 10 ? n : 10, block_hash: aHash(n < 10 ? n : 10) });
    expect(sortedIdsOf(await txs.finalIn(DEV_CHAIN, 9, [aHash(9), aHash(10)]))).toEqual(ids(9, 10, 11));
    // What was mined below the lowest is not looked at, whatever hash is asked for.
    expect(idsOf(await txs.finalIn(DEV_CHAIN, 10, [aHash(9)]))).toEqual([]);
  });

  it.each(['CONFIRMED', 'FAILED', 'CANCELLED', 'REPLACED', 'DROPPED'])('is found when it is %s', async (state) => {
    await register(OURS);
    const replaced = state === 'REPLACED' ? { replaced_by: txIdOf(99) } : {};
    await final(10, { state, ...replaced, block_number: 10, block_hash: aHash(10), failure_reason: 'x', ...receipt });
    expect(idsOf(await txs.finalIn(DEV_CHAIN, 10, [aHash(10)]))).toEqual(ids(10));
    expect(idsOf(await txs.newestFinal(DEV_CHAIN, null, 5))).toEqual(ids(10));
  });

  it('is not what is in flight again already, nor what only holds its slot', async () => {
    await register(OURS);
    await final(10, { state: 'MINED' });
    await stored.putTx(11, { state: 'CONFIRMED', block_number: 10, block_hash: aHash(10) });
    await stored.putSlot(11, 'HELD', { tx_id: txIdOf(11) });
    expect(idsOf(await txs.finalIn(DEV_CHAIN, 10, [aHash(10)]))).toEqual([]);
    expect(idsOf(await txs.newestFinal(DEV_CHAIN, null, 5))).toEqual([]);
  });
});

/** A state that ended on chain has a receipt, too. */
const receipt = {
  receipt: JSON.stringify({
    txHash: aHash(10),
    blockNumber: 10,
    blockHash: aHash(10),
    transactionIndex: 0,
    status: 'success',
    gasUsed: '1',
    effectiveGasPrice: '1',
    contractAddress: null,
  }),
};

describe('the newest final txs', () => {
  it('are so many of each signer of the chain, by nonce from above', async () => {
    await register(OURS, OTHER, { ...OURS, chainId: 7 });
    for (const n of [1, 2, 3]) await final(n);
    for (const n of [4, 5, 6]) await final(n, { signer: OTHER.address });
    await final(7, { chain_id: 7 });
    expect(sortedIdsOf(await txs.newestFinal(DEV_CHAIN, null, 2))).toEqual(ids(2, 3, 5, 6));
  });

  it('below slots are those of their signers with lower nonces', async () => {
    await register(OURS, OTHER);
    for (const n of [1, 2, 3]) await final(n);
    await final(4, { signer: OTHER.address });
    expect(idsOf(await txs.newestFinal(DEV_CHAIN, [{ signer: OURS, nonce: 3n }], 5))).toEqual(ids(2, 1));
    expect(idsOf(await txs.newestFinal(DEV_CHAIN, [], 5))).toEqual([]);
  });

  it('were in a block: what ended without one is passed over', async () => {
    await register(OURS);
    await final(1);
    await final(2, { state: 'CANCELLED', block_number: null, block_hash: null, receipt: null });
    expect(idsOf(await txs.newestFinal(DEV_CHAIN, null, 1))).toEqual(ids(1));
  });
});
