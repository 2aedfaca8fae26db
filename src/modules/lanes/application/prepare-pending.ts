import { Injectable } from '@nestjs/common';
import { ExecutionConfig } from '../../../config/lockstep-config.js';
import { backoffMs, chanceOf, jittered } from '../../../kernel/backoff.js';
import { Clock } from '../../../kernel/clock.js';
import { messageOf } from '../../../kernel/errors.js';
import { groupBy } from '../../../kernel/group-by.js';
import { signerKey, type SignerId, signersOf } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import type { ChainConnector } from '../../chain/index.js';
import { type Lease, leasesFor } from '../../signers/index.js';
import {
  LaneMemory,
  ManagedTx,
  TxQueue,
  type PendingTx,
  type StoredRequest,
  WriteChanges,
} from '../../ledger/index.js';
import { LaneRooms } from './lane-rooms.js';
import { SimulatePending } from './simulate-pending.js';

/** A waiting tx that may get a nonce. */
export interface ReadyTx {
  readonly tx: ManagedTx;
  readonly request: StoredRequest;
  readonly gasLimit: bigint;
}

export interface PreparedTxs {
  readonly ready: readonly ReadyTx[];
  /** Signers with a full batch of ready txs: more txs may wait. */
  readonly full: readonly SignerId[];
  /** Signers with txs that were set aside: others may wait behind them. */
  readonly cleared: readonly SignerId[];
}

type Ending = { readonly tx: ManagedTx; readonly apply: (tx: ManagedTx) => void };

const QUARANTINE_MS = 60_000;

/** The end of a stop makes them due. This is for a node that dies before it has done so, and doubles up to an hour: a stop may last for days. */
const STOPPED_MS = 600_000;
const LONGEST_STOPPED_MS = 3_600_000;

/**
 * Reads the next waiting txs of each lane, as many as `maxInFlight`, and the limits of the pools, leave room for, and simulates them before they
 * get a nonce: a tx that would revert, is expired or cannot be paid uses no nonce.
 */
@Injectable()
export class PreparePending {
  constructor(
    private readonly simulate: SimulatePending,
    private readonly queue: TxQueue,
    private readonly write: WriteChanges,
    private readonly memory: LaneMemory,
    private readonly rooms: LaneRooms,
    private readonly config: ExecutionConfig,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  async execute(chain: ChainConnector, leases: readonly Lease[]): Promise<PreparedTxs> {
    const found = await this.next(leases);
    const pending = found.filter(({ isStopped }) => !isStopped);
    const cleared = await this.setAsideStopped(
      leases,
      found.flatMap(({ tx, isStopped }) => (isStopped ? [tx] : [])),
    );
    const verdicts = await this.simulate.execute(chain, pending);
    const ready = pending.flatMap(({ tx, request }, index): ReadyTx[] => {
      const verdict = verdicts[index];
      return verdict?.kind === 'ready' ? [{ tx, request, gasLimit: verdict.gasLimit }] : [];
    });
    const endings = pending.flatMap(({ tx }, index): Ending[] => {
      const verdict = verdicts[index];
      return verdict?.kind === 'not_now' ? [{ tx, apply: verdict.apply }] : [];
    });
    await this.end(leases, endings);
    this.memory.rereadQueue(
      signersOf(pending.flatMap(({ tx }, index) => (verdicts[index]?.kind === 'parked' ? [tx] : []))),
    );
    return { ready, full: signersWithFullBatch(ready, this.config.batchSize), cleared };
  }

  /** Sets aside a tx that fails for an unknown reason. This is a bug, and an operator has to read the logged error. */
  async quarantine(leases: readonly Lease[], { tx }: ReadyTx, error: unknown): Promise<void> {
    this.log.error('transaction set aside', { txId: tx.id, error });
    await this.end(leases, [{ tx, apply: (copy) => copy.postponed(null, QUARANTINE_MS, messageOf(error)) }]);
  }

  private async next(leases: readonly Lease[]): Promise<PendingTx[]> {
    const rooms = await this.rooms.of(leases);
    const startedAtMs = this.clock.monotonicMs();
    const pending = await this.queue.nextPending(rooms);
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

  /** So that they are in nobody's way. @returns whose queues are shorter now */
  private async setAsideStopped(leases: readonly Lease[], stopped: readonly ManagedTx[]): Promise<SignerId[]> {
    if (stopped.length === 0) return [];
    const { txs = [] } = await this.write.underFence(
      leasesFor(leases, signersOf(stopped)),
      'set_aside',
      async (fence) => {
        const locked = await this.queue.lockStopped(fence, stopped);
        for (const tx of locked) {
          const pauseMs = backoffMs(STOPPED_MS, tx.equalTries('ACCOUNT_STOPPED'), LONGEST_STOPPED_MS);
          tx.postponed('ACCOUNT_STOPPED', jittered(pauseMs, chanceOf(tx.id)), 'its account is stopped');
        }
        return { txs: locked };
      },
    );
    return signersOf(txs);
  }

  /** Skips txs that are not PENDING any more: a request may have changed them since they were read. */
  private async end(leases: readonly Lease[], endings: readonly Ending[]): Promise<void> {
    if (endings.length === 0) return;
    const covered = leasesFor(
      leases,
      endings.map(({ tx }) => tx.signer),
    );
    const waiting = endings.map(({ tx }) => tx);
    await this.write.ofPending(covered, 'end_pending', waiting, (locked) => ({
      txs: endings.filter(({ tx }) => locked.has(tx.id)).map(ended),
    }));
  }
}

function ended({ tx, apply }: Ending): ManagedTx {
  const copy = ManagedTx.rehydrate(tx.progress);
  apply(copy);
  return copy;
}

function signersWithFullBatch(ready: readonly ReadyTx[], batchSize: number): SignerId[] {
  return [...groupBy(ready, ({ tx }) => signerKey(tx.signer)).values()].flatMap((own) =>
    own[0] && own.length >= batchSize ? [own[0].tx.signer] : [],
  );
}
