import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import { CrashPoints } from '../../../kernel/crash-points.js';
import { groupBy } from '../../../kernel/group-by.js';
import { signerKey } from '../../../kernel/signer-id.js';
import { FairAsk, type Told } from '../../../platform/scheduling/fair-ask.js';
import { Pauses } from '../../../platform/scheduling/pause.js';
import {
  BLOB_BYTES,
  type BlobSidecar,
  type BroadcastOutcome,
  CELLS_PER_BLOB,
  type ChainConnector,
  type SignedBytes,
} from '../../chain/index.js';
import type { Lease } from '../../signers/index.js';
import { type Attempt, BlobRepository, type ManagedTx, mayBeInPool, WriteChanges } from '../../ledger/index.js';
import { outcomeOf } from '../domain/send-verdict.js';
import { ClassifySends } from './classify-sends.js';
import { RecordSends } from './record-sends.js';
import type { AnsweredSend, Sending } from './send.js';

/** As many as fit into one request. */
const BATCH_SIZE_TXS = 100;
const STILL_OUT: BroadcastOutcome = { kind: 'unknown', errorClass: 'transient', message: 'no node answered in time' };
const HELD_BACK: BroadcastOutcome = {
  kind: 'not_sent',
  message: 'not sent, because an earlier send of this signer has no answer yet',
};

/** The commitment and the proofs of a blob of zeros: the point at infinity. */
const INFINITY = Buffer.alloc(48);
INFINITY[0] = 0xc0;
/** The blob of no-ops that compete with blob transactions. */
const EMPTY_BLOB: BlobSidecar = {
  blobs: [Buffer.alloc(BLOB_BYTES)],
  commitments: [INFINITY],
  blobProofs: [INFINITY],
  cellProofs: [Buffer.concat(Array.from({ length: CELLS_PER_BLOB }, () => INFINITY))],
};

/**
 * Sends committed bytes in nonce order and records the answers: for first sends, recovery and resends. No signer waits for the answers to
 * another one. What has no answer in time counts as sent (docs/invariants.md, I6). Until it has one, its signer sends nothing else: a node may
 * refuse a nonce before it knows the lower ones.
 */
@Injectable()
export class BroadcastAttempts {
  private readonly sends: FairAsk<Sending, BroadcastOutcome>;

  constructor(
    private readonly write: WriteChanges,
    private readonly blobs: BlobRepository,
    private readonly classify: ClassifySends,
    private readonly record: RecordSends,
    private readonly crashPoints: CrashPoints,
    clock: Clock,
    { pause }: Pauses,
  ) {
    const actorOf = ({ attempt }: Sending): string => signerKey(attempt.signer);
    const keyOf = ({ attempt }: Sending): string => attempt.txHash;
    this.sends = new FairAsk({ actorOf, keyOf, batches: sendBatches }, clock, pause);
  }

  /** @returns the txs whose payloads the nodes refused: no-ops for their nonces are due at once */
  async execute(
    chain: ChainConnector,
    leases: readonly Lease[],
    sendings: readonly Sending[],
  ): Promise<readonly ManagedTx[]> {
    if (sendings.length === 0) return [];
    await this.markAsResent(leases, sendings);
    const told = await this.sends.execute(sendings, async (batch) =>
      chain.broadcast(await this.withSidecars(batch.map(({ attempt }) => attempt))),
    );
    this.crashPoints.reached('after_broadcast');
    const refused = await this.record.execute(leases, await this.classify.execute(chain, told.map(answered)));
    this.crashPoints.reached('after_record');
    return refused;
  }

  /** Stores attempts that no pool has as SIGNED before they are sent again: until the answer is stored, one may have them (see {@link asFound}). */
  private markAsResent(leases: readonly Lease[], sendings: readonly Sending[]): Promise<void> {
    const resent = sendings.map(({ attempt }) => attempt).filter((attempt) => !mayBeInPool(attempt));
    return this.write.execute(leases, 'resend', { attempts: { resent } });
  }

  /**
   * Adds the blobs to the attempts of type 3. All attempts of a tx share one stored sidecar; their bytes do not contain it. Reads the database
   * only when there are blobs of clients.
   */
  private async withSidecars(attempts: readonly Attempt[]): Promise<SignedBytes[]> {
    const withBlobs = attempts.filter(({ type, kind }) => type === 3 && kind === 'payload');
    const txIds = [...new Set(withBlobs.map(({ txId }) => txId))];
    const sidecars = txIds.length === 0 ? new Map<string, BlobSidecar>() : await this.blobs.sidecars(txIds);
    return attempts.map(({ txHash: hash, raw, type, kind, txId }) => {
      if (type !== 3) return { hash, raw };
      // Without its sidecar a node refuses it.
      const sidecar = kind === 'payload' ? sidecars.get(txId) : EMPTY_BLOB;
      return sidecar ? { hash, raw, sidecar } : { hash, raw };
    });
  }
}

/**
 * Groups sends into batches. All sends of a signer go into one batch, in nonce order, because a node may refuse a nonce before it knows the
 * lower ones. Signers do not depend on each other, so batches are sent in parallel: to a distant node, one round trip is most of a lane
 * step.
 */
export function sendBatches<Item extends { readonly attempt: Pick<Attempt, 'signer' | 'nonce'> }>(
  items: readonly Item[],
): Item[][] {
  const ordered = [...items].sort((a, b) => (a.attempt.nonce < b.attempt.nonce ? -1 : 1));
  const batches: Item[][] = [];
  for (const own of groupBy(ordered, ({ attempt }) => signerKey(attempt.signer)).values()) {
    const last = batches.at(-1);
    if (last && last.length + own.length <= BATCH_SIZE_TXS) last.push(...own);
    else batches.push(own);
  }
  return batches;
}

function answered(told: Told<Sending, BroadcastOutcome>): AnsweredSend {
  const { tx, attempt } = told.item;
  if (told.kind === 'held_back') return { tx, attempt, outcome: outcomeOf(attempt, HELD_BACK) };
  if (told.kind === 'unanswered') return { tx, attempt, outcome: outcomeOf(attempt, STILL_OUT) };
  // The first send of these bytes may still arrive, so a refusal of the second one proves nothing.
  const isInDoubt = told.again && attempt.status !== 'ACCEPTED';
  const sent: Attempt = isInDoubt ? { ...attempt, status: 'UNKNOWN' } : attempt;
  return { tx, attempt: sent, outcome: outcomeOf(sent, told.answer) };
}
