import type { ModelTx } from '../support/model-chain.js';
import type { Network } from './network/network.js';
import { checkPrices } from './prices.js';
import type { SentLog } from './sent-log.js';
import { isRace, isWithdrawn, withdrawnFor } from './races.js';
import type { SimChain } from './sim-chain.js';
import type { EventRow, Snapshot, TxRow } from './snapshot.js';
import { checkTrust } from './trust.js';
import { Violation } from './violation.js';

const LIVE = new Set(['ALLOCATED', 'IN_MEMPOOL', 'MINED']);

/** What must hold after every single action; throws the first thing that does not. */
export function checkInvariants(before: Snapshot, now: Snapshot, network: Network, sent: SentLog): void {
  const { chain } = network;
  checkPayloadsOnChain(chain);
  checkSent(chain, sent, now);
  checkEvents(now);
  checkNonces(now);
  checkFence(before, now);
  checkPrices(before, now, network, sent);
  checkTrust(now, network, sent);
  checkFinality(now, chain);
  checkReopened(before, now, network);
}

/** I8: a payload executes at most once. */
function checkPayloadsOnChain(chain: SimChain): void {
  const seen = new Map<string, ModelTx>();
  for (const tx of chain.ourMinedPayloads()) {
    const other = seen.get(tx.data);
    // It was moved because the nonce was gone for good, and a reorg deeper than that gave it back.
    if (other && chain.wasMoved(tx.data, true)) continue;
    if (other) fail('I8', `payload ${tx.data} is on chain twice, at nonces ${other.nonce} and ${tx.nonce}`);
    seen.set(tx.data, tx);
  }
}

/** Rule 23 and I8: one payload to a nonce, and one nonce to a payload; and recovery sends the same bytes (I5). */
function checkSent(chain: SimChain, sent: SentLog, now: Snapshot): void {
  const earlier: ModelTx[] = [];
  for (const tx of new Map(chain.sent.map((each) => [each.hash, each])).values()) {
    if (!chain.isPayload(tx)) continue;
    for (const other of earlier)
      if (!chain.wasTakenForGood(other) && !chain.isForgotten(other)) checkRivals(other, tx, sent, now, chain);
    earlier.push(tx);
  }
}

/** Who knows nothing of some bytes signs others for their nonce. */
function checkRivals(first: ModelTx, second: ModelTx, sent: SentLog, now: Snapshot, chain: SimChain): void {
  const where = `at nonce ${second.nonce} of ${second.from}`;
  const sameSlot = first.from === second.from && first.nonce === second.nonce;
  const samePayload = first.data === second.data;
  if (sameSlot && !samePayload && sent.mayBeOut(first.hash) && !isRace(first.data, second.data, now))
    fail('rule 23', `payload ${second.data} was sent ${where}, where ${first.data} may be out`);
  if (samePayload && !sameSlot && sent.mayBeOut(first.hash) && !chain.wasClosedForGood(first))
    fail('I8', `payload ${second.data} was sent ${where}, and may be out at nonce ${first.nonce}`);
  const isUnknown = chain.lostBytes.has(first.hash) || chain.lostBytes.has(second.hash);
  if (samePayload && sameSlot && sent.mayBeOut(first.hash) && !isUnknown && !hasBump(second, now))
    fail('I5', `payload ${second.data} was sent ${where} with other bytes than before, and nobody raised its fees`);
}

function hasBump({ data }: ModelTx, { txs, events }: Snapshot): boolean {
  const id = txs.find((tx) => tx.data === data)?.id;
  return events.some(({ tx, reason }) => tx === id && reason === 'gas_bumped');
}

/** I10: every change of state has its event, and they form one unbroken line. */
function checkEvents({ txs, events }: Snapshot): void {
  const byTx = groupByTx(events);
  for (const tx of txs) {
    let state: string | null = null;
    for (const { from, to, seq } of byTx.get(tx.id) ?? []) {
      if (from !== state) fail('I10', `event ${seq} of ${tx.id} starts at ${from}, and it was ${state}`);
      state = to;
    }
    if (state !== tx.state) fail('I10', `${tx.id} is ${tx.state}, and its events end at ${state}`);
  }
}

/** A nonce changes only by way of PENDING, and live txs never share one. */
function checkNonces({ txs, events }: Snapshot): void {
  const byTx = groupByTx(events);
  const live = new Map<string, TxRow>();
  for (const tx of txs) {
    const own = byTx.get(tx.id) ?? [];
    const reserved = own.filter(
      ({ reason, from }) => reason === 'nonce_reserved' || (reason === 'nonce_recovered' && from === 'PENDING'),
    );
    const freed = own.filter(({ from, to }) => from !== null && from !== 'PENDING' && to === 'PENDING');
    if (reserved.length > freed.length + 1)
      fail('rule 23', `${tx.id} got a second nonce without giving back the first`);
    if (tx.nonce !== null && reserved.at(-1)?.nonce !== String(tx.nonce))
      fail('I10', `${tx.id} has nonce ${tx.nonce}, and its events say ${reserved.at(-1)?.nonce}`);
    if (!LIVE.has(tx.state) || tx.replacedBy !== null || isWithdrawn(tx, txs)) continue;
    const key = `${tx.signer}/${tx.nonce}`;
    const other = live.get(key);
    if (other) fail('I7', `${other.id} and ${tx.id} are live at the same nonce ${tx.nonce}`);
    live.set(key, tx);
  }
}

/**
 * I2: a write that shows up after a lease changed hands carries the new token, or a later one; and the events of a signer
 * carry tokens that never fall.
 */
function checkFence(before: Snapshot, now: Snapshot): void {
  const held = new Map(before.leases.map(({ signer, token }) => [signer, token]));
  const late = (signer: string, token: number | null, what: string): void => {
    const current = held.get(signer);
    if (token !== null && current !== undefined && token < current)
      fail('I2', `${what} was written with token ${token} after ${current} was given out for ${signer}`);
  };
  for (const change of changed(before.cursors, now.cursors)) late(change.signer, change.token, 'the cursor');
  for (const change of changed(before.slots, now.slots)) late(change.signer, change.token, `slot ${change.nonce}`);
  for (const change of changed(before.attempts, now.attempts))
    late(change.signer, change.token, `attempt ${change.hash}`);
  // What waits without a nonce is cancelled and edited by any node.
  const asked = new Set(changed(before.commands, now.commands).map(({ tx }) => tx));
  for (const change of changed(before.txs, now.txs))
    if (change.nonce !== null || !asked.has(change.id)) late(change.signer, change.token, `tx ${change.id}`);
  const known = new Set(before.events.map(({ seq }) => seq));
  for (const event of now.events)
    if (!known.has(event.seq)) late(event.signer, event.token, `event ${event.reason} of ${event.tx} by ${event.node}`);
  checkTokenOrder(now.events);
}

function checkTokenOrder(events: readonly EventRow[]): void {
  const highest = new Map<string, number>();
  for (const { signer, token, seq } of events) {
    if (token === null) continue;
    const before = highest.get(signer) ?? 0;
    if (token < before) fail('I2', `event ${seq} of ${signer} carries token ${token} after ${before}`);
    highest.set(signer, token);
  }
}

/** I9: final by a block that was deep enough, and that has it; whether a deeper reorg took it back since is asked at the end. */
function checkFinality(now: Snapshot, chain: SimChain): void {
  for (const tx of now.txs) {
    if (!isDecided(tx)) continue;
    const block = chain.everAt(tx.blockHash ?? '');
    if (!block) fail('I9', `${tx.id} is ${tx.state} by a block that was never on the chain`);
    const decided = block.transactionHashes.some((hash) => hash === tx.hash) ? tx : withdrawnFor(tx, block, now);
    if (!decided) fail('I9', `${tx.id} is not in its block`);
    if (!chain.finality.wasFinal(block.hash, decided.confirmations)) fail('I9', `${tx.id} is ${tx.state} too early`);
  }
}

/** I13: what was final is opened again when its block is gone, and for no other reason. */
function checkReopened(before: Snapshot, now: Snapshot, network: Network): void {
  const states = new Map(now.txs.map(({ id, state }) => [id, state]));
  for (const tx of before.txs) {
    if (!isDecided(tx) || states.get(tx.id) === tx.state) continue;
    if (tx.blockHash !== null && network.chain.has(tx.blockHash) && !network.isBelievedAlone)
      fail('I13', `${tx.id} was ${tx.state}, its block is on the chain, and it is ${states.get(tx.id)} now`);
    network.seen.note('a final transaction is opened again');
  }
}

function isDecided({ state, block }: TxRow): boolean {
  return ['CONFIRMED', 'FAILED', 'CANCELLED'].includes(state) && block !== null;
}

function groupByTx(events: readonly EventRow[]): Map<string, EventRow[]> {
  const groups = new Map<string, EventRow[]>();
  for (const event of events) {
    const group = groups.get(event.tx);
    if (group) group.push(event);
    else groups.set(event.tx, [event]);
  }
  return groups;
}

/** Rows that are new, or not what they were. */
function changed<Row>(before: readonly Row[], now: readonly Row[]): Row[] {
  const known = new Set(before.map((row) => JSON.stringify(row)));
  return now.filter((row) => !known.has(JSON.stringify(row)));
}

function fail(invariant: string, words: string): never {
  throw new Violation(invariant, words);
}
