import { Injectable } from '@nestjs/common';
import { ExecutionConfig } from '../../../config/lockstep-config.js';
import { messageOf } from '../../../kernel/errors.js';
import { groupBy } from '../../../kernel/group-by.js';
import { signerKey, type SignerId, signersOf } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import type { ChainConnector } from '../../chain/index.js';
import { type Lease, leasesFor } from '../../signers/index.js';
import { ManagedTx, ManagedTxRepository, type StoredRequest, WriteChanges } from '../../transactions/index.js';
import { NextPending } from './next-pending.js';
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
}

type Ending = { readonly tx: ManagedTx; readonly apply: (tx: ManagedTx) => void };

const QUARANTINE_MS = 60_000;

/** Simulates waiting txs before they get a nonce: a tx that would revert, is expired or cannot be paid uses no nonce. */
@Injectable()
export class PreparePending {
  constructor(
    private readonly next: NextPending,
    private readonly simulate: SimulatePending,
    private readonly repository: ManagedTxRepository,
    private readonly write: WriteChanges,
    private readonly config: ExecutionConfig,
    private readonly log: Log,
  ) {}

  async execute(chain: ChainConnector, leases: readonly Lease[]): Promise<PreparedTxs> {
    const pending = await this.next.execute(leases);
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
    this.next.leftWaiting(
      signersOf(pending.flatMap(({ tx }, index) => (verdicts[index]?.kind === 'parked' ? [tx] : []))),
    );
    return { ready, full: signersWithFullBatch(ready, this.config.batchSize) };
  }

  /** Sets aside a tx that fails for an unknown reason. This is a bug, and an operator has to read the logged error. */
  async quarantine(leases: readonly Lease[], { tx }: ReadyTx, error: unknown): Promise<void> {
    this.log.error('transaction set aside', { txId: tx.id, error });
    await this.end(leases, [{ tx, apply: (copy) => copy.postponed(null, QUARANTINE_MS, messageOf(error)) }]);
  }

  /** Skips txs that are not PENDING any more: a request may have changed them since they were read. */
  private async end(leases: readonly Lease[], endings: readonly Ending[]): Promise<void> {
    if (endings.length === 0) return;
    const covered = leasesFor(
      leases,
      endings.map(({ tx }) => tx.signer),
    );
    await this.write.underFence(covered, 'end_pending', async (fence) => {
      const waiting = await this.repository.lockPending(
        fence,
        endings.map(({ tx }) => tx),
      );
      return { txs: endings.filter(({ tx }) => waiting.has(tx.id)).map(ended) };
    });
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
