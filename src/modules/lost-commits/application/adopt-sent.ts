import { Injectable } from '@nestjs/common';
import { maxOf } from '../../../kernel/quantities.js';
import { type Nonce, signerKey, type SignerId } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import type { SentTransaction } from '../../chain/index.js';
import { type Fence, FencedUnitOfWork, type Lease, NonceLedger, type SlotHolder } from '../../signers/index.js';
import {
  type Attempt,
  AttemptRepository,
  ManagedTx,
  ManagedTxRepository,
  type RequestedTx,
} from '../../transactions/index.js';
import { LostCommitsRepository } from '../domain/lost-commits.repository.js';
import { type Match, matchSent } from '../domain/match-sent.js';
import type { Findings } from './findings.js';
import { LostCommitsMetrics } from './lost-commits-metrics.js';

/** Nonces. Each costs a no-op: a transaction of somebody far above ours is left alone. */
const WIDEST_GAP = 64n;

/**
 * Writes down what was found out there, as if it had never been forgotten: slot, cursor, and the very bytes as an attempt. From then on
 * the normal machinery sends them again and waits for their receipts. A transaction that carries no payload of ours is kept like a
 * fill: its bytes are sent until its nonce is used, by it or by another, and no payload ever gets that nonce.
 */
@Injectable()
export class AdoptSent {
  constructor(
    private readonly unitOfWork: FencedUnitOfWork,
    private readonly ledger: NonceLedger,
    private readonly attempts: AttemptRepository,
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
    const written = await this.unitOfWork.run([lease], 'reconcile', (fence) => this.write(fence, findings, matches));
    if (written) this.report(signer, matches);
    return written;
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
      // Somebody else's with the nonce of a tx that was never signed: the two compete, as ever. What is mined needs no slot.
      ({ nonce, tx }) => tx !== null || (nonce >= latest && !holders.has(nonce)),
    );
  }

  private async write(fence: Fence, { outlook, latest }: Findings, matches: readonly Match[]): Promise<boolean> {
    const { signer, cursor, suspect } = outlook;
    const adopted = matches.map((match) => ({ ...match, copy: match.tx && recovered(match.tx, match) }));
    const fresh = adopted.filter(({ tx }) => tx?.tx.state !== 'ALLOCATED');
    const waiting = fresh.flatMap(({ tx }) => tx?.tx.id ?? []);
    if ((await this.repository.lockPending(fence, waiting)).size < waiting.length) return false;
    const slots = fresh.map(({ nonce, tx }): SlotHolder => ({ signer, nonce, txId: tx?.tx.id ?? null }));
    await this.ledger.adopt(fence, [...slots, ...gapsBetween(signer, maxOf(cursor, latest), slots)]);
    await this.attempts.insert(
      fence,
      adopted.flatMap(({ tx, sent }) => sent.map((each) => attemptOf(signer, tx, each))),
    );
    const copies = adopted.flatMap(({ copy }) => copy ?? []);
    await this.repository.save(
      fence,
      copies.filter(({ enteredState }) => enteredState !== null),
    );
    await this.repository.note(
      fence,
      copies.filter(({ enteredState }) => enteredState === null),
    );
    if (suspect) await this.lost.reconciled(fence, [signer]);
    return true;
  }

  private report(signer: SignerId, matches: readonly Match[]): void {
    const payloads = matches.filter(({ tx }) => tx !== null);
    this.metrics.adopted('payload', payloads.length);
    this.metrics.adopted('foreign', matches.length - payloads.length);
    for (const { nonce, tx, sent } of matches)
      this.log.error('a transaction was out that the database did not know, and is known again', {
        signer: signerKey(signer),
        nonce,
        txId: tx?.tx.id ?? null,
        txHashes: sent.map(({ hash }) => hash),
      });
  }
}

/** Down to the first gap that is too wide to be filled. */
function upToGap(matches: readonly Match[], start: Nonce): Match[] {
  let end = start;
  return matches.filter(({ nonce }) => {
    if (nonce - end > WIDEST_GAP) return false;
    end = maxOf(end, nonce + 1n);
    return true;
  });
}

/** Nobody knows what had them, if anything: they are filled, and never given to a payload. */
function gapsBetween(signer: SignerId, start: Nonce, slots: readonly SlotHolder[]): SlotHolder[] {
  const taken = new Set(slots.map(({ nonce }) => nonce));
  const end = slots.reduce((highest, { nonce }) => maxOf(highest, nonce), start);
  const gaps: SlotHolder[] = [];
  for (let nonce = start; nonce < end; nonce += 1n) if (!taken.has(nonce)) gaps.push({ signer, nonce, txId: null });
  return gaps;
}

function recovered({ tx }: RequestedTx, { nonce, sent }: Match): ManagedTx {
  const copy = ManagedTx.rehydrate(tx.progress);
  const [first] = sent;
  if (first) copy.recovered(nonce, first.gasLimit, first.hash);
  return copy;
}

function attemptOf(signer: SignerId, tx: RequestedTx | null, sent: SentTransaction): Attempt {
  const { nonce, hash, raw, gasLimit, maxFeePerGas, maxPriorityFeePerGas } = sent;
  return {
    signer,
    nonce,
    txHash: hash,
    raw,
    kind: tx === null ? 'fill' : 'payload',
    txId: tx?.tx.id ?? null,
    gasLimit,
    fees: { maxFeePerGas, maxPriorityFeePerGas },
    status: 'SIGNED',
    errorClass: null,
  };
}
