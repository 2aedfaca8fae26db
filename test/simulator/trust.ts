import { actionOf } from '../../src/modules/chain/index.js';
import { classOfSend } from './network/refusal-texts.js';
import type { Network } from './network/network.js';
import type { ModelTx } from '../support/model-chain.js';
import type { SentLog } from './sent-log.js';
import type { SimChain } from './sim-chain.js';
import { MAX_REFUSALS } from './sim-config.js';
import { gaveUpNonce, type Snapshot, type TxRow } from './snapshot.js';
import { Violation } from './violation.js';

const MINED = new Set(['MINED', 'CONFIRMED', 'FAILED', 'CANCELLED']);

/** I13: what cannot be undone was not done on the word of one endpoint. */
export function checkTrust(now: Snapshot, network: Network, sent: SentLog): void {
  checkCursors(now, network);
  for (const tx of now.txs) {
    if (tx.state !== 'FAILED') continue;
    if (tx.block === null) checkUnsent(tx, now, network, sent);
    if (tx.block === null || (!isReverted(tx, now, network) && !isInDoubt(tx, network, sent)))
      checkFailure(tx, now, network);
  }
}

/** I6: what ends without a block was never sent, or its nonce is another's for good. */
function checkUnsent(tx: TxRow, now: Snapshot, { chain }: Network, sent: SentLog): void {
  const out = chain.sent.find(
    (each) => each.data === tx.data && sent.mayBeOut(each.hash) && !isOver(each, tx, now, chain),
  );
  if (out) throw new Violation('I6', `${tx.id} is FAILED (${tx.reason}) without a block, and ${out.hash} may be out`);
}

function isOver(sent: ModelTx, tx: TxRow, now: Snapshot, chain: SimChain): boolean {
  if (chain.wasTakenForGood(sent) || chain.isForgotten(sent)) return true;
  return gaveUpNonce(tx, now) && chain.wasClosedForGood(sent);
}

/** Whoever did not answer may have taken it. Then one that refused it twice, at two blocks, is enough for a no-op, and the chain decides. */
function isInDoubt({ data }: TxRow, { chain }: Network, sent: SentLog): boolean {
  return chain.sent.some((each) => each.data === data && sent.mayBeInPool(each.hash));
}

/** Its block has its payload, and no no-op and no other tx of its slot. */
function isReverted({ hash, blockHash }: TxRow, { attempts }: Snapshot, { chain }: Network): boolean {
  const own = chain.everAt(blockHash ?? '')?.txs.find((tx) => tx.hash === hash);
  return own !== undefined && attempts.find((attempt) => attempt.hash === own.hash)?.kind !== 'cancel';
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

/** Failed, and not by a revert: every node refuses it, or it can never execute. */
function checkFailure(tx: TxRow, now: Snapshot, { curses, needs, hanging, chain }: Network): void {
  const curse = curses.past(tx.data);
  if (curse?.only === null || hanging.has(tx.data)) return;
  const needed = needs.of(tx.data);
  if (needed === null) return;
  // What was to come first is refused itself.
  if (needed !== undefined && curses.past(needed)) return;
  const { response } = actionOf(classOfSend(tx.reason ?? '', -32000));
  // Who alone could be reached refused it as often as is tried. A fault of the payload is not tried so often.
  if (response !== 'fail_payload' && curses.refusalsByOneAlone(tx.data) >= MAX_REFUSALS) return;
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
