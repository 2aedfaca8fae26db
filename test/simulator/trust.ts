import { actionOf } from '../../src/modules/chain/index.js';
import { classOfSend } from './network/refusal-texts.js';
import type { Network } from './network/network.js';
import type { SimChain } from './sim-chain.js';
import type { Snapshot, TxRow } from './snapshot.js';
import { Violation } from './violation.js';

const MINED = new Set(['MINED', 'CONFIRMED', 'FAILED', 'CANCELLED']);

/** I13: what cannot be undone was not done on the word of one endpoint. */
export function checkTrust(now: Snapshot, network: Network): void {
  checkCursors(now, network);
  for (const tx of now.txs) if (tx.state === 'FAILED' && tx.block === null) checkFailure(tx, now, network);
}

/** Past the slots of ours only as far as the chain ever counted. */
function checkCursors({ cursors, slots }: Snapshot, { chain }: Network): void {
  for (const { signer, nonce } of cursors) {
    const next = Math.max(0, ...slots.flatMap((slot) => (slot.signer === signer ? [slot.nonce + 1] : [])));
    const counted = Number(chain.highestCount(signer));
    if (nonce > Math.max(next, counted))
      fail(
        `the cursor of ${signer} is ${nonce}, our slots end below ${next}, and the chain never counted past ${counted}`,
      );
  }
}

/** Failed without a block: every node refuses it, or it can never execute. */
function checkFailure(tx: TxRow, now: Snapshot, { curses, needs, hanging, chain }: Network): void {
  const curse = curses.past(tx.data);
  if (curse?.only === null || hanging.has(tx.data)) return;
  const needed = needs.of(tx.data);
  if (needed === null) return;
  // What was to come first is refused itself.
  if (needed !== undefined && curses.past(needed)) return;
  const { response } = actionOf(classOfSend(tx.reason ?? '', -32000));
  // Somebody else's transaction kept the nonce, in every pool, for as often as is tried.
  if (response === 'check_receipts') return;
  // Nodes refused a replacement for what may pass, as often as is tried. It was withdrawn, and its original goes on.
  if (tx.replaces !== null && (response === 'wait_for_funds' || response === 'reprice')) return;
  if (needed !== undefined && neverCame(tx, needed, now, chain)) return;
  fail(`${tx.id} with payload ${tx.data} is FAILED (${tx.reason}), and not every node would refuse it`);
}

/** What was to come first is not there, and nobody can say that it will be. */
function neverCame(tx: TxRow, needed: string, now: Snapshot, chain: SimChain): boolean {
  const first = now.txs.find(({ data }) => data === needed);
  // It is not mined, and may never be: DROPPED when it expired after a foreign transaction had used its nonce.
  // Or its payload was replaced in the queue, and is in no row any more.
  if (!first || ['FAILED', 'PENDING', 'DROPPED', 'CANCELLED', 'REPLACED'].includes(first.state)) return true;
  // It was on the chain for good, and a reorg deeper than that took it back.
  return chain.wasTakenBack(first.data, first.confirmations) || lostItsSlotBefore(tx, first, now, chain);
}

/**
 * When a payload failed, the slot of what was to come first was mined, by our own cancellation or by a replacement. So it can never execute,
 * and its row says so only when the block is final. That every node refuses the payload until then rests on two looks, like any estimate.
 */
function lostItsSlotBefore(tx: TxRow, first: TxRow, { attempts, events }: Snapshot, chain: SimChain): boolean {
  const failure = events.findLast((event) => event.tx === tx.id && event.to === 'FAILED');
  const stateThen = (id: string | null): string | null | undefined =>
    events.findLast((event) => event.tx === id && event.seq < (failure?.seq ?? 0))?.to;
  return attempts.some(
    ({ tx: of, kind, hash, signer, nonce }) =>
      signer === first.signer &&
      nonce === first.nonce &&
      (of !== first.id || kind === 'cancel') &&
      chain.wasMined(hash) &&
      MINED.has(stateThen(of) ?? ''),
  );
}

function fail(words: string): never {
  throw new Violation('I13', words);
}
