import { actionOf } from '../../src/modules/chain/index.js';
import { classOfSend } from './network/refusal-texts.js';
import type { Network } from './network/network.js';
import type { SimChain } from './sim-chain.js';
import type { Snapshot, TxRow } from './snapshot.js';
import { Violation } from './violation.js';

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
function checkFailure(tx: TxRow, now: Snapshot, { curses, needs, chain }: Network): void {
  const { txs, attempts } = now;
  const curse = curses.past(tx.data);
  if (curse?.only === null) return;
  const needed = needs.of(tx.data);
  if (needed === null) return;
  // What was to come first is refused itself.
  if (needed !== undefined && curses.past(needed)) return;
  const { response } = actionOf(classOfSend(tx.reason ?? '', -32000));
  // Somebody else's transaction kept the nonce, in every pool, for as often as is tried.
  if (response === 'check_receipts') return;
  // There was no money for as often as is tried, and its slot had to be closed, for it may be out.
  if (response === 'wait_for_funds' && attempts.some((each) => each.tx === tx.id && each.kind === 'cancel')) return;
  const first = txs.find(({ data }) => data === needed);
  // It is not mined, and may never be: DROPPED when it expired after a foreign transaction had used its nonce.
  // Or its payload was replaced in the queue, and is in no row any more.
  if (!first || ['FAILED', 'PENDING', 'DROPPED', 'CANCELLED', 'REPLACED'].includes(first.state)) return;
  // It was on the chain for good, and a reorg deeper than that took it back.
  if (chain.wasTakenBack(first.data, first.confirmations)) return;
  if (wasCancelledBefore(tx, first, now, chain)) return;
  fail(`${tx.id} with payload ${tx.data} is FAILED (${tx.reason}), and not every node would refuse it`);
}

/**
 * When a payload failed, what was to come first was mined, and our own cancellation is what was mined. So it can never execute, and its
 * row is FAILED only when the block is final. That every node refuses the payload until then rests on two looks, like any
 * estimate.
 */
function wasCancelledBefore(tx: TxRow, first: TxRow, { attempts, events }: Snapshot, chain: SimChain): boolean {
  const failure = events.findLast((event) => event.tx === tx.id && event.to === 'FAILED');
  const then = events.findLast((event) => event.tx === first.id && event.seq < (failure?.seq ?? 0))?.to;
  const isOver = then === 'MINED' || then === 'FAILED';
  return (
    isOver && attempts.some(({ tx: of, kind, hash }) => of === first.id && kind === 'cancel' && chain.wasMined(hash))
  );
}

function fail(words: string): never {
  throw new Violation('I13', words);
}
