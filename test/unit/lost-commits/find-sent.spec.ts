import { beforeEach, describe, expect, it } from '@jest/globals';
import type { SignerId } from '../../../src/kernel/signer-id.js';
import type { ChainConnector } from '../../../src/modules/chain/index.js';
import type { Findings } from '../../../src/modules/lost-commits/application/findings.js';
import { FindSent } from '../../../src/modules/lost-commits/application/find-sent.js';
import type {
  LostCommitsRepository,
  SignerOutlook,
} from '../../../src/modules/lost-commits/domain/lost-commits.repository.js';
import { aHash, aSigner } from '../../support/builders.js';

const SIGNER = aSigner();

it('a transaction that is mined while it is looked for is found: in the pool, or then in its block', async () => {
  const sent = { nonce: 5n, hash: aHash(5) };
  let isMined = false;
  /** Right after each look at the pool or at the blocks, the transaction moves from the one to the other. */
  const look = async (hasIt: boolean): Promise<readonly (typeof sent)[]> => {
    isMined = true;
    return hasIt ? [sent] : [];
  };
  const chain = {
    accountCounts: async () => [{ latest: isMined ? 6n : 5n, pending: 6n }],
    pooledOf: async () => [{ transactions: await look(!isMined), hiddenBelow: 0n, shown: true }],
    minedOf: async () => [{ transactions: await look(isMined), complete: true }],
  };
  const outlook = { signer: SIGNER, cursor: 5n, open: [], known: true, suspect: false };
  const lost = { outlook: async () => [outlook], waitingSince: async () => 1_700_000_000 };
  const [findings] = await new FindSent(lost as unknown as LostCommitsRepository).execute(
    chain as unknown as ChainConnector,
    [SIGNER],
  );
  expect(findings?.unknown).toEqual([sent]);
});

const OTHER = aSigner(2);
const CREATED_AT = 1_700_000_000;
const sentAt = (nonce: bigint) => ({ nonce, hash: aHash(nonce) });

describe('what is out of signers', () => {
  /** By address. */
  let outlooks: SignerOutlook[];
  let counts: Map<string, { latest: bigint; pending: bigint }>;
  let pooled: Map<string, object>;
  let mined: Map<string, object>;
  /** Null when nothing waits. */
  let waitingSince: number | null;
  let calls: unknown[][];

  const chain = {
    accountCounts: async (accounts: readonly string[]) => {
      calls.push(['counts', ...accounts]);
      return accounts.flatMap((account) => counts.get(account) ?? []);
    },
    pooledOf: async (questions: readonly { account: string }[]) => {
      calls.push(['pooled', ...questions]);
      return questions.map(({ account }) => pooled.get(account));
    },
    minedOf: async (questions: readonly { account: string }[]) => {
      if (questions.length > 0) calls.push(['mined', ...questions]);
      return questions.map(({ account }) => mined.get(account));
    },
  };
  const find = (...signers: readonly SignerId[]): Promise<Findings[]> =>
    new FindSent({
      outlook: async () => outlooks,
      waitingSince: async () => waitingSince,
    } as unknown as LostCommitsRepository).execute(chain as unknown as ChainConnector, signers);

  const outlook = (signer = SIGNER, overrides: Partial<SignerOutlook> = {}): SignerOutlook => ({
    signer,
    cursor: 5n,
    open: [],
    known: true,
    suspect: false,
    ...overrides,
  });

  beforeEach(() => {
    [outlooks, calls, waitingSince] = [[outlook(SIGNER), outlook(OTHER)], [], CREATED_AT];
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

  it('is looked for per signer: the blocks of one are not those of another', async () => {
    for (const { address } of [SIGNER, OTHER]) counts.set(address, { latest: 6n, pending: 6n });
    outlooks = [outlook(SIGNER, { known: false }), outlook(OTHER)];
    mined.set(OTHER.address, { transactions: [sentAt(5n)], complete: true });
    const found = await find(SIGNER, OTHER);
    expect(found.map(({ unknown }) => unknown)).toEqual([[], [sentAt(5n)]]);
  });
});
