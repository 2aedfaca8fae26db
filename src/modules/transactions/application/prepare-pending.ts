import { Injectable } from '@nestjs/common';
import { ExecutionConfig } from '../../../config/lockstep-config.js';
import { messageOf } from '../../../kernel/errors.js';
import { Log } from '../../../platform/logging/log.js';
import type { ChainConnector } from '../../chain/index.js';
import { FencedUnitOfWork, type Lease } from '../../signers/index.js';
import { ManagedTxRepository, type SignerRoom } from '../domain/managed-tx.repository.js';
import { ManagedTx } from '../domain/managed-tx.js';
import type { StoredRequest } from '../domain/tx-request.js';
import { JudgePending } from './judge-pending.js';
import { LaneMemory } from './lane-memory.js';
import { leasesFor } from './leases-for.js';
import { TxMetrics } from './tx-metrics.js';

/** A waiting tx that is worth a nonce. */
export interface ReadyTx {
  readonly tx: ManagedTx;
  readonly request: StoredRequest;
  readonly gasLimit: bigint;
}

const QUARANTINE_MS = 60_000;

/** Looks at waiting txs before they get a nonce: what will revert, is expired or cannot be paid burns none. */
@Injectable()
export class PreparePending {
  constructor(
    private readonly repository: ManagedTxRepository,
    private readonly judge: JudgePending,
    private readonly unitOfWork: FencedUnitOfWork,
    private readonly config: ExecutionConfig,
    private readonly memory: LaneMemory,
    private readonly metrics: TxMetrics,
    private readonly log: Log,
  ) {}

  async execute(chain: ChainConnector, leases: readonly Lease[]): Promise<ReadyTx[]> {
    const pending = await this.repository.nextPending(await this.rooms(leases));
    const verdicts = await this.judge.execute(chain, pending);
    const ready = pending.flatMap(({ tx, request }, index): ReadyTx[] => {
      const verdict = verdicts[index];
      return verdict?.kind === 'ready' ? [{ tx, request, gasLimit: verdict.gasLimit }] : [];
    });
    const ended = pending.flatMap(({ tx }, index) => {
      const verdict = verdicts[index];
      return verdict?.kind === 'not_now' ? [{ tx, apply: verdict.apply }] : [];
    });
    await this.end(leases, ended);
    return ready;
  }

  /** Sets aside a tx that cannot be processed although nothing is known to be wrong with it: a bug, and somebody must look. */
  async quarantine(leases: readonly Lease[], { tx }: ReadyTx, error: unknown): Promise<void> {
    this.log.error('transaction set aside', { txId: tx.id, error });
    await this.end(leases, [{ tx, apply: (copy) => copy.postponed(null, QUARANTINE_MS, messageOf(error)) }]);
  }

  /** Below `maxInFlight`, and no more than a batch. */
  private async rooms(leases: readonly Lease[]): Promise<SignerRoom[]> {
    const { maxInFlight, batchSize } = this.config;
    const roomOf = (lease: Lease): number =>
      Math.min(batchSize, maxInFlight - (this.memory.inFlight(lease) ?? maxInFlight));
    const short = leases.filter((lease) => roomOf(lease) < batchSize && this.memory.mayCountInFlight(lease));
    const counts = await this.repository.countInFlight(
      short.map((lease) => lease.signer),
      maxInFlight,
    );
    short.forEach((lease, index) => this.memory.countedInFlight(lease, counts[index] ?? maxInFlight));
    return leases.map((lease) => ({ signer: lease.signer, room: roomOf(lease) })).filter(({ room }) => room > 0);
  }

  private async end(
    leases: readonly Lease[],
    ended: readonly { readonly tx: ManagedTx; readonly apply: (tx: ManagedTx) => void }[],
  ): Promise<void> {
    if (ended.length === 0) return;
    const saved = await this.unitOfWork.run(
      leasesFor(
        leases,
        ended.map(({ tx }) => tx.signer),
      ),
      'end_pending',
      async (fence) => {
        const waiting = await this.repository.lockPending(
          fence,
          ended.map(({ tx }) => tx.id),
        );
        const copies = ended
          .filter(({ tx }) => waiting.has(tx.id))
          .map(({ tx, apply }) => {
            const copy = ManagedTx.rehydrate(tx.progress);
            apply(copy);
            return copy;
          });
        await this.repository.save(fence, copies);
        return copies;
      },
    );
    this.metrics.entered(saved);
  }
}
