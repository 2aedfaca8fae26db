import { Injectable } from '@nestjs/common';
import { Conflict, Unavailable } from '../../../kernel/errors.js';
import { type Nonce, signerKey, type SignerId } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import { type AgreedCount, type ChainConnector, Chains } from '../../chain/index.js';
import {
  FencedUnitOfWork,
  type Lease,
  LeaseManager,
  NodeRegistry,
  NonceLedger,
  NotLeader,
  SignerWorkers,
} from '../../signers/index.js';
import { Doorbell, LaneMemory } from '../../transactions/index.js';
import { type Reconciliation, ReconcileSigner } from '../../lost-commits/index.js';

/** What a person sees of an alignment that was asked for. */
export interface SyncReport {
  readonly signer: SignerId;
  /** What the endpoints of the chain agree on, by the evidence of `raise_cursor`. */
  readonly chain: AgreedCount;
  /** Next nonce as of `pending`, as one endpoint tells it. */
  readonly pending: Nonce;
  readonly cursor: { readonly before: Nonce | null; readonly after: Nonce };
  /** Nonces below our lowest slot that nobody had: freed now for payloads and no-ops, and how many are left. */
  readonly gap: { readonly freed: number; readonly remaining: number };
  /** Transactions of the signer that were out, and that the database did not know. */
  readonly recovered: Reconciliation['found'];
}

/**
 * A person's way to align a signer with its chain: the cursor is raised to what the endpoints agree on, without a second look, and a gap
 * of any size is freed, a piece at each call. The cursor is never lowered: what was signed above it may be out.
 */
@Injectable()
export class SyncSigner {
  constructor(
    private readonly chains: Chains,
    private readonly leases: LeaseManager,
    private readonly nodes: NodeRegistry,
    private readonly reconcile: ReconcileSigner,
    private readonly workers: SignerWorkers,
    private readonly unitOfWork: FencedUnitOfWork,
    private readonly ledger: NonceLedger,
    private readonly memory: LaneMemory,
    private readonly doorbell: Doorbell,
    private readonly log: Log,
  ) {}

  /**
   * @param atMost nonces of a gap to free; each that no payload takes costs a no-op
   * @param vouches the person says that nothing else of the signer is out, or may be executed twice
   * @throws Conflict `signer_held` when what is out is not known, and nobody vouches
   * @throws NotLeader when another node acts for the signer
   * @throws Unavailable `nonce_not_known` when too few endpoints tell a count
   */
  async execute(signer: SignerId, atMost: number, vouches = false): Promise<SyncReport> {
    const chain = this.chains.get(signer.chainId);
    const { held, found } = await this.reconcile.execute(signer, vouches);
    if (held)
      throw new Conflict(
        'signer_held',
        'the database lost commits, and not everything that is out of this signer is known',
        'wait until its pool is empty, or repeat the call with vouch=true when nothing else is out',
        { ...signer },
      );
    // On the worker of the signer, between two steps of its lane.
    return this.workers.forChain(signer.chainId).run(signerKey(signer), async () => {
      const [lease] = await this.leases.acquireOrRenew([signer]);
      if (!lease) throw new NotLeader(signer, await this.nodes.holderOf(signer));
      return { ...(await this.align(chain, lease, atMost)), recovered: found };
    });
  }

  private async align(chain: ChainConnector, lease: Lease, atMost: number): Promise<Omit<SyncReport, 'recovered'>> {
    const { signer } = lease;
    const [agreed] = await chain.agreedCounts([signer.address], 'latest');
    if (!agreed)
      throw new Unavailable(
        'nonce_not_known',
        'too few endpoints of the chain tell the nonce of this signer',
        'see GET /health/ready for its endpoints, and try again',
        { ...signer },
      );
    const [pending = agreed.nonce] = await chain.transactionCounts([signer.address], 'pending');
    const before = (await this.ledger.cursors([signer])).get(signerKey(signer)) ?? null;
    const place = { signer, nonce: agreed.nonce };
    const freed = await this.unitOfWork.run([lease], 'sync', async (fence) => {
      await this.ledger.align(fence, [place]);
      return this.ledger.freeMissing(fence, [place], atMost);
    });
    const [left] = await this.ledger.missing([place]);
    const after = before === null || agreed.nonce > before ? agreed.nonce : before;
    const report = {
      signer,
      chain: agreed,
      pending,
      cursor: { before, after },
      gap: { freed: freed.length, remaining: left?.count ?? 0 },
    };
    this.log.warn('a signer was aligned with its chain by hand', { ...report, signer: signerKey(signer) });
    this.memory.distrustNonce(signer);
    this.memory.gapOpened(signer);
    this.doorbell.ring([signer]);
    return report;
  }
}
