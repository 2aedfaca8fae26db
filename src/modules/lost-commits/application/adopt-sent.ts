import {
  type Attempt,
  type ChangeSet,
  isFinal,
  LostCommitsRepository,
  ManagedTx,
  ManagedTxRepository,
  NewFills,
  type RequestedTx,
  WriteChanges,
} from '../../ledger/index.js';
import { Injectable } from '@nestjs/common';
import { maxOf } from '../../../kernel/quantities.js';
import { type Nonce, signerKey, type SignerId } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import { Metrics } from '../../../platform/metrics/metrics.js';
import type { SentTransaction } from '../../chain/index.js';
import { Custody, type Fence, type Lease, NonceLedger, type SlotHolder } from '../../signers/index.js';
import { carries, hasMoved, isNoOp, type Match, matchSent, mayBeCutOff } from '../domain/match-sent.js';
import type { Findings } from './findings.js';

/** Sent transactions of one nonce, and the tx whose attempts they become. */
interface Adopted {
  readonly nonce: Nonce;
  /** Whether the tx waited for a nonce. */
  readonly waited: boolean;
  /** Whether the tx holds the slot already, gets one that nobody has, or competes for that of the tx that it replaces. */
  readonly slot: 'kept' | 'free' | 'raced';
  /** A changed copy of the tx that held the slot: it waits, or its replacement competes with it. */
  readonly yields: ManagedTx | null;
  /** A changed copy of the tx. */
  readonly holder: RequestedTx;
  readonly sent: readonly SentTransaction[];
  /** Changed copies of what had competed with the tx for a slot that all of them lost. */
  readonly ended: readonly ManagedTx[];
}

/** What is out with the nonce of a hold, and that its outside sender has not named. */
type MayBeOurs = (sent: SentTransaction) => boolean;

/** Each nonce of a gap costs a no-op, so a foreign transaction far above our nonces is ignored. */
const WIDEST_GAP_NONCES = 64n;
/** Txs with one payload to read at most. Where there are more, nobody knows which of them was sent. */
const MAX_CANDIDATES_TXS = 10_000;
const NOTHING: ChangeSet = {};
const NO_OP_FOUND = 'the database lost why a no-op was signed for its nonce';
const WITHDRAWN = 'the database lost why what it replaces was sent again';
const PASSED_ON = 'the database lost why its nonce was given to another transaction';

/**
 * Stores sent transactions that the database did not know: slot, cursor, and the same bytes as an attempt. From then on they are resent and
 * confirmed like every attempt. A transaction without a payload of ours becomes the attempt of a fill: its bytes are resent until its nonce
 * is used, by it or by another transaction, and no payload gets that nonce. Where it has blobs, which nobody here knows, the fill is signed
 * like that of a gap. A no-op at the nonce of a payload closes its slot, as the commit that was lost did.
 */
@Injectable()
export class AdoptSent {
  constructor(
    private readonly write: WriteChanges,
    private readonly fills: NewFills,
    private readonly lost: LostCommitsRepository,
    private readonly repository: ManagedTxRepository,
    private readonly custody: Custody,
    private readonly ledger: NonceLedger,
    private readonly metrics: Metrics,
    private readonly log: Log,
  ) {}

  /**
   * @param anyway an operator vouches for what could not be read
   * @returns what was stored; null when a waiting tx was changed meanwhile, or too many look like what is out, and nothing is written
   */
  async execute(lease: Lease, findings: Findings, anyway = false): Promise<readonly Match[] | null> {
    const { signer, suspect, epoch } = findings.outlook;
    const { matches, mayBeOurs, isCutOff } = await this.matchesOf(findings);
    if (isCutOff && !anyway) return null;
    if (matches.length === 0 && !suspect) return [];
    const moved = matches.flatMap((match) => (match.tx && hasMoved(match) ? [match.tx.tx] : []));
    const adopted = this.adopted(signer, matches, mayBeOurs, await this.repository.rivals(moved));
    const waiting = adopted.flatMap(({ waited, holder: { tx } }) => (waited ? [tx] : []));
    const written = await this.write.ofPending([lease], 'reconcile', waiting, async (locked, fence) => {
      if (locked.size < waiting.length) return NOTHING;
      const vacated = vacatedBy(adopted, matches);
      const leaving = vacated.map(({ txId }) => txId);
      if (suspect) await this.lost.reconciled(fence, signer, epoch, leaving);
      const withPermits = adopted.flatMap(({ holder: { tx, request } }) => (request.payload.permits ? [tx.id] : []));
      if (withPermits.length > 0) await this.lost.permitsLost(fence, withPermits);
      return changesOf(adopted, vacated, await this.gapsBetween(fence, findings, adopted, matches));
    });
    if (written === NOTHING) return null;
    this.report(signer, matches);
    return matches;
  }

  private async matchesOf(findings: Findings): Promise<{ matches: Match[]; mayBeOurs: MayBeOurs; isCutOff?: boolean }> {
    const { outlook, latest, unknown } = findings;
    const { signer, open, cursor } = outlook;
    if (unknown.length === 0) return { matches: [], mayBeOurs: () => false };
    const nonces = unknown.map(({ nonce }) => nonce);
    const found = outlook.known ? await this.lost.holders(signer, nonces) : [];
    const holders = new Map(found.map((item) => [item.tx.nonce, item]));
    const free = new Set(open.flatMap(({ nonce, txId }) => (txId === null ? [nonce] : [])));
    // Else the nonce was used for good, and what is out with it changes nothing.
    const concerning = unknown.filter(({ nonce }) => nonce >= cursor || free.has(nonce) || holders.has(nonce));
    const others = outlook.known ? await this.lost.withPayloadOf(signer, concerning, MAX_CANDIDATES_TXS) : [];
    // Of those that are MINED only the no-op is. What has a replacement rests, unless neither of the two is out with their nonce.
    const mayBeElsewhere = ({ tx: { id, state, progress } }: RequestedTx): boolean => {
      const { nonce, replacedBy } = progress;
      if (nonce === null || state === 'MINED') return true;
      return findings.lacks(id, nonce) && (replacedBy === null || findings.lacks(replacedBy, nonce));
    };
    const mayBeOurs = await this.maybeOurs(outlook, found);
    const all = matchSent(concerning, holders, others, mayBeElsewhere, mayBeOurs);
    const mayBeOfUs = concerning.filter((sent) => !holders.get(sent.nonce)?.tx.isHold || mayBeOurs(sent));
    const isCutOff = all.some((match) => mayBeCutOff(match, mayBeOfUs, others, MAX_CANDIDATES_TXS));
    const matches = upToGap(all, maxOf(cursor, latest));
    const left = holdersThatLeft(matches);
    const ours = matches.filter(
      // Ignores two kinds of foreign transactions: one with the nonce of a tx, because the two compete; and a mined one, because it needs no
      // slot. The slot of a tx that moved is nobody's.
      ({ nonce, tx, holder }) => tx !== null || (holder ? left.has(holder.tx.id) : nonce >= latest),
    );
    return { matches: ours, mayBeOurs, isCutOff };
  }

  /**
   * No payload gets a nonce that an outside sender had. Only in an epoch that has just begun this may be the past of another one: then a payload that
   * is out is rather executed late than twice. What the outside sender named is its own all the same.
   */
  private async maybeOurs({ suspect }: Findings['outlook'], holders: readonly RequestedTx[]): Promise<MayBeOurs> {
    const holds = holders.filter(({ tx }) => tx.isHold).map(({ tx }) => tx.id);
    if (!suspect || holds.length === 0) return () => false;
    const named = await this.lost.named(holds);
    return ({ hash }) => !named.has(hash);
  }

  /** Bytes without a payload of ours become the attempt of a fill, if they can be sent again. */
  private adopted(
    signer: SignerId,
    matches: readonly Match[],
    mayBeOurs: MayBeOurs,
    rivals: readonly ManagedTx[],
  ): Adopted[] {
    const left = holdersThatLeft(matches);
    return matches.flatMap((match): Adopted[] => {
      const { nonce, tx, holder: known, sent } = match;
      const [first] = sent;
      if (!first || isHalf(first, tx)) return [];
      const holder = tx ?? this.fills.at({ signer, nonce }, first.gasLimit);
      const copy = tx ? ManagedTx.rehydrate(tx.tx.progress) : holder.tx;
      const noOp = tx && tx.tx.kind !== 'fill' ? noOpOf(tx, sent, mayBeOurs) : undefined;
      const ended = hasMoved(match) ? leftSlot(copy, rivals) : [];
      if (noOp) closed(copy, noOp);
      else if (copy.isHold) copy.usedBy(first.hash);
      else copy.recovered(nonce, first.gasLimit, first.hash);
      const yields = known && known !== tx && !left.has(known.tx.id) ? yielding(known.tx, copy) : null;
      const slot = tx === known ? 'kept' : yields?.isResting ? 'raced' : 'free';
      const waited = tx?.tx.progress.nonce === null;
      return [{ nonce, waited, slot, yields, holder: { ...holder, tx: copy }, sent, ended }];
    });
  }

  /**
   * Unknown transactions may have used these nonces, and old bytes of txs that moved may: they get fills, and no payload. Where nobody here signs a
   * fill, they are free for the next holds.
   */
  private async gapsBetween(
    fence: Fence,
    { outlook: { signer, cursor }, latest }: Findings,
    adopted: readonly Adopted[],
    matches: readonly Match[],
  ): Promise<RequestedTx[]> {
    const isExternal = this.custody.isExternal(signer);
    const held = new Set(adopted.map(({ nonce }) => nonce));
    const start = maxOf(cursor, latest);
    // Only what is adopted raises the cursor, and a free nonce above it would be given out twice.
    const end = (isExternal ? adopted : matches).reduce((above, { nonce }) => maxOf(above, nonce + 1n), start);
    const between: Nonce[] = [];
    for (let nonce = start; nonce < end; nonce += 1n) if (!held.has(nonce)) between.push(nonce);
    if (isExternal) {
      await this.ledger.openFree(
        fence,
        between.map((nonce) => ({ signer, nonce })),
      );
      return [];
    }
    const left = vacatedBy(adopted, matches).flatMap(({ nonce }) => (held.has(nonce) ? [] : [nonce]));
    return [...left, ...between].map((nonce) => this.fills.at({ signer, nonce }));
  }

  private report(signer: SignerId, matches: readonly Match[]): void {
    const payloads = matches.filter(({ tx }) => tx !== null);
    this.metrics.count('nonce_recovered_total', payloads.length, { kind: 'payload' });
    this.metrics.count('nonce_recovered_total', matches.length - payloads.length, { kind: 'foreign' });
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

/** A no-op of ours: what has the nonce of a payload and not its content; or, of a hold, what an epoch that is lost may have signed for it. */
function noOpOf(
  { tx, request }: RequestedTx,
  sent: readonly SentTransaction[],
  mayBeOurs: MayBeOurs,
): SentTransaction | undefined {
  if (!tx.isHold) return sent.find((each) => !carries(each, request));
  return sent.every((each) => isNoOp(each) && mayBeOurs(each)) ? sent[0] : undefined;
}

/** The commit that was lost had begun to close the slot, so the payload is not wanted any more. */
function closed(tx: ManagedTx, noOp: SentTransaction): void {
  if (!tx.isClosing) tx.close('CANCELLED', NO_OP_FOUND);
  tx.competitorSigned(noOp.hash);
}

/**
 * Its replacement competes for the slot; or what it replaces does again, because it was withdrawn. Another tx gets the slot only when nothing of
 * this one is out, and it has ended: its client was told so, and it must not be executed now.
 */
function yielding(holder: ManagedTx, to: ManagedTx): ManagedTx {
  const copy = ManagedTx.rehydrate(holder.progress);
  if (to.progress.replaces === copy.id) copy.raced(to);
  else if (copy.progress.replaces === to.id) {
    copy.withdrawn(WITHDRAWN);
    to.raceWithdrawn(copy.id);
  } else copy.cancelled(PASSED_ON);
  return copy;
}

/** Txs that moved held their slots, or what replaced them did. */
function holdersThatLeft(matches: readonly Match[]): ReadonlySet<string> {
  return new Set(
    matches.flatMap((match) =>
      match.tx && hasMoved(match) ? [match.tx.tx.progress.replacedBy ?? match.tx.tx.id] : [],
    ),
  );
}

/**
 * Its payload is out with another nonce, so none of those that competed for the old one can be mined with it.
 * @param others rivals of any that moved; its own are changed
 * @returns its rivals that had not ended
 * @throws Conflict when one is MINED: its signer is held until that block is seen to be orphaned
 */
function leftSlot(tx: ManagedTx, others: readonly ManagedTx[]): ManagedTx[] {
  const rivals = others.filter(({ state, progress }) => !isFinal(state) && progress.nonce === tx.nonce);
  const replacement = rivals.find(({ id }) => id === tx.progress.replacedBy);
  if (replacement) {
    replacement.withdrawn(WITHDRAWN);
    tx.raceWithdrawn(replacement.id);
  }
  for (const rival of rivals) rival.foreignTxUsedNonce(null);
  if (tx.state === 'ALLOCATED') tx.passedOn(PASSED_ON);
  else if (tx.state === 'MINED') tx.settled('', null);
  else tx.foreignTxUsedNonce(null);
  return rivals;
}

/** The slots that the database knows of txs that have others now, or wait. */
function vacatedBy(adopted: readonly Adopted[], matches: readonly Match[]): SlotHolder[] {
  const moved = matches.flatMap((match) => (match.tx && hasMoved(match) ? [slotOf(match.tx)] : []));
  const passedOn = adopted.flatMap(({ nonce, slot, yields, holder: { tx } }) =>
    yields && slot === 'free' ? [{ signer: tx.signer, nonce, txId: yields.id }] : [],
  );
  return [...moved, ...passedOn];
}

/** @param gaps fills for slots that nobody has */
function changesOf(
  adopted: readonly Adopted[],
  vacated: readonly SlotHolder[],
  gaps: readonly RequestedTx[],
): ChangeSet {
  const holdersOf = (wanted: Adopted['slot']): RequestedTx[] =>
    adopted.filter(({ slot }) => slot === wanted).map(({ holder }) => holder);
  const newFills = holdersOf('free').filter(({ tx }) => tx.kind === 'fill');
  const known = adopted.filter(({ holder }) => !newFills.includes(holder)).map(({ holder: { tx } }) => tx);
  // The row of a tx that was only allocated does not change.
  const isNoted = (tx: ManagedTx): boolean => tx.enteredState === null && tx.state === 'ALLOCATED';
  return {
    fills: [...newFills, ...gaps],
    slots: {
      vacated,
      adopted: [...holdersOf('free'), ...gaps].map(slotOf),
      handedOver: holdersOf('raced').map(slotOf),
    },
    attempts: { inserted: adopted.flatMap(({ holder, sent }) => sent.map((each) => attemptOf(holder, each))) },
    txs: [
      ...known.filter((tx) => !isNoted(tx)),
      ...adopted.flatMap(({ yields, ended }) => [...(yields ? [yields] : []), ...ended]),
    ],
    noted: known.filter(isNoted),
  };
}

/** Of a hold, what its outside sender has sent; of one that is closed, our no-op. */
function kindOf({ tx, request }: RequestedTx, sent: SentTransaction): Attempt['kind'] {
  if (tx.kind === 'fill') return 'fill';
  const isPayload = tx.isHold ? !tx.isClosing || !isNoOp(sent) : carries(sent, request);
  return isPayload ? 'payload' : 'cancel';
}

function slotOf({ tx: { signer, nonce, id: txId } }: RequestedTx): SlotHolder {
  return { signer, nonce, txId };
}

function attemptOf(holder: RequestedTx, sent: SentTransaction): Attempt {
  const { id, signer, nonce } = holder.tx;
  const { hash, raw, gasLimit, maxFeePerGas, maxPriorityFeePerGas, maxFeePerBlobGas } = sent;
  return {
    signer,
    nonce,
    txHash: hash,
    raw,
    kind: kindOf(holder, sent),
    txId: id,
    gasLimit,
    fees: { maxFeePerGas, maxPriorityFeePerGas, ...(maxFeePerBlobGas !== undefined && { maxFeePerBlobGas }) },
    type: sent.type,
    pricedAtBlock: null,
    status: 'SIGNED',
    errorClass: null,
  };
}
