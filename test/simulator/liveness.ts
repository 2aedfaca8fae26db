import { LaneMemory } from '../../src/modules/ledger/application/writing/lane-memory.js';
import { parseAddress } from '../../src/kernel/hex.js';
import { signerKey, type SignerId } from '../../src/kernel/signer-id.js';
import type { Network } from './network/network.js';
import type { OpenSlots } from './open-slots.js';
import type { SimNode } from './sim-node.js';
import type { Snapshot, TxRow } from './snapshot.js';
import { untrue } from './standing.js';
import { Violation } from './violation.js';

/**
 * Blocks within which everything ends once the faults are over. At most thirty requests, four to a batch and eight in flight, are
 * mined within eight blocks; each of the few refused for ever costs the blocks until it is given up and its slot is closed; a nonce
 * that somebody else used costs two looks and the blocks of finality between them; and three more make the last one final.
 */
export const BLOCKS_TO_END = 40;

/** Those that are refused for ever go round, and rest a little longer each time: two of them in turn are at rest together only after so many. */
export const BLOCKS_TO_REST = 4 * BLOCKS_TO_END;

const FINAL = new Set(['CONFIRMED', 'FAILED', 'CANCELLED', 'REPLACED', 'DROPPED']);

/** Nothing is under way any more: every request and command has ended, as the chain has it, and every slot below the highest one is used. */
export function isQuiet({ txs, slots, commands }: Snapshot, network: Network, open: OpenSlots): boolean {
  return (
    !open.any &&
    // One that could not be done is due again later, and is decided then.
    commands.every(({ status }) => status !== 'QUEUED') &&
    txs.every((tx) => hasEnded(tx, txs, network)) &&
    untrue({ txs, slots }, network.chain).length === 0
  );
}

/**
 * What no node ever takes may wait, with a reason and a next time, and in nobody's way: without a nonce, or in front of its like only, for
 * where nobody gets through the fault may be the node's. What it replaces rests meanwhile.
 */
function hasEnded(tx: TxRow, txs: readonly TxRow[], network: Network): boolean {
  const { chain } = network;
  if (FINAL.has(tx.state)) return true;
  const replacement = txs.find(({ id, nonce }) => id === tx.replacedBy && nonce === tx.nonce);
  if (tx.sub === 'REPLACING' && replacement && !FINAL.has(replacement.state))
    return hasEnded(replacement, txs, network);
  // It was refused, and what it was to replace decides about both.
  const original = txs.find(({ withdrawn }) => withdrawn === tx.id);
  if (tx.sub === 'REPLACING' && original && !FINAL.has(original.state)) return hasEnded(original, txs, network);
  if (!isHopeless(tx, network) || !tx.resubmits) return false;
  // A replacement waits for its command, which decides whatever nodes think of its payload.
  if (tx.state === 'PENDING') return tx.sub !== 'REPLACING';
  const { nonce } = tx;
  if (nonce !== null && chain.minedBy(parseAddress(tx.signer), BigInt(nonce))) return false;
  const isBehind = (other: TxRow): boolean =>
    other.signer === tx.signer && other.nonce !== null && nonce !== null && other.nonce > nonce;
  return (
    tx.sub !== null && !txs.some((other) => isBehind(other) && !FINAL.has(other.state) && !isHopeless(other, network))
  );
}

function isHopeless({ data }: TxRow, { curses, needs, hanging }: Network): boolean {
  return curses.isHopeless(data) || needs.of(data) !== undefined || hanging.has(data);
}

/** Whether all has ended but for payloads that nodes refuse for ever. */
export function onlyHopelessAreLeft({ txs, slots, commands }: Snapshot, network: Network): boolean {
  const left = txs.filter((tx) => !hasEnded(tx, txs, network));
  return (
    left.length > 0 &&
    left.every(({ data }) => network.curses.isHopeless(data)) &&
    commands.every(({ status }) => status !== 'QUEUED') &&
    untrue({ txs, slots }, network.chain).length === 0
  );
}

/** I8: faults are over for so many blocks. */
export function checkAllEnded({ txs }: Snapshot, network: Network, open: OpenSlots): void {
  for (const { signer } of txs) {
    const waiting = txs.filter((tx) => tx.signer === signer && !hasEnded(tx, txs, network));
    const [first] = waiting.sort((a, b) => (a.nonce ?? Infinity) - (b.nonce ?? Infinity));
    if (!first) continue;
    const { id, state, sub, nonce, data } = first;
    const why = network.curses.past(data)?.words;
    throw new Violation(
      'I8',
      `${BLOCKS_TO_END} blocks after the last fault ${waiting.length} of ${signer} stand still, first of all ${id}, ${state}/${sub} at nonce ${nonce}` +
        (why ? `, refused with ${why.class} (${why.message})` : ''),
    );
  }
  const stuck = open.stuck();
  if (stuck !== null) throw new Violation('I7', `${stuck} is never consumed`);
}

/** I8, at every moment: whatever is not final has a timer, or somebody whose next step it is. */
export function checkEverythingWakes(
  now: Snapshot,
  { nodes, signers }: { readonly nodes: readonly SimNode[]; readonly signers: readonly SignerId[] },
): void {
  for (const tx of now.txs) {
    // The nonces of outside senders are looked at in turn.
    if (
      (tx.kind === 'hold' && tx.nonce !== null) ||
      (tx.state !== 'PENDING' && tx.state !== 'ALLOCATED' && tx.state !== 'IN_MEMPOOL')
    )
      continue;
    if (tx.isFar && !now.commands.some(({ replacement, status }) => replacement === tx.id && status === 'QUEUED'))
      fail(tx, 'its next time is more than a day away');
    if (tx.state === 'PENDING' || tx.resubmits || now.txs.some((rival) => isSentFor(tx, rival))) continue;
    if (tx.state === 'IN_MEMPOOL') fail(tx, 'nobody will send it again');
    // Recovery leaves those to what ends them, which is due again until it has.
    const isCancelled = now.commands.some(
      (each) => each.tx === tx.id && each.kind === 'cancel' && each.status === 'QUEUED',
    );
    if (isCancelled || (tx.endsAt !== null && tx.endsAt <= now.atMs)) continue;
    const lease = now.leases.find(({ signer, isLive }) => signer === tx.signer && isLive);
    const owner = nodes.find(({ id }) => id === lease?.owner);
    const signer = signers.find(({ address }) => address === tx.signer);
    if (
      lease &&
      owner &&
      signer &&
      !isAtWork(owner) &&
      !owner.get(LaneMemory).needsRecovery({ signer, token: BigInt(lease.token), owner: owner.id })
    )
      fail(tx, `it has no timer, and its owner ${owner.id} believes that it has recovered ${signerKey(signer)}`);
  }
}

/** In a race one is sent again, or is in a block: the others rest. */
function isSentFor(tx: TxRow, rival: TxRow): boolean {
  const isRival = rival.id !== tx.id && rival.signer === tx.signer && rival.nonce === tx.nonce;
  return (
    isRival &&
    (rival.state === 'MINED' || rival.withdrawn === tx.id || (tx.replacedBy !== null && rival.state !== 'PENDING'))
  );
}

function isAtWork({ isBusy, gate }: SimNode): boolean {
  return isBusy || gate.isHeld || gate.isDead;
}

function fail({ id, state, sub }: TxRow, words: string): never {
  throw new Violation('I8', `${id} is ${state}/${sub}, and nothing wakes it: ${words}`);
}
