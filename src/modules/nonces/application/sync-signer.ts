import { LeasedWork, WriteChanges } from '../../ledger/index.js';
import { Injectable } from '@nestjs/common';
import { Conflict, Unavailable } from '../../../kernel/errors.js';
import { type Nonce, signerKey, type SignerId } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import { type AgreedCount, type ChainAccounts, Chains } from '../../chain/index.js';
import { type Lease, NonceLedger } from '../../signers/index.js';
import { CompareBooks, type Reconciliation, ReconcileSigner } from '../../lost-commits/index.js';

/** The result of an alignment that an operator requested. */
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
}

/**
 * Aligns a signer with its chain on request of an operator. Raises the cursor to the count that the endpoints agree on, without a second
 * observation, and frees a gap of any width, a part with each call. Never lowers the cursor: transactions above it may have been sent.
 */
@Injectable()
export class SyncSigner {
  constructor(
    private readonly chains: Chains,
    private readonly books: CompareBooks,
    private readonly reconcile: ReconcileSigner,
    private readonly work: LeasedWork,
    private readonly ledger: NonceLedger,
    private readonly write: WriteChanges,
    private readonly log: Log,
  ) {}

  /**
   * @param atMost how many nonces of a gap to free; a nonce that no payload takes costs a no-op
   * @param vouches the operator confirms that the signer sent nothing else, or accepts that a payload is executed twice
   * @throws Conflict `chain_behind_books` when the chain was reset, or says that fewer nonces are used than were seen final; nothing is changed
   * @throws Conflict `signer_held` when the signer may have sent unknown transactions, and the operator does not vouch
   * @throws NotLeader when another node acts for the signer
   * @throws Unavailable `nonce_not_known` when too few endpoints report a count
   */
  async execute(signer: SignerId, atMost: number, vouches = false): Promise<SyncReport> {
    const chain = this.chains.get(signer.chainId);
    await this.refuseBehind(signer);
    const { held, found } = await this.reconcile.execute(signer, vouches);
    if (held)
      throw new Conflict(
        'signer_held',
        'the database lost commits, and this signer may have sent transactions that the database does not know',
        'wait until the pools are empty, or repeat the call with vouch=true if this signer has sent nothing else',
        { ...signer },
      );
    return this.work.asOwner(signer, async (lease) => ({
      ...(await this.align(chain, lease, atMost)),
      recovered: found,
    }));
  }

  private async refuseBehind(signer: SignerId): Promise<void> {
    const [found] = await this.books.execute(signer.chainId, [signer]);
    if (!found || found.standing === 'even') return;
    throw new Conflict(
      'chain_behind_books',
      'the chain was reset, or says that fewer nonces of this signer are used than were seen final; nothing is changed',
      'mend the endpoints if they are wrong; for a chain that was wiped, use a new database (docs/operations.md)',
      { ...signer, ...found.shown },
    );
  }

  private async align(chain: ChainAccounts, lease: Lease, atMost: number): Promise<Omit<SyncReport, 'recovered'>> {
    const { signer } = lease;
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
    const place = { signer, nonce: agreed.nonce };
    const { slots } = await this.write.underFence([lease], 'sync', async (fence) => {
      await this.ledger.align(fence, [place]);
      return { slots: { freed: await this.ledger.freeMissing(fence, [place], atMost) } };
    });
    const [left] = await this.ledger.missing([place]);
    const after = before === null || agreed.nonce > before ? agreed.nonce : before;
    const report = {
      signer,
      chain: agreed,
      pending,
      cursor: { before, after },
      gap: { freed: slots?.freed?.length ?? 0, remaining: left?.count ?? 0 },
    };
    this.log.warn('signer aligned with its chain by request', { ...report, signer: signerKey(signer) });
    return report;
  }
}
