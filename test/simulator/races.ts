import type { ModelBlock } from '../support/model-chain.js';
import type { SimChain } from './sim-chain.js';
import type { AttemptRow, Snapshot, TxRow } from './snapshot.js';
import { Violation } from './violation.js';

/** The txs that compete for one slot: what replaces a tx, what replaces that, and so on. */
export function replacesAny(tx: TxRow, older: TxRow, txs: readonly TxRow[]): boolean {
  const seen = new Set<string>();
  for (let at: TxRow | undefined = tx; at?.replaces && !seen.has(at.id);) {
    if (at.replaces === older.id) return true;
    seen.add(at.id);
    const { replaces }: TxRow = at;
    at = txs.find(({ id }) => id === replaces);
  }
  return false;
}

/** Whether two payloads may be out with one nonce: the client wanted it so. */
export function isRace(first: string, second: string, { txs }: Pick<Snapshot, 'txs'>): boolean {
  const [one, other] = [first, second].map((data) => txs.find((tx) => tx.data === data));
  return one !== undefined && other !== undefined && (replacesAny(one, other, txs) || replacesAny(other, one, txs));
}

/** Nodes refused it, and what it was to replace is sent again in its place; it may be mined all the same. */
export function isWithdrawn({ id }: TxRow, txs: readonly TxRow[]): boolean {
  return txs.some(({ withdrawn }) => withdrawn === id);
}

/** What was mined in a block with the nonce of a replacement that FAILED with it: what that was to replace; undefined: nothing. */
export function withdrawnFor(tx: TxRow, { txs: mined }: Pick<ModelBlock, 'txs'>, now: Snapshot): TxRow | undefined {
  const winner = mined.find(({ from, nonce }) => from === tx.signer && Number(nonce) === tx.nonce);
  const attempt = now.attempts.find(({ hash }) => hash === winner?.hash);
  return now.txs.find((other) => other.id === attempt?.tx && tx.state === 'FAILED' && replacesAny(tx, other, now.txs));
}

/** What must hold of cancels and replaces when everything has ended: states and links are as the chain decided (I9). */
export function checkRaces(end: Snapshot, chain: SimChain): void {
  for (const { id, kind, tx, status } of end.commands)
    if (status === 'QUEUED') fail('I8', `command ${id} (${kind} ${tx}) was never carried out`);
  for (const tx of end.txs) {
    checkLinks(tx, end);
    const mined = chain.minedTxs().find(({ from, nonce }) => from === tx.signer && Number(nonce) === tx.nonce);
    const winner = end.attempts.find(({ hash }) => hash === mined?.hash);
    // What ended because somebody else had its nonce for good stays as it is when a deeper reorg mines ours: the known exception of I8.
    const isLeft = mined !== undefined && chain.wasTakenForGood(mined) && isForeign(tx, end);
    if (winner && !(isLeft && tx.state !== 'CONFIRMED')) checkLoser(tx, winner, end);
  }
  checkNobodyWasMoved(end, chain);
}

/** One that is replaced names the one that took its place, and that one names it. */
function checkLinks(tx: TxRow, { txs }: Snapshot): void {
  const successor = txs.find(({ id }) => id === tx.replacedBy);
  if (tx.state === 'REPLACED' && !successor) fail('I9', `${tx.id} is REPLACED, and nothing replaced it`);
  if (successor && successor.replaces !== tx.id)
    fail('I9', `${tx.id} is replaced by ${successor.id}, which replaces another`);
  if (tx.replacedBy !== null && tx.state === 'CONFIRMED')
    fail('I9', `${tx.id} is CONFIRMED, and replaced by ${tx.replacedBy}`);
}

/** The nonce of a tx is recorded as somebody else's. */
function isForeign({ signer, nonce }: TxRow, { slots }: Snapshot): boolean {
  const slot = slots.find((each) => each.signer === signer && each.nonce === nonce);
  return slot?.status === 'CONSUMED' && slot.tx === null;
}

function checkLoser(tx: TxRow, winner: AttemptRow, { txs }: Snapshot): void {
  if (winner.tx === tx.id) {
    const ends = winner.kind === 'cancel' ? ['CANCELLED', 'FAILED', 'DROPPED'] : ['CONFIRMED', 'FAILED'];
    if (!ends.includes(tx.state)) fail('I9', `${tx.id} is ${tx.state}, and its ${winner.kind} was mined`);
    return;
  }
  const other = txs.find(({ id }) => id === winner.tx);
  if (!other) return;
  if (replacesAny(other, tx, txs) && tx.state !== 'REPLACED')
    fail('I9', `${tx.id} is ${tx.state}, and ${other.id}, which replaces it, was mined`);
  // Nodes refused it, so it was withdrawn, and the original does not name it any more.
  const isWithdrawn = tx.state === 'FAILED' && !txs.some(({ replacedBy }) => replacedBy === tx.id);
  if (replacesAny(tx, other, txs) && tx.state !== 'DROPPED' && !isWithdrawn)
    fail('I9', `${tx.id} is ${tx.state}, and ${other.id}, which it was to replace, was mined`);
}

/** Every payload on the chain is that of a tx: what a replace overwrote in the queue never runs. */
function checkNobodyWasMoved({ txs }: Snapshot, chain: SimChain): void {
  const known = new Set(txs.map(({ data }) => data));
  for (const { hash, data } of chain.ourMinedPayloads())
    if (!known.has(data)) fail('I8', `${hash} executed ${data}, which no transaction has any more`);
}

function fail(invariant: string, words: string): never {
  throw new Violation(invariant, words);
}
