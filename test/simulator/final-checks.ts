import { parseAddress } from '../../src/kernel/hex.js';
import { gaveUpNonce, type Snapshot, type TxRow } from './snapshot.js';
import { checkAllEnded } from './liveness.js';
import type { Network } from './network/network.js';
import { checkRaces } from './races.js';
import type { OpenSlots } from './open-slots.js';
import type { SimChain } from './sim-chain.js';
import { isForeign, isUsed, untrue } from './standing.js';
import { Violation } from './violation.js';

/** What must hold when faults are off and time has passed. */
export function checkEnd(
  accepted: ReadonlyMap<string, string>,
  end: Snapshot,
  network: Network,
  open: OpenSlots,
): void {
  checkAllEnded(end, network, open);
  checkNothingLost(accepted, end);
  checkNoGap(end, network.chain, open);
  checkOutcomes(end, network);
  checkRaces(end, network.chain);
}

/** I3 and I8: every accepted request is there once, and what nobody asked for is a fill. */
function checkNothingLost(accepted: ReadonlyMap<string, string>, { txs }: Snapshot): void {
  const asked = txs.filter(({ kind, replaces }) => kind === 'payload' && replaces === null);
  const known = new Set(asked.map(({ id }) => id));
  for (const [request, id] of accepted) if (!known.has(id)) fail('I8', `request ${request} is lost`);
  if (known.size !== accepted.size) fail('I3', `${accepted.size} requests made ${known.size} txs`);
}

/** I7: below the highest slot in use, every nonce is on chain; and I9: what is final is on it still, however deep the reorgs were. */
function checkNoGap(end: Snapshot, chain: SimChain, open: OpenSlots): void {
  const [first] = untrue(end, chain);
  if (first !== undefined) fail('I9', first);
  for (const slot of end.slots) {
    if (slot.status === 'CONSUMED' || open.isOnItsWay(slot) || !isUsed(slot, chain)) continue;
    if (slot.status === 'RELEASED' && isForeign(slot, chain)) continue;
    fail('I7', `slot ${slot.nonce} of ${slot.signer} is ${slot.status}, and the chain has used it`);
  }
}

/** I8 and I9: what is CONFIRMED is on chain once, and what FAILED did not execute. */
function checkOutcomes(end: Snapshot, { chain, seen }: Network): void {
  const { txs } = end;
  for (const tx of txs.filter(({ kind }) => kind === 'fill')) checkFill(tx, chain);
  for (const tx of txs.filter(({ kind }) => kind === 'payload')) {
    const onChain = chain.minedTxs().filter(({ data }) => data === tx.data);
    const executed = onChain.filter(({ data }) => !chain.reverting.has(data));
    const expected = tx.state === 'CONFIRMED' ? 1 : 0;
    if (executed.length > expected && chain.wasMoved(tx.data, gaveUpNonce(tx, end)))
      seen.note('a moved payload ran at its old nonce');
    else if (executed.length !== expected)
      fail('I8', `${tx.id} is ${tx.state} (${tx.reason}), and was executed ${executed.length} times`);
    if (tx.state === 'CONFIRMED' && !executed.some(({ hash }) => hash === tx.hash))
      fail('I9', `${tx.id} is confirmed with another hash`);
  }
}

/** A fill is confirmed by the transaction that has its nonce, and dropped where that is not ours. */
function checkFill({ id, state, signer, nonce, hash }: TxRow, chain: SimChain): void {
  const mined = chain.minedBy(parseAddress(signer), BigInt(nonce ?? -1));
  if (state === 'CONFIRMED' && mined?.tx.hash !== hash) fail('I9', `fill ${id} is confirmed with another hash`);
  if (state === 'DROPPED' && mined?.tx.hash === hash) fail('I9', `fill ${id} is dropped, and was mined`);
}

function fail(invariant: string, words: string): never {
  throw new Violation(invariant, words);
}
