import { Injectable } from '@nestjs/common';
import { ExecutionConfig } from '../../../config/lockstep-config.js';
import { Clock } from '../../../kernel/clock.js';
import { messageOf } from '../../../kernel/errors.js';
import { signerKey } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import type { ChainConnector } from '../../chain/index.js';
import { FencedUnitOfWork, type Lease, leasesFor } from '../../signers/index.js';
import {
  LaneMemory,
  ManagedTx,
  ManagedTxRepository,
  type PendingTx,
  type QueuePosition,
  type SignerRoom,
  type StoredRequest,
  TxMetrics,
} from '../../transactions/index.js';
import { SimulatePending } from './simulate-pending.js';

/** A waiting tx that is worth a nonce. */
export interface ReadyTx {
  readonly tx: ManagedTx;
  readonly request: StoredRequest;
  readonly gasLimit: bigint;
}

/** With the lease that it is for. */
type LaneRoom = SignerRoom & { readonly lease: Lease; readonly after: QueuePosition | null };

const QUARANTINE_MS = 60_000;

/** Looks at waiting txs before they get a nonce: what will revert, is expired or cannot be paid burns none. */
@Injectable()
export class PreparePending {
  constructor(
    private readonly repository: ManagedTxRepository,
    private readonly judge: SimulatePending,
    private readonly unitOfWork: FencedUnitOfWork,
    private readonly config: ExecutionConfig,
    private readonly memory: LaneMemory,
    private readonly clock: Clock,
    private readonly metrics: TxMetrics,
    private readonly log: Log,
  ) {}

  async execute(chain: ChainConnector, leases: readonly Lease[]): Promise<ReadyTx[]> {
    const pending = await this.next(leases);
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

  private async next(leases: readonly Lease[]): Promise<PendingTx[]> {
    const rooms = await this.rooms(leases);
    const startedAtMs = this.clock.monotonicMs();
    const pending = await this.repository.nextPending(rooms);
    const tookMs = this.clock.monotonicMs() - startedAtMs;
    const last = new Map(
      pending
        .filter(({ wasTried }) => !wasTried)
        .map(({ tx, request }) => [signerKey(tx.signer), { priority: request.priority, txId: tx.id }]),
    );
    for (const { lease, after } of rooms)
      this.memory.queueRead(lease, after, tookMs, last.get(signerKey(lease.signer)) ?? null);
    return pending;
  }

  /** Below `maxInFlight`, and no more than a batch. */
  private async rooms(leases: readonly Lease[]): Promise<LaneRoom[]> {
    const { maxInFlight, batchSize } = this.config;
    const roomOf = (lease: Lease): number =>
      Math.min(batchSize, maxInFlight - (this.memory.inFlight(lease) ?? maxInFlight));
    const short = leases.filter((lease) => roomOf(lease) < batchSize && this.memory.mayCountInFlight(lease));
    const counts = await this.repository.countInFlight(
      short.map((lease) => lease.signer),
      maxInFlight,
    );
    short.forEach((lease, index) => this.memory.countedInFlight(lease, counts[index] ?? maxInFlight));
    return leases
      .map((lease) => ({ lease, signer: lease.signer, room: roomOf(lease), after: this.memory.queueStart(lease) }))
      .filter(({ room }) => room > 0);
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
