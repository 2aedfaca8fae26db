import { Injectable } from '@nestjs/common';
import { ResubmitConfig } from '../../../config/lockstep-config.js';
import { groupBy } from '../../../kernel/group-by.js';
import { type ChainId, signerKey } from '../../../kernel/signer-id.js';
import { Chains, HeadTracker } from '../../chain/index.js';
import { BumpAttempts, isBumpable, refusedForPrice } from '../../sending/index.js';
import { type Lease, LeaseManager } from '../../signers/index.js';
import { BegunWork, BumpWatch, TxsInFlight } from '../../ledger/index.js';
import { nextLook, stuckTxs } from '../domain/stuck-txs.js';

/**
 * Gives the lowest txs of signers that are stuck in a pool a higher price, and remembers when to look again. It looks at the signers for which
 * the time has come, and costs nothing for the others.
 */
@Injectable()
export class BumpDue {
  constructor(
    private readonly chains: Chains,
    private readonly heads: HeadTracker,
    private readonly leases: LeaseManager,
    private readonly watch: BumpWatch,
    private readonly work: BegunWork,
    private readonly inFlight: TxsInFlight,
    private readonly bump: BumpAttempts,
    private readonly config: ResubmitConfig,
  ) {}

  async execute(chainId: ChainId): Promise<void> {
    const head = this.heads.appliedTip(chainId);
    if (head === null || !this.config.enabled) return;
    const due = this.watch.due(chainId, this.leases.heldOn(chainId), head);
    await this.work.run(
      chainId,
      due.map((signer) => ({ signer })),
      (leases) => this.look(chainId, leases, head),
    );
  }

  /** @param head the newest followed block */
  private async look(chainId: ChainId, leases: readonly Lease[], head: number): Promise<void> {
    const signers = leases.map(({ signer }) => signer);
    const unmined = await this.inFlight.lowestUnmined(signers, this.config.bumpDepth + 1);
    const bySigner = groupBy(
      unmined.map(({ tx, newest, isHeld }) => ({
        tx,
        isBumpable: !isHeld && newest !== null && isBumpable(tx, newest) && tx.progress.subState !== 'NONCE_SYNC',
        pricedAtBlock: newest?.pricedAtBlock ?? null,
        wasTooCheap: newest !== null && refusedForPrice(newest),
      })),
      ({ tx }) => signerKey(tx.signer),
    );
    const looks = leases.map((lease) => ({
      lease,
      look: stuckTxs(bySigner.get(signerKey(lease.signer)) ?? [], head, this.config),
    }));
    const due = looks.flatMap(({ lease, look }) => {
      const [lowest] = look.due;
      const mayBeDropped = lowest !== undefined && this.watch.mayResend(lease, lowest.nonce);
      return look.due.map((tx) => ({ tx, force: false, mayBeDropped: mayBeDropped && tx === lowest }));
    });
    const results = await this.bump.execute(this.chains.get(chainId), leases, due);
    for (const { lease, look } of looks) {
      const anyBumped = look.due.some(({ id }) => results.get(id) === 'bumped');
      this.watch.looked(lease, nextLook(look, anyBumped, head, this.config));
    }
  }
}
