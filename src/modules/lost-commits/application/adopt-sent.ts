import {
  type Attempt,
  type ChangeSet,
  ManagedTx,
  ManagedTxRepository,
  NewFills,
  type RequestedTx,
  WriteChanges,
} from '../../transactions/index.js';
import { Injectable } from '@nestjs/common';
import { maxOf } from '../../../kernel/quantities.js';
import { type Nonce, signerKey, type SignerId } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import type { SentTransaction } from '../../chain/index.js';
import { type Fence, type Lease } from '../../signers/index.js';
import { LostCommitsRepository } from '../domain/lost-commits.repository.js';
import { type Match, matchSent } from '../domain/match-sent.js';
import type { Findings } from './findings.js';
import { LostCommitsMetrics } from './lost-commits-metrics.js';

/** Sent transactions of one nonce, and the tx whose attempts they become. */
interface Adopted {
  readonly nonce: Nonce;
  /** The tx gets its slot now; it had none before. */
  readonly isNew: boolean;
  /** A changed copy of the tx. */
  readonly holder: RequestedTx;
  readonly sent: readonly SentTransaction[];
}

/** Each nonce of a gap costs a no-op, so a foreign transaction far above our nonces is ignored. */
const WIDEST_GAP_NONCES = 64n;
const NOTHING: ChangeSet = {};

/**
 * Stores sent transactions that the database did not know: slot, cursor, and the same bytes as an attempt. From then on they are resent and
 * confirmed like every attempt. A transaction without a payload of ours becomes the attempt of a fill: its bytes are resent until its nonce
 * is used, by it or by another transaction, and no payload gets that nonce. Where it has blobs, which nobody here knows, the fill is signed
 * like that of a gap.
 */
@Injectable()
export class AdoptSent {
  constructor(
    private readonly write: WriteChanges,
    private readonly fills: NewFills,
    private readonly repository: ManagedTxRepository,
    private readonly lost: LostCommitsRepository,
    private readonly metrics: LostCommitsMetrics,
    private readonly log: Log,
  ) {}

  /** @returns false when a waiting tx was changed meanwhile; then nothing is written */
  async execute(lease: Lease, findings: Findings): Promise<boolean> {
    const { signer, suspect } = findings.outlook;
    const matches = await this.matchesOf(findings);
    if (matches.length === 0 && !suspect) return true;
    const adopted = this.adopted(signer, matches);
    const written = await this.write.underFence([lease], 'reconcile', async (fence) => {
      if (await this.isStale(fence, adopted)) return NOTHING;
      if (suspect) await this.lost.reconciled(fence, [signer]);
      return changesOf(adopted, this.gapsBetween(findings, adopted, matches));
    });
    if (written === NOTHING) return false;
    this.report(signer, matches);
    return true;
  }

  private async matchesOf({ outlook, latest, unknown }: Findings): Promise<Match[]> {
    const { signer, open, cursor } = outlook;
    if (unknown.length === 0) return [];
    const waiting = outlook.known ? await this.lost.waitingFor(signer, unknown) : [];
    const unsigned = new Set(open.flatMap(({ txId }) => txId ?? []));
    const allocated = unsigned.size === 0 ? [] : await this.repository.allocated([signer]);
    const holders = new Map(allocated.filter(({ tx }) => unsigned.has(tx.id)).map((item) => [item.tx.nonce, item]));
    const matches = matchSent(unknown, holders, waiting);
    return upToGap(matches, maxOf(cursor, latest)).filter(
      // Ignores two kinds of foreign transactions: one with the nonce of a tx that was never signed, because the two compete; and a mined
      // one, because it needs no slot.
      ({ nonce, tx }) => tx !== null || (nonce >= latest && !holders.has(nonce)),
    );
  }

  /** Bytes without a payload of ours become the attempt of a fill, if they can be sent again. */
  private adopted(signer: SignerId, matches: readonly Match[]): Adopted[] {
    return matches.flatMap(({ nonce, tx, sent }): Adopted[] => {
      const [first] = sent;
      if (!first || isHalf(first, tx)) return [];
      const holder = tx ?? this.fills.at({ signer, nonce }, first.gasLimit);
      const copy = tx ? ManagedTx.rehydrate(tx.tx.progress) : holder.tx;
      copy.recovered(nonce, first.gasLimit, first.hash);
      return [{ nonce, isNew: tx?.tx.state !== 'ALLOCATED', holder: { ...holder, tx: copy }, sent }];
    });
  }

  /** True when a waiting tx was changed since it was read. */
  private async isStale(fence: Fence, adopted: readonly Adopted[]): Promise<boolean> {
    const waiting = adopted.flatMap(({ isNew, holder: { tx } }) => (isNew && tx.kind === 'payload' ? [tx] : []));
    return (await this.repository.lockPending(fence, waiting)).size < waiting.length;
  }

  /** Unknown transactions may have used these nonces: they get fills, and no payload. */
  private gapsBetween(
    { outlook: { signer, cursor }, latest }: Findings,
    adopted: readonly Adopted[],
    matches: readonly Match[],
  ): RequestedTx[] {
    const held = new Set(adopted.flatMap(({ isNew, nonce }) => (isNew ? [nonce] : [])));
    const start = maxOf(cursor, latest);
    const end = matches.reduce((above, { nonce }) => maxOf(above, nonce + 1n), start);
    const gaps: RequestedTx[] = [];
    for (let nonce = start; nonce < end; nonce += 1n) if (!held.has(nonce)) gaps.push(this.fills.at({ signer, nonce }));
    return gaps;
  }

  private report(signer: SignerId, matches: readonly Match[]): void {
    const payloads = matches.filter(({ tx }) => tx !== null);
    this.metrics.adopted('payload', payloads.length);
    this.metrics.adopted('foreign', matches.length - payloads.length);
    for (const { nonce, tx, sent } of matches)
      this.log.error('unknown sent transaction stored', {
        signer: signerKey(signer),
        nonce,
        txId: tx?.tx.id ?? null,
        txHashes: sent.map(({ hash }) => hash),
      });
  }
}

/** Its blobs are not known, so its bytes can never be sent again. */
function isHalf({ type }: SentTransaction, tx: RequestedTx | null): boolean {
  return type === 3 && tx === null;
}

/** The matches below the first gap that is too wide to be filled. */
function upToGap(matches: readonly Match[], start: Nonce): Match[] {
  let end = start;
  return matches.filter(({ nonce }) => {
    if (nonce - end > WIDEST_GAP_NONCES) return false;
    end = maxOf(end, nonce + 1n);
    return true;
  });
}

function changesOf(adopted: readonly Adopted[], gaps: readonly RequestedTx[]): ChangeSet {
  const fresh = adopted.filter(({ isNew }) => isNew).map(({ holder }) => holder);
  const newFills = fresh.filter(({ tx }) => tx.kind === 'fill');
  const known = adopted.filter(({ holder }) => !newFills.includes(holder)).map(({ holder: { tx } }) => tx);
  return {
    fills: [...newFills, ...gaps],
    slots: {
      adopted: [...fresh, ...gaps].map(({ tx }) => ({ signer: tx.signer, nonce: tx.nonce, txId: tx.id })),
    },
    attempts: { inserted: adopted.flatMap(({ holder, sent }) => sent.map((each) => attemptOf(holder.tx, each))) },
    txs: known.filter(({ enteredState }) => enteredState !== null),
    noted: known.filter(({ enteredState }) => enteredState === null),
  };
}

function attemptOf({ id, kind, signer, nonce }: ManagedTx, sent: SentTransaction): Attempt {
  const { hash, raw, gasLimit, maxFeePerGas, maxPriorityFeePerGas, maxFeePerBlobGas } = sent;
  return {
    signer,
    nonce,
    txHash: hash,
    raw,
    kind,
    txId: id,
    gasLimit,
    fees: { maxFeePerGas, maxPriorityFeePerGas, ...(maxFeePerBlobGas !== undefined && { maxFeePerBlobGas }) },
    type: sent.type,
    pricedAtBlock: null,
    status: 'SIGNED',
    errorClass: null,
  };
}
