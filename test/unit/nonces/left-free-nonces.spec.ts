import { beforeEach, expect, it } from '@jest/globals';
import type { ReceiptLookup } from '../../../src/modules/chain/index.js';
import { LostCommitsRepository, type ManagedTx, ManagedTxRepository } from '../../../src/modules/ledger/index.js';
import type { FillNonceGaps } from '../../../src/modules/nonces/application/fill-nonce-gaps.js';
import { LeftFreeNonces } from '../../../src/modules/nonces/application/left-free-nonces.js';
import { aHash, aLease, aManagedTx, aReceipt, aSigner } from '../../support/builders.js';
import { KeysOf } from '../../support/fakes/fake-node.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { ModelChain, ModelChains } from '../../support/model-chain.js';

const SIGNER = aSigner();
const FROM = { signer: SIGNER, nonce: 5n };

let chain: ModelChain;
let consumed: { nonce: bigint; txId: string | null }[];
let txs: ManagedTx[];
/** What the endpoints agree on, beside the block. */
let told: ReceiptLookup;
let asked: unknown[][];
let filled: unknown[][];
let custody: KeysOf;
let leftFree: LeftFreeNonces;

/** A tx whose execution failed in block 1, and is final. */
function aFailure(overrides: Parameters<typeof aReceipt>[0] = {}, nonce = 5n): ManagedTx {
  const receipt = {
    blockNumber: 1,
    blockHash: chain.blockAt(1)?.hash ?? aHash(0),
    status: 'reverted',
    ...overrides,
  } as const;
  const tx = aManagedTx({ txId: 'failed', signer: SIGNER }).allocated(nonce).sent().mined(receipt).build();
  tx.settled('execution reverted', null);
  return tx;
}

beforeEach(() => {
  chain = new ModelChain();
  chain.mineEmpty(3);
  txs = [aFailure()];
  consumed = [{ nonce: 5n, txId: 'failed' }];
  told = { kind: 'found', receipt: aReceipt({ ...txs[0]?.progress.receipt }) };
  [asked, filled, custody] = [[], [], new KeysOf([])];
  chain.agreedReceipts = async (known) => known.map(() => told);
  leftFree = new LeftFreeNonces(
    new ModelChains(chain),
    fakeOf(LostCommitsRepository, { consumedFrom: async (...args) => (asked.push(args), consumed) }),
    fakeOf(ManagedTxRepository, { byIds: async (ids) => txs.filter(({ id }) => ids.includes(id)) }),
    { fill: async (...args: unknown[]) => void filled.push(args) } as unknown as FillNonceGaps,
    custody,
  );
});

it('are those of transactions that failed in blocks that the chain has', async () => {
  const left = await leftFree.find(FROM, 7);
  expect(left).toMatchObject([{ signer: SIGNER, nonce: 5n, leftBy: { id: 'failed' } }]);
  expect(asked).toEqual([[FROM, 10_001]]);
});

it('are as few as are asked for, and what is above these decides all the same', async () => {
  expect(await leftFree.find(FROM, 0)).toEqual([]);
  consumed.push({ nonce: 6n, txId: null });
  expect([await leftFree.find(FROM, 0), await leftFree.find(FROM, 1)]).toEqual([null, null]);
});

it('are not known when there are more than one call may fill', async () => {
  consumed = Array.from({ length: 10_001 }, () => ({ nonce: 5n, txId: 'failed' }));
  expect(await leftFree.find(FROM, 7)).toBeNull();
});

it('are none when nothing that we call used is at the chain', async () => {
  consumed = [];
  expect(await leftFree.find(FROM, 7)).toEqual([]);
});

it.each([
  ['a foreign transaction used one', () => void consumed.push({ nonce: 6n, txId: null })],
  ['the row of one is gone', () => void (txs = [])],
  ['one was executed', () => void (txs = [aFailure({ status: 'success' })])],
  ['one has another nonce by now', () => void (txs = [aFailure({}, 4n)])],
  ['another block is at the height of one', () => void (txs = [aFailure({ blockHash: aHash(9) })])],
  ['no endpoint has its block', () => void (txs = [aFailure({ blockNumber: 99 })])],
  ['the endpoints show no receipt of one', () => void (told = { kind: 'none' })],
  ['they do not agree on it', () => void (told = { kind: 'unavailable', message: 'no' })],
  [
    'they show that it was executed',
    () => void (told = { kind: 'found', receipt: aReceipt({ ...txs[0]?.progress.receipt, status: 'success' }) }),
  ],
  [
    'they show it in another block',
    () => void (told = { kind: 'found', receipt: aReceipt({ status: 'reverted', blockHash: aHash(8) }) }),
  ],
] as [string, () => void][])('are not known when %s', async (_words, change) => {
  change();
  expect(await leftFree.find(FROM, 7)).toBeNull();
});

it('get fills under the lease of their signer', async () => {
  const left = (await leftFree.find(FROM, 7)) ?? [];
  expect(await leftFree.fill(aLease(SIGNER), left)).toEqual([5n]);
  expect(filled).toEqual([[SIGNER.chainId, [aLease(SIGNER)], left]]);
});

it('get none where outside senders have the key', async () => {
  custody.external = [SIGNER];
  expect([await leftFree.fill(aLease(SIGNER), (await leftFree.find(FROM, 7)) ?? []), filled]).toEqual([[], []]);
});
