import { Injectable } from '@nestjs/common';
import type { SignerId } from '../../../kernel/signer-id.js';
import type { AccountCounts, ChainConnector, MinedTransactions, PooledTransactions } from '../../chain/index.js';
import { LostCommitsRepository, type SignerOutlook } from '../domain/lost-commits.repository.js';
import { Findings, lowestUnknown, mayLack } from './findings.js';

/** Clocks of a database and of whoever makes blocks may be so far apart. */
const CLOCKS_APART_SECONDS = 60;

type Mined = MinedTransactions | null;

/**
 * Finds transactions of signers that are on the chain or in a pool, and that the database does not know. In the common case that is one
 * question for counts: where none is beyond what the database knows, nothing is out.
 */
@Injectable()
export class FindSent {
  constructor(private readonly lost: LostCommitsRepository) {}

  /** @returns of the signers, those for which something may be out that the database does not know */
  async execute(chain: ChainConnector, signers: readonly SignerId[]): Promise<Findings[]> {
    if (signers.length === 0) return [];
    const outlooks = await this.lost.outlook(signers);
    const counts = await countsOf(chain, outlooks);
    const lacking = outlooks.filter((outlook, i) => mayLack(outlook, counts[i]?.pending ?? 0n));
    return lacking.length === 0 ? [] : this.search(chain, lacking);
  }

  /**
   * The pools first, and then the chain: what leaves a pool in between is found in a block. The other way round it would be in
   * neither.
   */
  private async search(chain: ChainConnector, outlooks: readonly SignerOutlook[]): Promise<Findings[]> {
    const questions = outlooks.map((outlook) => ({ account: outlook.signer.address, from: lowestUnknown(outlook) }));
    const pooled = await chain.pooledOf(questions);
    const counts = await countsOf(chain, outlooks);
    const mined = await this.minedOf(chain, outlooks, counts);
    return outlooks.map((outlook, i) => findings(outlook, counts[i], pooled[i], mined[i] ?? null));
  }

  /** Only where nonces were used that we do not know, and something waits that may have used them. */
  private async minedOf(
    chain: ChainConnector,
    outlooks: readonly SignerOutlook[],
    counts: readonly AccountCounts[],
  ): Promise<Mined[]> {
    const since = await Promise.all(
      outlooks.map(async (outlook, i) => {
        const mayBeUsed = outlook.known && lowestUnknown(outlook) < (counts[i]?.pending ?? 0n);
        return mayBeUsed ? this.lost.waitingSince(outlook.signer) : null;
      }),
    );
    const asked = outlooks.flatMap((outlook, i) => {
      const from = since[i] ?? null;
      return from === null ? [] : [{ outlook, since: from - CLOCKS_APART_SECONDS }];
    });
    const answers = await chain.minedOf(
      asked.map(({ outlook, since: from }) => ({
        account: outlook.signer.address,
        from: lowestUnknown(outlook),
        since: from,
      })),
    );
    const answered = new Map(asked.map(({ outlook }, i) => [outlook, answers[i] ?? null]));
    return outlooks.map((outlook) => answered.get(outlook) ?? null);
  }
}

function countsOf(chain: ChainConnector, outlooks: readonly SignerOutlook[]): Promise<AccountCounts[]> {
  return chain.accountCounts(outlooks.map(({ signer }) => signer.address));
}

function findings(
  outlook: SignerOutlook,
  counts: AccountCounts | undefined,
  pooled: PooledTransactions | undefined,
  mined: Mined,
): Findings {
  const { transactions = [], hiddenBelow = 0n, shown = false } = pooled ?? {};
  return new Findings(
    outlook,
    counts?.latest ?? 0n,
    uniqueByHash([...(mined?.transactions ?? []), ...transactions]),
    hiddenBelow,
    shown,
    mined?.complete === false,
  );
}

function uniqueByHash<T extends { readonly hash: string }>(items: readonly T[]): T[] {
  return [...new Map(items.map((item) => [item.hash, item])).values()];
}
