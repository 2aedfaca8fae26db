import { type ChainBehind, LeasedWork, WriteChanges } from '../../ledger/index.js';
import { Injectable } from '@nestjs/common';
import { Conflict, Unavailable } from '../../../kernel/errors.js';
import { maxOf } from '../../../kernel/quantities.js';
import { type Nonce, signerKey, type SignerId } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import { type AgreedCount, type ChainAccounts, Chains } from '../../chain/index.js';
import { type Lease, NonceLedger } from '../../signers/index.js';
import { type Compared, CompareBooks, type Reconciliation, ReconcileSigner } from '../../lost-commits/index.js';
import { type LeftFree, LeftFreeNonces } from './left-free-nonces.js';

/** The result of an alignment; of a preview, what it would be. */
export interface SyncReport {
  readonly signer: SignerId;
  /** The count that the endpoints of the chain agree on, by the evidence of `raise_cursor`. */
  readonly chain: AgreedCount;
  /** Next nonce at `pending`, as one endpoint reports it. */
  readonly pending: Nonce;
  readonly cursor: { readonly before: Nonce | null; readonly after: Nonce };
  /** Unused nonces below our lowest slot: how many were freed now for payloads and fills, and how many are left. */
  readonly gap: { readonly freed: number; readonly remaining: number };
  /** Transactions of the signer that the database did not know. */
  readonly recovered: Reconciliation['found'];
  /** Why the signer is held; null while the chain is not behind our books. */
  readonly behind: ChainBehind['cause'] | null;
  /** Nonces that failed transactions left free, and that fills get, where Lockstep has the key. */
  readonly leftFree: readonly LeftFree[];
  /** Of a preview: why it would be refused; else null. */
  readonly refusal: Refusal | null;
}

interface Refusal {
  readonly detail: string;
  readonly advice: string;
}

/** What the chain says of a signer, beside our cursor. */
type Seen = Pick<SyncReport, 'signer' | 'chain' | 'pending'> & { readonly before: Nonce | null };

const NEW_DATABASE =
  'mend the endpoints if they are wrong; for a chain that was wiped, use a new database (docs/operations.md)';
const REFUSALS = {
  unknown: {
    detail:
      'an endpoint says that the chain was reset, or that fewer nonces of this signer are used than were seen final',
    advice: 'repeat the call when the chain has another block, and look at the endpoints',
  },
  CHAIN_RESET: { detail: 'the first blocks of the chain are others: it was reset', advice: NEW_DATABASE },
  LOWER_NONCE: {
    detail:
      'the chain says that fewer nonces of this signer are used than were seen final, and it does not show that failed transactions left them free',
    advice: NEW_DATABASE,
  },
} as const satisfies Record<string, Refusal>;

/**
 * Aligns a signer with its chain on request of an operator, or of {@link FillLeftFree}. Raises the cursor to the count that the endpoints agree on, without a second
 * observation, and frees a gap of any width, a part with each call. Never lowers the cursor: transactions above it may have been sent. Where
 * failed transactions left their nonces free, fills get these nonces, where Lockstep has the key, and nothing else is done.
 */
@Injectable()
export class SyncSigner {
  constructor(
    private readonly chains: Chains,
    private readonly books: CompareBooks,
    private readonly leftFree: LeftFreeNonces,
    private readonly reconcile: ReconcileSigner,
    private readonly work: LeasedWork,
    private readonly ledger: NonceLedger,
    private readonly write: WriteChanges,
    private readonly log: Log,
  ) {}

  /**
   * @param atMost how many nonces to free or fill; a nonce that no payload takes costs a no-op
   * @param vouches the operator confirms that the signer sent nothing else, or accepts that a payload is executed twice
   * @param dryRun changes nothing, and needs no lease
   * @throws Conflict `chain_behind_books` when the chain was reset, or says that fewer nonces are used than were seen final, and it is not that
   * failed transactions left them free; nothing is changed
   * @throws Conflict `signer_held` when the signer may have sent unknown transactions, and the operator does not vouch
   * @throws NotLeader when another node acts for the signer
   * @throws Unavailable `nonce_not_known` when too few endpoints report a count
   */
  async execute(signer: SignerId, atMost: number, vouches = false, dryRun = false): Promise<SyncReport> {
    const chain = this.chains.get(signer.chainId);
    const [compared] = await this.books.execute(signer.chainId, [signer]);
    const behind = compared?.standing === 'even' ? undefined : compared;
    if (dryRun) return this.preview(chain, signer, atMost, behind);
    if (behind) refuse(behind, refusalOf(behind));
    const { held, found } = await this.reconcile.execute(signer, vouches);
    if (held)
      throw new Conflict(
        'signer_held',
        'the database lost commits, and this signer may have sent transactions that the database does not know',
        'wait until the pools are empty, or repeat the call with vouch=true if this signer has sent nothing else',
        { ...signer },
      );
    return this.work.asOwner(signer, async (lease) => ({
      ...(await (behind ? this.fill(chain, lease, atMost, behind) : this.align(chain, lease, atMost))),
      recovered: found,
    }));
  }

  private async preview(
    chain: ChainAccounts,
    signer: SignerId,
    atMost: number,
    behind: Compared | undefined,
  ): Promise<SyncReport> {
    const seen = await this.look(chain, signer);
    const place = { signer, nonce: seen.chain.nonce };
    if (behind) {
      const early = refusalOf(behind);
      const leftFree = early ? null : await this.leftFree.find(place, atMost);
      return {
        ...reportOf(seen, seen.before ?? 0n, 0, 0),
        behind: behind.shown?.cause ?? null,
        leftFree: leftFree ?? [],
        refusal: leftFree ? null : (early ?? REFUSALS.LOWER_NONCE),
      };
    }
    const [missing] = await this.ledger.missing([place]);
    const count = missing?.count ?? 0;
    const freed = Math.min(count, atMost);
    return reportOf(seen, maxOf(seen.before ?? 0n, place.nonce), freed, count - freed);
  }

  private async fill(chain: ChainAccounts, lease: Lease, atMost: number, behind: Compared): Promise<SyncReport> {
    const report = await this.preview(chain, lease.signer, atMost, behind);
    refuse(behind, report.refusal);
    this.logged(report, await this.leftFree.fill(lease, report.leftFree));
    return report;
  }

  private async align(chain: ChainAccounts, lease: Lease, atMost: number): Promise<SyncReport> {
    const { signer } = lease;
    const seen = await this.look(chain, signer);
    const place = { signer, nonce: seen.chain.nonce };
    const { slots } = await this.write.underFence([lease], 'sync', async (fence) => {
      await this.ledger.align(fence, [place]);
      return { slots: { freed: await this.ledger.freeMissing(fence, [place], atMost) } };
    });
    const [left] = await this.ledger.missing([place]);
    const after = maxOf(seen.before ?? 0n, place.nonce);
    const report = reportOf(seen, after, slots?.freed?.length ?? 0, left?.count ?? 0);
    this.logged(report, []);
    return report;
  }

  private async look(chain: ChainAccounts, signer: SignerId): Promise<Seen> {
    const [agreed] = await chain.agreedCounts([signer.address], 'latest');
    if (!agreed)
      throw new Unavailable(
        'nonce_not_known',
        'too few endpoints of the chain reported the nonce of this signer',
        'check its endpoints with GET /health/ready, then try again',
        { ...signer },
      );
    const [pending = agreed.nonce] = await chain.transactionCounts([signer.address], 'pending');
    const before = (await this.ledger.cursors([signer])).get(signerKey(signer)) ?? null;
    return { signer, chain: agreed, pending, before };
  }

  private logged({ signer, chain, pending, cursor, gap }: SyncReport, filled: readonly Nonce[]): void {
    this.log.warn('signer aligned with its chain', {
      signer: signerKey(signer),
      chain,
      pending,
      cursor,
      gap,
      filled,
    });
  }
}

/** Null when it is proven that the chain is the same, and says that fewer nonces are used. */
function refusalOf({ standing, shown }: Compared): Refusal | null {
  if (standing === 'unknown') return REFUSALS.unknown;
  return shown?.cause === 'CHAIN_RESET' ? REFUSALS.CHAIN_RESET : null;
}

function refuse({ books, shown }: Compared, refusal: Refusal | null): void {
  if (refusal) throw new Conflict('chain_behind_books', refusal.detail, refusal.advice, { ...books.signer, ...shown });
}

/** @param after the cursor */
function reportOf({ before, ...seen }: Seen, after: Nonce, freed: number, remaining: number): SyncReport {
  return {
    ...seen,
    cursor: { before, after },
    gap: { freed, remaining },
    recovered: [],
    behind: null,
    leftFree: [],
    refusal: null,
  };
}
