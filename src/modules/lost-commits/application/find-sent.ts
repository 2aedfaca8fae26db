import { Injectable } from '@nestjs/common';
import type { SignerId } from '../../../kernel/signer-id.js';
import type { AccountCounts, ChainAccounts, MinedTransactions } from '../../chain/index.js';
import { AttemptRepository, LostCommitsRepository, mayBeOut, type SignerOutlook } from '../../ledger/index.js';
import { Findings, mayLack, searchedFrom } from './findings.js';

/** How far the clocks of the database and of block producers may differ. */
const MAX_CLOCK_DIFFERENCE_SECONDS = 60;

type Mined = MinedTransactions | null;

/**
 * Finds transactions of signers that are on the chain or in a pool, and that the database does not know. In the common case this costs one
 * call for counts: when no count is above what the database knows, there is no unknown transaction.
 */
@Injectable()
export class FindSent {
  constructor(
    private readonly lost: LostCommitsRepository,
    private readonly attempts: AttemptRepository,
  ) {}

  /** @returns findings for each signer that may have sent transactions that the database does not know */
  async execute(chain: ChainAccounts, signers: readonly SignerId[]): Promise<Findings[]> {
    if (signers.length === 0) return [];
    const outlooks = await this.lost.outlook(signers);
    const counts = await countsOf(chain, outlooks);
    const lacking = outlooks.filter((outlook, i) => mayLack(outlook, counts[i]?.pending ?? 0n));
    return lacking.length === 0 ? [] : this.search(chain, lacking);
  }

  /**
   * Reads the pools first, then the chain: a transaction that is mined in between is found in a block. In the other order it would be found
   * in neither.
   */
  private async search(chain: ChainAccounts, outlooks: readonly SignerOutlook[]): Promise<Findings[]> {
    const queries = outlooks.map((outlook) => ({ account: outlook.signer.address, from: searchedFrom(outlook) }));
    const pooled = await chain.pooledOf(queries);
    const counts = await countsOf(chain, outlooks);
    const mined = await this.minedOf(chain, outlooks, counts);
    const sent = outlooks.map((_, i) =>
      uniqueByHash([...(mined[i]?.transactions ?? []), ...(pooled[i]?.transactions ?? [])]),
    );
    const attempts = await this.attempts.byHashes(
      chain.chainId,
      sent.flat().map(({ hash }) => hash),
    );
    // A tx that was not sent may have given its nonce up, and have got it again: signed at the same price it has the same bytes.
    const known = new Set(attempts.filter(mayBeOut).map(({ txHash }) => txHash));
    // A no-op with the old nonce does not show that the payload is still there: it may have got another nonce for it.
    const seen = attempts.filter(({ kind }) => kind !== 'cancel').map(({ txId, nonce }) => ({ txId, nonce }));
    return outlooks.map((outlook, i) => {
      const { hiddenBelow = 0n, shown = false } = pooled[i] ?? {};
      const lacking = (sent[i] ?? []).filter(({ hash }) => !known.has(hash));
      const unread = mined[i]?.complete === false;
      return new Findings(outlook, counts[i]?.latest ?? 0n, lacking, hiddenBelow, shown, unread, seen);
    });
  }

  /** Reads blocks only for signers with used nonces and with txs that may have used them with bytes that are not known. */
  private async minedOf(
    chain: ChainAccounts,
    outlooks: readonly SignerOutlook[],
    counts: readonly AccountCounts[],
  ): Promise<Mined[]> {
    const since = await Promise.all(
      outlooks.map(async (outlook, i) => {
        const mayBeUsed = outlook.known && searchedFrom(outlook) < (counts[i]?.pending ?? 0n);
        return mayBeUsed ? this.lost.waitingSince(outlook.signer) : null;
      }),
    );
    const asked = outlooks.flatMap((outlook, i) => {
      const from = since[i] ?? null;
      return from === null ? [] : [{ outlook, since: from - MAX_CLOCK_DIFFERENCE_SECONDS }];
    });
    const answers = await chain.minedOf(
      asked.map(({ outlook, since: from }) => ({
        account: outlook.signer.address,
        from: searchedFrom(outlook),
        since: from,
      })),
    );
    const answered = new Map(asked.map(({ outlook }, i) => [outlook, answers[i] ?? null]));
    return outlooks.map((outlook) => answered.get(outlook) ?? null);
  }
}

function countsOf(chain: ChainAccounts, outlooks: readonly SignerOutlook[]): Promise<AccountCounts[]> {
  return chain.accountCounts(outlooks.map(({ signer }) => signer.address));
}

function uniqueByHash<T extends { readonly hash: string }>(items: readonly T[]): T[] {
  return [...new Map(items.map((item) => [item.hash, item])).values()];
}
