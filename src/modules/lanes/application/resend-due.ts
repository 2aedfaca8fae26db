import { Injectable } from '@nestjs/common';
import { ExecutionConfig } from '../../../config/lockstep-config.js';
import { groupBy } from '../../../kernel/group-by.js';
import { type ChainId, signersOf } from '../../../kernel/signer-id.js';
import { actionOf, type ChainConnector, Chains } from '../../chain/index.js';
import { type Lease, LeaseManager } from '../../signers/index.js';
import {
  asFound,
  type Attempt,
  AttemptRepository,
  LeasedWork,
  type ManagedTx,
  ManagedTxRepository,
  TxMetrics,
} from '../../transactions/index.js';
import { BroadcastAttempts, RepricePayloads, SignNoOps } from '../../sending/index.js';
import { FreeNonceGaps } from '../../nonces/index.js';

/** What was signed for a tx, oldest first. */
interface SentTx {
  readonly tx: ManagedTx;
  readonly attempts: readonly Attempt[];
  readonly last: Attempt;
}

/** Sends the same bytes again for what was not mined within `resubmit.interval`: pools forget, nodes restart empty. */
@Injectable()
export class ResendDue {
  constructor(
    private readonly chains: Chains,
    private readonly leases: LeaseManager,
    private readonly work: LeasedWork,
    private readonly repository: ManagedTxRepository,
    private readonly attempts: AttemptRepository,
    private readonly broadcast: BroadcastAttempts,
    private readonly close: SignNoOps,
    private readonly reprice: RepricePayloads,
    private readonly gaps: FreeNonceGaps,
    private readonly config: ExecutionConfig,
    private readonly metrics: TxMetrics,
  ) {}

  async execute(chainId: ChainId): Promise<void> {
    const signers = this.leases.heldOn(chainId).map((lease) => lease.signer);
    if (signers.length === 0) return;
    const due = await this.repository.dueForResubmit(chainId, signers, this.config.batchSize);
    await this.work.run(chainId, due, async (leases, share) => {
      // Read again: the signer's worker may have moved them since.
      const txs = await this.repository.byIds(share.map((tx) => tx.id));
      const open = txs.filter((tx) => tx.state === 'IN_MEMPOOL' || tx.state === 'ALLOCATED');
      await this.sendAgain(this.chains.get(chainId), leases, await this.withAttempts(open));
    });
    await this.gaps.execute(chainId, signersOf(due));
  }

  private async sendAgain(chain: ChainConnector, leases: readonly Lease[], due: readonly SentTx[]): Promise<void> {
    const noOps = await this.close.execute(
      chain,
      leases,
      due.filter(needsNoOp).map(({ tx, attempts }) => ({ tx, rivals: attempts })),
    );
    const repriced = await this.reprice.execute(chain, leases, due);
    const fresh = [...noOps, ...repriced];
    const isFresh = new Set(fresh.map(({ tx }) => tx?.id));
    const sameBytes = due.filter(({ tx }) => !isFresh.has(tx.id)).map(({ tx, last }) => ({ tx, attempt: last }));
    await this.broadcast.execute(chain, leases, [...sameBytes, ...fresh]);
    this.metrics.resubmitted('same_bytes', sameBytes.length);
  }

  private async withAttempts(txs: readonly ManagedTx[]): Promise<SentTx[]> {
    const all = await this.attempts.ofSlots(txs.map((tx) => ({ signer: tx.signer, nonce: tx.nonce })));
    const byTx = groupBy(all, ({ txId }) => txId ?? '');
    return txs.flatMap((tx) => {
      const attempts = (byTx.get(tx.id) ?? []).map(asFound);
      const last = attempts.at(-1);
      return last ? [{ tx, attempts, last }] : [];
    });
  }
}

/** There is none yet, or the last one was refused for what it is: with other gas or another price it may be taken. */
function needsNoOp({ tx, last }: SentTx): boolean {
  if (!tx.isClosing) return false;
  if (last.kind === 'payload') return true;
  if (last.errorClass === null) return false;
  const { response } = actionOf(last.errorClass);
  return response === 'fail_payload' || response === 'reprice' || last.errorClass === 'replacement_underpriced';
}
