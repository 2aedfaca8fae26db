import type { Nonce } from '../../../kernel/signer-id.js';
import type { BlockRef } from './block.js';

/** Decisions that cannot be undone (docs/invariants.md, I13). One answer is enough for all others, such as sending the same bytes again. */
export type Decision =
  /** Give up a nonce that a foreign transaction used; its payload moves to another nonce. */
  | 'move_payload'
  /** Fail a payload because its gas estimate says that it can never succeed. */
  | 'fail_payload'
  /** Raise the nonce cursor of a signer above our own highest slot. */
  | 'raise_cursor'
  /** Give up a nonce of an outside sender as unused. */
  | 'release_hold'
  | 'make_final'
  | 'reopen_final'
  | 'sign_fee'
  /** Hold a signer, because the chain is behind our books: it used fewer nonces than we call consumed, or is another one. */
  | 'hold_signer'
  /** Call the nonce of a permit used or free for good, or its payload one that can never succeed although its permit is right. */
  | 'judge_permit';

/**
 * `every`: each configured endpoint of the right chain must answer, also one that lags, is in back-off or is not used for reads. An
 * endpoint that does not answer, lags or has no state makes the result "not known".
 *
 * `half`: all endpoints of the right chain are asked. At least half of all configured endpoints must answer, and either all answers or
 * more than half of all endpoints must agree. So a single endpoint that is down or on another branch does not stop all sending and
 * all finality (docs/invariants.md, I14).
 */
export type Quorum = 'every' | 'half';

export interface Evidence {
  readonly quorum: Quorum;
  /** How many observations, at different blocks, must be equal before the decision is made. */
  readonly observations: 1 | 2;
  /** The same when only one endpoint answered: no other endpoint can contradict an answer that is wrong for a moment. */
  readonly observationsAlone: 1 | 2;
}

/** The table of docs/trust.md. It has every decision, so a new decision does not compile without its evidence. */
export const EVIDENCE = {
  // A wrong decision executes a payload twice. This is the only decision here that nothing can repair.
  move_payload: { quorum: 'every', observations: 2, observationsAlone: 2 },
  fail_payload: { quorum: 'half', observations: 2, observationsAlone: 2 },
  raise_cursor: { quorum: 'half', observations: 2, observationsAlone: 2 },
  // What its sender sent may be in the pool of one endpoint only, and is mined after the sender was told that it is not.
  release_hold: { quorum: 'every', observations: 2, observationsAlone: 2 },
  // The read that found the transaction mined was the first observation. A single endpoint may be ahead of the chain for a moment.
  make_final: { quorum: 'half', observations: 1, observationsAlone: 2 },
  reopen_final: { quorum: 'half', observations: 1, observationsAlone: 2 },
  // A single endpoint whose tips jump needs two observations: see `FeeQuotes`.
  sign_fee: { quorum: 'half', observations: 1, observationsAlone: 1 },
  // One URL may lead to several nodes: the count may be that of one that lags, and the head that of another.
  hold_signer: { quorum: 'half', observations: 2, observationsAlone: 2 },
  // Who reads it has seen the transaction final, or observes the revert twice. A single endpoint may tell anything for a moment.
  judge_permit: { quorum: 'half', observations: 1, observationsAlone: 2 },
} as const satisfies Record<Decision, Evidence>;

/**
 * @param answers one item per endpoint that the decision counts; null for an endpoint that did not answer
 * @returns the answers, when enough endpoints answered for this decision; else null: not known
 */
export function sufficient<T>(decision: Decision, answers: readonly (T | null)[]): readonly T[] | null {
  const given = answers.filter((answer) => answer !== null);
  const needed = EVIDENCE[decision].quorum === 'every' ? answers.length : Math.ceil(answers.length / 2);
  return given.length > 0 && given.length >= needed ? given : null;
}

/** An answer that the endpoints agree on, and whether only one endpoint gave it. */
export interface Agreed<T> {
  readonly value: T;
  readonly isAlone: boolean;
}

/**
 * The value that all answers have, when enough endpoints answered, or the value that more than half of all endpoints answered: a
 * minority that contradicts neither wins nor blocks the others. Null in every other case: not known.
 */
export function agreedUpon<T extends string | number | bigint>(
  decision: Decision,
  answers: readonly (T | null)[],
): Agreed<T> | null {
  const given = sufficient(decision, answers) ?? [];
  const [first] = given;
  if (first !== undefined && given.every((each) => each === first))
    return { value: first, isAlone: given.length === 1 };
  const votes = new Map<T, number>();
  for (const each of given) votes.set(each, (votes.get(each) ?? 0) + 1);
  const [winner] = [...votes].find(([, count]) => 2 * count > answers.length) ?? [];
  return winner === undefined ? null : { value: winner, isAlone: false };
}

/** How many observations at different blocks the decision needs. */
export function observationsNeeded(decision: Decision, isAlone: boolean): 1 | 2 {
  const { observations, observationsAlone } = EVIDENCE[decision];
  return isAlone ? observationsAlone : observations;
}

/** Whether an equal observation counts as a second one. Two observations at the same block count as one. */
export function isLaterObservation(earlier: BlockRef, later: BlockRef): boolean {
  return later.number > earlier.number;
}

/** A transaction count from more than one endpoint, if the chain has more than one. */
export interface AgreedCount {
  readonly nonce: Nonce;
  /** A head block of the endpoints that answered. Two observations at the same block count as one. */
  readonly block: BlockRef;
}
