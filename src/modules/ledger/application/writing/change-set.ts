import type { Hash } from '../../../../kernel/hex.js';
import type { SignerId } from '../../../../kernel/signer-id.js';
import type { RacedSlot, SequenceState, SlotHolder, SlotRef } from '../../../signers/index.js';
import type { Attempt, AttemptOutcome } from '../../domain/attempt.js';
import type { ManagedTx } from '../../domain/managed-tx.js';
import type { RequestedTx } from '../../domain/managed-tx.repository.js';
import type { Postponement } from '../../domain/tx-writer.js';

/** A slot, and the transaction that used its nonce for good; null for a foreign transaction. */
export interface SlotOutcome extends RacedSlot {
  readonly txHash: Hash | null;
}

/** The changes of one commit, for {@link WriteChanges}. What is left out does not change. */
export interface ChangeSet {
  /** New fills, on slots of `slots.filled` or `slots.adopted`. */
  readonly fills?: readonly RequestedTx[];
  /** Changed copies: their rows and their events are written. */
  readonly txs?: readonly ManagedTx[];
  /** Copies whose events are written. Their rows do not change. */
  readonly noted?: readonly ManagedTx[];
  readonly slots?: SlotChanges;
  readonly attempts?: AttemptChanges;
  /** Txs with which nothing could be done. Only a timer of their rows changes. */
  readonly postponed?: Postponement;
  /** What waits for funds of these signers is due. */
  readonly fundsArrived?: readonly SignerId[];
  /** The first of what waits for room in the daily amounts of these signers is due. Where a slot ends, it is without being asked for. */
  readonly roomCame?: readonly SignerId[];
}

export interface SlotChanges {
  /** Slots of saved txs that get other slots or wait, and that others may get. They are released before any slot is given. */
  readonly vacated?: readonly SlotHolder[];
  /** New or released slots, for txs. Each cursor moves from the value that was read. */
  readonly held?: readonly SlotHolder[];
  readonly cursors?: readonly { readonly from: SequenceState; readonly to: bigint }[];
  /** Slots of transactions that were sent already and that the database did not know. */
  readonly adopted?: readonly SlotHolder[];
  /** Slots without a tx, for fills. */
  readonly filled?: readonly SlotHolder[];
  /** Slots of txs whose block a reorg orphaned. */
  readonly reopened?: readonly RacedSlot[];
  /** Held slots that other txs get, which compete with the present holders. */
  readonly handedOver?: readonly SlotHolder[];
  /** Used for good. The hash is null where a foreign transaction used the nonce. */
  readonly consumed?: readonly SlotOutcome[];
  /** Needs proof that no transaction with their nonces is out. */
  readonly released?: readonly SlotRef[];
  /** Held slots whose nonces authorizations of other txs used. Nothing was sent for them, so no row is kept. */
  readonly forgotten?: readonly SlotRef[];
  /** Slots without a holder that {@link NonceLedger.freeMissing} created under the fence. */
  readonly freed?: readonly SlotRef[];
}

export interface AttemptChanges {
  readonly inserted?: readonly Attempt[];
  /** Refused attempts that are sent again after this commit. */
  readonly resent?: readonly Attempt[];
  readonly answered?: readonly AttemptOutcome[];
  /** The mined attempt of each slot becomes MINED, the others LOST. */
  readonly decided?: readonly SlotOutcome[];
  /** Any attempt of these slots may be mined again. */
  readonly reopened?: readonly SlotRef[];
}

/** Every signer with a change. A signer may appear more than once. */
export function signersIn(changes: ChangeSet): SignerId[] {
  const {
    fills = [],
    txs = [],
    noted = [],
    slots = {},
    attempts = {},
    postponed,
    fundsArrived = [],
    roomCame = [],
  } = changes;
  const ofSlots = [
    slots.vacated,
    slots.held,
    slots.adopted,
    slots.filled,
    slots.handedOver,
    slots.reopened,
    slots.consumed,
    slots.forgotten,
  ];
  const ofAttempts = [attempts.inserted, attempts.resent, attempts.decided, attempts.reopened];
  return [
    ...fills.map(({ tx }) => tx),
    ...txs,
    ...noted,
    ...(postponed?.txs ?? []).map(({ tx }) => tx),
    ...[...fundsArrived, ...roomCame].map((signer) => ({ signer })),
    ...[...ofSlots, slots.released, slots.freed, ...ofAttempts].flatMap((some = []) => some),
    ...(attempts.answered ?? []).map(({ attempt }) => attempt),
  ].map(({ signer }) => signer);
}

/** The txs whose rows change: new fills, and saved copies. */
export function savedIn({ fills = [], txs = [] }: ChangeSet): ManagedTx[] {
  return [...fills.map(({ tx }) => tx), ...txs];
}
