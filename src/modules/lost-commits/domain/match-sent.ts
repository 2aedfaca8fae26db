import { groupBy } from '../../../kernel/group-by.js';
import type { Nonce } from '../../../kernel/signer-id.js';
import type { SentTransaction } from '../../chain/index.js';
import { noOpPayload, withoutPermits } from '../../ledger/domain/index.js';
import type { Authorization, ManagedTx, RequestedTx, TxPayload } from '../../ledger/index.js';

/** Sent transactions with one nonce, and the tx that sent them; null when none of ours did. */
export interface Match {
  readonly nonce: Nonce;
  readonly tx: RequestedTx | null;
  /** The tx that holds the slot of the nonce in the database. */
  readonly holder: RequestedTx | undefined;
  readonly sent: readonly SentTransaction[];
}

/**
 * Finds out who sent what the chain or a pool shows with our key (rule F7 of docs/invariants.md), lowest nonce first. Nothing that is out is
 * called foreign, and no payload gets another nonce, before it was compared here. Equal payloads are interchangeable, so the oldest tx gets
 * the lowest nonce.
 * @param holders txs that hold the slot of a nonce. Who has its payload is the holder, then its replacement, then what it replaces, which is sent
 * again when nodes refuse the holder. A no-op closes the slot of the holder. That another tx has the payload shows that the holder had given the
 * slot up, unless something of it may be out
 * @param others oldest first: txs without a nonce, and txs in flight
 * @param mayBeElsewhere whether one of these is out with no nonce that the database knows. Its payload is out with another nonce only when it had
 * moved there ({@link hasMoved}), and its replacement was withdrawn before; a no-op with the old nonce is that of a fill
 * @param mayBeOurs of what is out with the nonce of a hold: whether the commit that gave the nonce to a payload of ours may be lost. Else its outside
 * sender has sent it, also when a payload of ours is equal
 */
export function matchSent(
  sent: readonly SentTransaction[],
  holders: ReadonlyMap<Nonce, RequestedTx>,
  others: readonly RequestedTx[],
  mayBeElsewhere: (tx: RequestedTx) => boolean,
  mayBeOurs: (sent: SentTransaction) => boolean,
): Match[] {
  const byNonce = [...groupBy(sent, ({ nonce }) => nonce)].sort(([a], [b]) => (a < b ? -1 : 1));
  const senders = new Map<Nonce, RequestedTx>();
  const isLeft = ({ tx }: RequestedTx): boolean => [...senders.values()].every((sender) => !isOneRace(sender.tx, tx));
  const take = (nonce: Nonce, tx: RequestedTx | undefined): void => void (tx && senders.set(nonce, tx));
  for (const [nonce, group] of byNonce) {
    const holder = holders.get(nonce);
    take(nonce, holder?.tx.isHold && !group.every(mayBeOurs) ? holder : rivalOf(group, holder, others.filter(isLeft)));
  }
  const waitingFirst = others.filter(mayBeElsewhere).sort((a, b) => Number(isInFlight(a)) - Number(isInFlight(b)));
  const isClosed = ([nonce, group]: Group): boolean => group.some((each) => closes(each, holders.get(nonce)));
  const open = byNonce.filter((each) => !isClosed(each));
  // What carries the permit of a tx is not given to an older one. Whether the holder moved is known before a no-op is taken for its.
  const rounds = [
    { groups: open, isIts: carriesAsStored },
    { groups: open, isIts: carries },
    { groups: byNonce.filter(isClosed), isIts: carries },
  ];
  for (const { groups, isIts } of rounds)
    for (const group of groups) {
      const [nonce, some] = group;
      const holder = holders.get(nonce);
      if (senders.has(nonce)) continue;
      if (holder && isLeft(holder) && isClosed(group)) take(nonce, holder);
      else if (mayBePassedOn(holder)) take(nonce, senderIn(waitingFirst.filter(isLeft), some, isIts));
    }
  // Last: what none of ours sent, its outside sender did.
  for (const [nonce] of byNonce)
    if (!senders.has(nonce) && holders.get(nonce)?.tx.isHold) take(nonce, holders.get(nonce));
  return byNonce.map(([nonce, sentWith]): Match => {
    const [holder, tx] = [holders.get(nonce), senders.get(nonce) ?? null];
    if (tx === null) return { nonce, tx, holder, sent: sentWith.slice(0, 1) };
    const isOurs = (each: SentTransaction): boolean =>
      tx.tx.isHold || carries(each, tx.request) || (tx === holder && closes(each, tx));
    return { nonce, tx, holder, sent: sentWith.filter(isOurs) };
  });
}

type Group = readonly [Nonce, readonly SentTransaction[]];

/** Whether the database knows the tx with another nonce, which it had given up. */
export function hasMoved({ nonce, tx }: Match): boolean {
  return tx !== null && isInFlight(tx) && tx.tx.nonce !== nonce;
}

/** One of the two is sent: the other one is it, or rests for it. */
function isOneRace(one: ManagedTx, other: ManagedTx): boolean {
  return one.id === other.id || one.progress.replacedBy === other.id || other.progress.replacedBy === one.id;
}

function isInFlight({ tx }: RequestedTx): boolean {
  return tx.progress.nonce !== null;
}

function rivalOf(
  sent: readonly SentTransaction[],
  holder: RequestedTx | undefined,
  others: readonly RequestedTx[],
): RequestedTx | undefined {
  if (!holder) return undefined;
  const isOfRace = ({ tx }: RequestedTx): boolean =>
    tx.progress.replaces === holder.tx.id || tx.progress.replacedBy === holder.tx.id;
  return senderIn([holder, ...others.filter(isOfRace)], sent);
}

function senderIn(
  txs: readonly RequestedTx[],
  sent: readonly SentTransaction[],
  isIts = carries,
): RequestedTx | undefined {
  return txs.find(({ tx, request }) => !tx.isHold && sent.some((each) => isIts(each, request)));
}

function closes(sent: SentTransaction, holder: RequestedTx | undefined): boolean {
  return holder !== undefined && isNoOp(sent);
}

export function isNoOp(sent: SentTransaction): boolean {
  return carries(sent, { payload: noOpPayload(sent.account, sent.type) });
}

/** The slot of a fill is never given up, nor that of a payload that may be out. */
function mayBePassedOn(holder: RequestedTx | undefined): boolean {
  return holder?.tx.kind !== 'fill' && holder?.tx.state !== 'IN_MEMPOOL';
}

/**
 * Whether the tx that sent this may be missing among those that were read, of which each payload has `most`. It would be executed again when what is
 * out were called foreign.
 */
export function mayBeCutOff(
  { nonce, tx, holder }: Match,
  sent: readonly SentTransaction[],
  others: readonly RequestedTx[],
  most: number,
): boolean {
  if (tx !== null && !tx.tx.isHold) return false;
  if (!mayBePassedOn(holder)) return false;
  return sent.some(
    (each) => each.nonce === nonce && others.filter(({ request }) => isCallOf(each, request)).length >= most,
  );
}

interface Carried {
  readonly payload: Omit<TxPayload, 'gasLimit'>;
}

/** Ignores the parts of permits: they may have been made anew. */
function isCallOf(sent: SentTransaction, { payload }: Carried): boolean {
  return (
    sent.to === payload.to &&
    sent.value === payload.value &&
    withoutPermits(sent.data, payload.permits) === withoutPermits(payload.data, payload.permits)
  );
}

/** Ignores gas, fees and the parts of permits: Lockstep chooses them for each attempt, or may have made them anew. */
export function carries(sent: SentTransaction, { payload }: Carried): boolean {
  return (
    isCallOf(sent, { payload }) &&
    JSON.stringify(sent.accessList.map(inOrder)) === JSON.stringify(payload.accessList.map(inOrder)) &&
    JSON.stringify(sent.blobHashes ?? []) === JSON.stringify(payload.blobHashes ?? []) &&
    JSON.stringify((sent.authorizationList ?? []).map(target)) ===
      JSON.stringify((payload.authorizationList ?? []).map(target))
  );
}

/** With the permits that the database knows. */
function carriesAsStored(sent: SentTransaction, { payload }: Carried): boolean {
  return sent.data === payload.data && carries(sent, { payload });
}

/** Its authority is left out: Lockstep signs some authorizations itself. */
function target({ chainId, address }: Pick<Authorization, 'chainId' | 'address'>): unknown {
  return [chainId.toString(), address];
}

function inOrder({ address, storageKeys }: SentTransaction['accessList'][number]): unknown {
  return [address, storageKeys];
}
