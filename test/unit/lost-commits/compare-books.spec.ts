import { beforeEach, expect, it, jest } from '@jest/globals';
import { SecondObservations } from '../../../src/modules/chain/index.js';
import { type Books, LostCommitsRepository } from '../../../src/modules/ledger/index.js';
import { CompareBooks } from '../../../src/modules/lost-commits/application/compare-books.js';
import { aSigner, DEV_CHAIN } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { ModelChain, ModelChains } from '../../support/model-chain.js';

const SIGNER = aSigner();

let chain: ModelChain;
let books: Books;
let compare: CompareBooks;

beforeEach(() => {
  chain = new ModelChain();
  chain.mineEmpty(20);
  books = { signer: SIGNER, begun: true, usedBelow: 0n, block: 1, origin: [], behind: null };
  compare = new CompareBooks(
    new ModelChains(chain),
    fakeOf(LostCommitsRepository, { books: async () => [books] }),
    new SecondObservations(new FakeClock()),
  );
});

const hashAt = (number: number): string => chain.blockAt(number)?.hash ?? '';

async function look() {
  const [found] = await compare.execute(DEV_CHAIN, [SIGNER]);
  return found;
}

it('a signer that never had a nonce costs no call', async () => {
  const counts = jest.spyOn(chain, 'transactionCounts');
  books = { ...books, begun: false };
  expect([(await look())?.standing, counts.mock.calls]).toEqual(['even', []]);
});

it('the first blocks are told until they are stored, and no endpoint but one is asked after that', async () => {
  const agreed = jest.spyOn(chain, 'agreedBlocks');
  expect(await look()).toMatchObject({ standing: 'even', origin: [hashAt(0), hashAt(1)] });
  books = { ...books, origin: [hashAt(0), hashAt(1)] };
  expect([(await look())?.origin, agreed.mock.calls.length]).toEqual([null, 1]);
});

it('stored first blocks are read only when the chain may be another one, or tells a lower count', async () => {
  books = { ...books, origin: [hashAt(0), hashAt(1)] };
  const blocks = jest.spyOn(chain, 'blocks');
  await compare.execute(DEV_CHAIN, [SIGNER], false);
  expect(blocks).not.toHaveBeenCalled();
  await compare.execute(DEV_CHAIN, [SIGNER], true);
  expect(blocks).toHaveBeenCalledTimes(1);
  chain.reset();
  books = { ...books, usedBelow: 3n };
  await compare.execute(DEV_CHAIN, [SIGNER], false);
  chain.mineEmpty();
  const [found] = await compare.execute(DEV_CHAIN, [SIGNER], false);
  expect(found).toMatchObject({ standing: 'behind', shown: { cause: 'CHAIN_RESET' } });
});

it('a lower count is believed when it is told again at a later block', async () => {
  books = { ...books, usedBelow: 3n, origin: [hashAt(0), hashAt(1)] };
  expect((await look())?.standing).toBe('unknown');
  expect((await look())?.standing).toBe('unknown');
  chain.mineEmpty();
  expect(await look()).toMatchObject({
    standing: 'behind',
    shown: { cause: 'LOWER_NONCE', chainNonce: 0, usedBelow: 3, block: { number: 21 } },
  });
});

it('a count that was lower for a moment leaves nothing behind', async () => {
  books = { ...books, usedBelow: 3n };
  await look();
  books = { ...books, usedBelow: 0n };
  expect((await look())?.standing).toBe('even');
});

it('what the first endpoint says alone decides nothing', async () => {
  books = { ...books, usedBelow: 3n };
  chain.usedCounts = async () => [{ isLower: false, count: 2n, block: null }];
  expect((await look())?.standing).toBe('even');
});

it('another chain is told from ours whatever its count, and nothing is final on ours by its word', async () => {
  books = { ...books, origin: [hashAt(0), hashAt(1)] };
  expect((await compare.onSameChain(DEV_CHAIN, [SIGNER]))(SIGNER)).toBe(true);
  chain.reset({ sameGenesis: true });
  chain.mineEmpty(30);
  await look();
  chain.mineEmpty();
  expect(await look()).toMatchObject({ standing: 'behind', shown: { cause: 'CHAIN_RESET' } });
  expect((await compare.onSameChain(DEV_CHAIN, [SIGNER]))(SIGNER)).toBe(false);
});
