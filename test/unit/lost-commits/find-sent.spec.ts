import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Hash } from '../../../src/kernel/hex.js';
import type { SignerId } from '../../../src/kernel/signer-id.js';
import {
  type SentTransaction,
  type PooledTransactions,
  type MinedTransactions,
} from '../../../src/modules/chain/index.js';
import type { Findings } from '../../../src/modules/lost-commits/application/findings.js';
import { FindSent } from '../../../src/modules/lost-commits/application/find-sent.js';
import { AttemptRepository, LostCommitsRepository, type SignerOutlook } from '../../../src/modules/ledger/index.js';
import { EthersChainConnector } from '../../../src/modules/chain/infrastructure/ethers-chain-connector.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { aHash, aSigner, anAttempt } from '../../support/builders.js';
import { aSentTransaction, anOutlook } from '../../support/sent-builders.js';

const SIGNER = aSigner();

/** The attempts that the database has. */
function attemptsWith(...hashes: readonly Hash[]): AttemptRepository {
  return fakeOf(AttemptRepository, {
    byHashes: async (_chain, asked) =>
      hashes.filter((hash) => asked.includes(hash)).map((txHash) => anAttempt({ txHash })),
  });
}

it('a transaction that is mined while it is looked for is found: in the pool, or then in its block', async () => {
  const sent = aSentTransaction({ nonce: 5n });
  let isMined = false;
  /** Right after each look at the pool or at the blocks, the transaction moves from the one to the other. */
  const look = async (hasIt: boolean): Promise<readonly SentTransaction[]> => {
    isMined = true;
    return hasIt ? [sent] : [];
  };
  const chain = fakeOf(EthersChainConnector, {
    accountCounts: async () => [{ latest: isMined ? 6n : 5n, pending: 6n }],
    pooledOf: async () => [{ transactions: await look(!isMined), hiddenBelow: 0n, shown: true }],
    minedOf: async () => [{ transactions: await look(isMined), complete: true }],
  });
  const lost = { outlook: async () => [anOutlook({ cursor: 5n })], waitingSince: async () => 1_700_000_000 };
  const [findings] = await new FindSent(fakeOf(LostCommitsRepository, lost), attemptsWith()).execute(chain, [SIGNER]);
  expect(findings?.unknown).toEqual([sent]);
});

const OTHER = aSigner(2);
const CREATED_AT = 1_700_000_000;
const sentAt = (nonce: bigint) => aSentTransaction({ nonce });

describe('what is out of signers', () => {
  /** By address. */
  let outlooks: SignerOutlook[];
  let counts: Map<string, { latest: bigint; pending: bigint }>;
  let pooled: Map<string, PooledTransactions>;
  let mined: Map<string, MinedTransactions>;
  /** Null when nothing waits. */
  let waitingSince: number | null;
  let calls: unknown[][];
  /** Of the attempts that the database has. */
  let known: Hash[];

  const chain = fakeOf(EthersChainConnector, {
    accountCounts: async (accounts) => {
      calls.push(['counts', ...accounts]);
      return accounts.flatMap((account) => counts.get(account) ?? []);
    },
    pooledOf: async (questions) => {
      calls.push(['pooled', ...questions]);
      return questions.flatMap(
        ({ account }) => pooled.get(account) ?? { transactions: [], hiddenBelow: 0n, shown: false },
      );
    },
    minedOf: async (questions) => {
      if (questions.length > 0) calls.push(['mined', ...questions]);
      return questions.flatMap(({ account }) => mined.get(account) ?? { transactions: [], complete: true });
    },
  });
  const find = (...signers: readonly SignerId[]): Promise<Findings[]> =>
    new FindSent(
      fakeOf(LostCommitsRepository, { outlook: async () => outlooks, waitingSince: async () => waitingSince }),
      attemptsWith(...known),
    ).execute(chain, signers);

  const outlook = (signer = SIGNER, overrides: Partial<SignerOutlook> = {}): SignerOutlook =>
    anOutlook({ signer, cursor: 5n, ...overrides });

  beforeEach(() => {
    [outlooks, calls, waitingSince, known] = [[outlook(SIGNER), outlook(OTHER)], [], CREATED_AT, []];
    counts = new Map([SIGNER, OTHER].map(({ address }) => [address, { latest: 5n, pending: 5n }]));
    [pooled, mined] = [new Map(), new Map()];
  });

  it('costs one question while the chain has nothing beyond what the database knows', async () => {
    expect([await find(SIGNER, OTHER), calls]).toEqual([[], [['counts', SIGNER.address, OTHER.address]]]);
    expect([await find(), calls.length]).toEqual([[], 1]);
  });

  it('is looked for where the chain has more, in pools and then in blocks, from a minute before what waits', async () => {
    counts.set(OTHER.address, { latest: 6n, pending: 8n });
    pooled.set(OTHER.address, { transactions: [sentAt(6n)], hiddenBelow: 8n, shown: false });
    mined.set(OTHER.address, { transactions: [sentAt(5n), sentAt(6n)], complete: true });
    const [findings, ...others] = await find(SIGNER, OTHER);
    const question = { account: OTHER.address, from: 5n };
    expect(calls.slice(1)).toEqual([
      ['pooled', question],
      ['counts', OTHER.address],
      ['mined', { ...question, since: CREATED_AT - 60 }],
    ]);
    expect(others).toEqual([]);
    expect(findings).toMatchObject({ outlook: outlooks[1], latest: 6n, hiddenBelow: 8n, shown: false, unread: false });
    expect(findings?.unknown).toEqual([sentAt(5n), sentAt(6n)]);
  });

  it('is not all known while blocks cannot be read', async () => {
    counts.set(SIGNER.address, { latest: 6n, pending: 6n });
    mined.set(SIGNER.address, { transactions: [], complete: false });
    expect(await find(SIGNER, OTHER)).toMatchObject([{ unread: true }]);
  });

  it.each<[string, () => void]>([
    ['nothing waits', () => void (waitingSince = null)],
    ['nobody acted for the signer before', () => void (outlooks = [outlook(SIGNER, { known: false })])],
  ])('is not looked for in blocks when %s', async (_when, arrange) => {
    counts.set(SIGNER.address, { latest: 6n, pending: 6n });
    arrange();
    expect(await find(SIGNER)).toMatchObject([{ latest: 6n, unknown: [], unread: false }]);
    expect(calls.map(([name]) => name)).toEqual(['counts', 'pooled', 'counts']);
  });

  it('is looked for in a suspect database, in blocks only where nonces are used that it does not know', async () => {
    outlooks = [outlook(SIGNER, { suspect: true })];
    expect(await find(SIGNER)).toMatchObject([{ hiddenBelow: 0n, shown: false, unread: false }]);
    expect(calls.map(([name]) => name)).toEqual(['counts', 'pooled', 'counts']);
  });

  it('is looked for in a suspect database from the lowest nonce in flight on, and is not what the database has', async () => {
    outlooks = [outlook(SIGNER, { suspect: true, inFlightFrom: 2n })];
    counts.set(SIGNER.address, { latest: 3n, pending: 5n });
    pooled.set(SIGNER.address, { transactions: [sentAt(3n), sentAt(4n)], hiddenBelow: 0n, shown: true });
    mined.set(SIGNER.address, { transactions: [sentAt(2n)], complete: true });
    known = [aHash(4n)];
    const [findings] = await find(SIGNER);
    expect(findings?.unknown).toEqual([sentAt(2n), sentAt(3n)]);
    expect(calls.filter(([name]) => name !== 'counts').map(([, question]) => question)).toMatchObject([
      { from: 2n },
      { from: 2n },
    ]);
  });

  it('is looked for per signer: the blocks of one are not those of another', async () => {
    for (const { address } of [SIGNER, OTHER]) counts.set(address, { latest: 6n, pending: 6n });
    outlooks = [outlook(SIGNER, { known: false }), outlook(OTHER)];
    mined.set(OTHER.address, { transactions: [sentAt(5n)], complete: true });
    const found = await find(SIGNER, OTHER);
    expect(found.map(({ unknown }) => unknown)).toEqual([[], [sentAt(5n)]]);
  });
});
