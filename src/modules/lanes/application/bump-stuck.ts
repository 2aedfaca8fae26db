import { Injectable } from '@nestjs/common';
import { ResubmitConfig } from '../../../config/lockstep-config.js';
import { groupBy } from '../../../kernel/group-by.js';
import { type ChainId, signerKey } from '../../../kernel/signer-id.js';
import { Chains } from '../../chain/index.js';
import { BumpAttempts, isBumpable } from '../../sending/index.js';
import type { Lease } from '../../signers/index.js';
import { BumpWatch, ManagedTxRepository, refusedForPrice, type UnminedTx } from '../../transactions/index.js';
import { type LowTx, nextLook, stuckTxs } from '../domain/stuck-txs.js';

/** Gives the lowest txs of signers that are stuck in a pool a higher price, and remembers when to look again. */
@Injectable()
export class BumpStuck {
  constructor(
    private readonly chains: Chains,
    private readonly repository: ManagedTxRepository,
    private readonly bump: BumpAttempts,
    private readonly watch: BumpWatch,
    private readonly config: ResubmitConfig,
  ) {}

  /** @param head the newest followed block */
  async execute(chainId: ChainId, leases: readonly Lease[], head: number): Promise<void> {
    const signers = leases.map(({ signer }) => signer);
    const unmined = await this.repository.lowestUnmined(signers, this.config.bumpDepth + 1);
    const bySigner = groupBy(unmined.map(toLow), ({ tx }) => signerKey(tx.signer));
    const looks = leases.map((lease) => ({
      lease,
      look: stuckTxs(bySigner.get(signerKey(lease.signer)) ?? [], head, this.config),
    }));
    const due = looks.flatMap(({ look }) => look.due).map((tx) => ({ tx, force: false }));
    const results = await this.bump.execute(this.chains.get(chainId), leases, due);
    for (const { lease, look } of looks) {
      const anyBumped = look.due.some(({ id }) => results.get(id) === 'bumped');
      this.watch.looked(lease, nextLook(look, anyBumped, head, this.config));
    }
  }
}

function toLow({ tx, newest }: UnminedTx): LowTx {
  return {
    tx,
    isBumpable: newest !== null && isBumpable(tx, newest) && tx.progress.subState !== 'NONCE_SYNC',
    pricedAtBlock: newest?.pricedAtBlock ?? null,
    wasTooCheap: newest !== null && refusedForPrice(newest),
  };
}
