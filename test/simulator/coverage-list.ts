import { actionOf } from '../../src/modules/chain/index.js';
import { NODE_ERROR_CLASSES, type NodeErrorClass } from '../../src/kernel/node-error-class.js';
import { CHANGE_KINDS } from '../../src/modules/commands/domain/tx-command.js';
import { EVENT_REASONS, type EventReason } from '../../src/modules/events/domain/tx-event.js';
import type { AttemptKind, AttemptStatus } from '../../src/modules/ledger/domain/attempt.js';
import type { SendVerdict } from '../../src/modules/sending/domain/send-verdict.js';
import { TRANSITIONS, TX_SUB_STATES, type TxSubState } from '../../src/modules/ledger/domain/tx-state-machine.js';
import type { Mishap } from './gate.js';
import type { CurseStart } from './network/curses.js';
import type { Outage } from './network/sim-endpoint.js';
import type { Fate } from './bells.js';
import { ACTIONS } from './script.js';
import { LIE_KINDS } from './watch-network.js';
import { WEAK_SPOTS, type Write, WRITES } from './weak-spots.js';

/** What a run of many seeds must have exercised, or the reason why the simulator cannot. */
export interface Item {
  readonly name: string;
  readonly notSimulated: string | null;
}

const WANTED = null;
/** It happens in some thousands of seeds, so a run can neither demand it nor rule it out. */
export const TOO_SELDOM = 'it happens too seldom to be asked for';
type SlotStatus = 'HELD' | 'CONSUMED' | 'RELEASED';
/** By name: null for what must happen, or why it does not. */
type Reasons<Name extends string> = Readonly<Record<Name, string | null>>;

const ONLY_READS = 'reads say it, and it is not stored';
const NO_PERMIT = 'the product makes no permits';

const CUSTODY_SIGNS = 'each custody of the simulator signs';
const NO_POLICY = 'no signer of the simulator has a policy';

/** By name, like the others. */
const TRANSITION_REASONS: Readonly<Record<string, string>> = {
  'ALLOCATED -> FAILED': CUSTODY_SIGNS,
  // Its payload was out with another nonce, and the database had lost that.
  'ALLOCATED -> PENDING': TOO_SELDOM,
};

const SUB_STATES: Partial<Reasons<TxSubState>> = {
  SIGNER_PAUSED: ONLY_READS,
  SIGNER_UNAVAILABLE: CUSTODY_SIGNS,
  POLICY_HELD: NO_POLICY,
};

const EVENTS: Partial<Reasons<EventReason>> = {
  permit_ready: NO_PERMIT,
  confirmations: 'mined and confirmed tell the confirmations',
};

const VERDICTS: Reasons<SendVerdict['kind']> = {
  sent: WANTED,
  waiting: WANTED,
  refused: WANTED,
  withdrawn: TOO_SELDOM,
};

const SLOTS: Reasons<`${SlotStatus | 'none'} -> ${SlotStatus | 'none'}`> = {
  'none -> none': 'no change',
  'HELD -> HELD': 'no change',
  'CONSUMED -> CONSUMED': 'no change',
  'RELEASED -> RELEASED': 'no change',
  'none -> HELD': WANTED,
  'none -> CONSUMED': WANTED,
  'none -> RELEASED': TOO_SELDOM,
  'HELD -> CONSUMED': WANTED,
  'HELD -> RELEASED': WANTED,
  'HELD -> none': 'a held slot is never forgotten',
  'RELEASED -> HELD': WANTED,
  // Between two looks: it is held by a fill, which is mined.
  'RELEASED -> CONSUMED': TOO_SELDOM,
  'RELEASED -> none': WANTED,
  'CONSUMED -> HELD': WANTED,
  'CONSUMED -> RELEASED': 'a slot that is opened again is held by a fill',
  'CONSUMED -> none': 'what was used is kept',
};

const ATTEMPTS: Reasons<AttemptKind> = { payload: WANTED, cancel: WANTED, fill: WANTED };

const ATTEMPT_STATUSES: Reasons<AttemptStatus> = {
  SIGNED: WANTED,
  UNSENT: WANTED,
  ACCEPTED: WANTED,
  REJECTED: WANTED,
  UNKNOWN: WANTED,
  MINED: WANTED,
  LOST: WANTED,
};

/** Few seeds make them at all. */
const SELDOM_WRITES: ReadonlySet<string> = new Set<Write>([
  'tx_insert_fills',
  'attempt_about_to_send',
  'attempt_decide',
  'nonce_hand_over',
  'nonce_consume',
  'nonce_release',
  'nonce_fill',
  'nonce_reopen',
  'command_insert_replacement',
  'command_edit_request',
  'command_postpone',
  'funds_mark_low',
  'blob_delete',
  'signer_resume',
  'lease_release',
  'database_open_epoch',
]);

const MISHAPS: Reasons<Mishap> = { pause: WANTED, hang: WANTED, crash: WANTED, fail: WANTED };

const OUTAGES: Reasons<Outage> = {
  'refuses connections': WANTED,
  'times out': WANTED,
  resets: WANTED,
  'is busy': WANTED,
  'bad gateway': WANTED,
};

const STARTS: Reasons<CurseStart> = {
  'at once': WANTED,
  'after a time-out': WANTED,
  'after it was accepted': WANTED,
  'after it was kept': WANTED,
};

const BELLS: Reasons<Fate> = { heard: WANTED, lost: WANTED, late: WANTED, doubled: WANTED };

/** How a signer comes to another node, or to the same one again. */
const LEASES = ['first', 'taken over', 'taken after its release', 'taken again by the same node'];

const ENDPOINTS = ['isolated', 'late', 'pruned', 'of another chain'];

const CURSES = ['by all', 'by one endpoint', 'for ever', 'at times'];

const INTAKES = ['created', 'forwarded', 'of a forwarded request', 'with an expiry'];

const RECOVERIES = ['of slots without an attempt', 'of attempts that may be out'];

/** Of cancel, replace and speed-up, by what becomes of them at the door. */
const COMMANDS = [
  ...CHANGE_KINDS.map((kind) => `${kind} for the owner`),
  'cancel at once',
  'replace at once',
  ...CHANGE_KINDS.flatMap((kind) => [`${kind} refused: already_mined`, `${kind} refused: already_final`]),
  ...CHANGE_KINDS.map((kind) => `${kind} refused: being_replaced`),
];

/** Branches that only the log tells of. */
const LOGGED = [
  'lease handed over',
  'lease lost',
  'lane step failed',
  'work for a signer failed',
  'transaction set aside',
  'failed to store an attempt',
  'no-op signed',
  'fill created for nonce gap',
  'nonce used by a foreign transaction',
  'nonce raised by foreign transactions',
  'failed to read nonce: too few endpoints answered',
  'reorg',
  'receipt ignored: its block is not on the followed chain',
  'receipt changed between two reads',
  'finality delayed: no quorum for the head, or observed only once',
  'failed to fetch block receipts',
  'block receipts are not proven by the receipts root',
  'rpc endpoint failed',
  'rpc endpoint serves another chain and is not used',
];

const FINALITY = ['safe', 'finalized'];

const TAGS = ['stand still', 'jump', 'go back', 'are unknown', 'follow'];

/** How the chain, its pools and its prices move. */
const MOVES = [
  'an estimate that hangs, among others',
  'an estimate that hangs, alone',
  'a batch of estimates that is too heavy',
  'a chain with two endpoints',
  'a reorg of what was final',
  'a final transaction is opened again',
  'a reorg mines transactions again',
  'a reorg mines transactions in another order',
  'a reorg mines another transaction for a nonce',
  'a reorg changes the winner of a race',
  'a signer is paused',
  'a signer is resumed',
  'an account is stopped',
  'an account goes on',
  'a block has the transaction that the pool did not keep',
  'a connection for sends alone is refused',
  'a node keeps what it refuses',
  'a block has a payload that its node had refused',
  'a pool drops what cannot be paid any more',
  'pools drop a payload that they had accepted',
  'a send is refused for want of funds',
  'funds are spent',
  'funds are spent in flight',
  'a top-up',
  'a foreign transaction competes by its price: taken',
  'a foreign transaction competes by its price: replacement transaction underpriced',
  'the base fee rises above the caps',
  'the base fee falls below the caps again',
  'the base fee rises tenfold within a few blocks',
  'a full pool drops the cheapest transaction',
  'a full pool drops the highest nonces',
  'a pool refuses: transaction underpriced',
  'a pool refuses: future transaction tries to replace pending',
  'a pool refuses: account limit exceeded',
  'an old transaction count',
  'a tag that no node knows',
  'a request with confirmations of its own',
];

/** The whole list. */
export const COVERAGE: readonly Item[] = [
  ...wanted('action', ACTIONS),
  ...wanted(
    'mishap',
    Object.keys(MISHAPS).flatMap((mishap) => [mishap, ...spotsOf(mishap)]),
  ),
  ...WRITES.map((write) => itemOf('unanswered write', write, SELDOM_WRITES.has(write) ? TOO_SELDOM : WANTED)),
  ...wanted('lie', LIE_KINDS),
  ...listed('outage', OUTAGES),
  ...wanted('endpoint', ENDPOINTS),
  ...NODE_ERROR_CLASSES.map((each) => ({ name: `curse ${each}`, notSimulated: whyNoCurse(each) })),
  ...listed('curse', STARTS),
  ...wanted('curse', CURSES),
  ...Object.entries(TRANSITIONS).flatMap(([from, targets]) =>
    targets.map((to) => itemOf('transition', `${from} -> ${to}`, TRANSITION_REASONS[`${from} -> ${to}`])),
  ),
  ...TX_SUB_STATES.map((each) => itemOf('sub-state', each, SUB_STATES[each])),
  ...EVENT_REASONS.map((each) => itemOf('event', each, EVENTS[each])),
  ...listed('verdict', VERDICTS),
  ...listed('slot', SLOTS),
  ...listed('attempt', ATTEMPTS),
  ...listed('attempt status', ATTEMPT_STATUSES),
  ...wanted('lease', LEASES),
  ...listed('bell', BELLS),
  ...wanted('intake', INTAKES),
  ...wanted('recovery', RECOVERIES),
  ...wanted('lost commit of a', ['payload', 'cancel', 'fill']),
  ...wanted('lost event', [
    'queued',
    'nonce_reserved',
    'signed',
    'sent',
    'gas_bumped',
    'mined',
    'confirmed',
    'competitive_sent',
    'failed',
  ]),
  ...wanted('command', COMMANDS),
  ...wanted('log', LOGGED),
  ...wanted('finality by', FINALITY),
  ...wanted('the tags', TAGS),
  ...MOVES.map((name) => ({ name, notSimulated: WANTED })),
  ...wanted('settled', ['while leases end', 'while leases stay']),
];

function wanted(kind: string, names: readonly string[]): Item[] {
  return names.map((name) => itemOf(kind, name));
}

function listed<Name extends string>(kind: string, reasons: Reasons<Name>): Item[] {
  return Object.entries<string | null>(reasons).map(([name, reason]) => itemOf(kind, name, reason));
}

function itemOf(kind: string, name: string, notSimulated: string | null = WANTED): Item {
  return { name: `${kind} ${name}`, notSimulated };
}

function spotsOf(mishap: string): string[] {
  return WEAK_SPOTS.map((spot) => `${mishap} at ${spot}`);
}

/** Payloads are refused for what is about them. */
function whyNoCurse(errorClass: NodeErrorClass): string | null {
  if (actionOf(errorClass).outcome === 'accepted') return 'no refusal';
  if (errorClass === 'rate_limited') return 'about an endpoint: it is busy';
  if (errorClass === 'method_unsupported') return 'about a method: an endpoint is without it';
  return errorClass === 'hash_mismatch' ? 'about an answer, and no node says it' : WANTED;
}
