import type { BlockRef } from './block.js';

/** Decisions that cannot be undone (I13). Whatever can be undone, such as sending the same bytes again, may rest on one answer. */
export type Decision =
  /** Give up a nonce as taken by a foreign transaction; its payload moves to another nonce. */
  | 'move_payload'
  /** Fail a payload because its gas estimate says that it can never succeed. */
  | 'fail_payload'
  /** Raise the nonce cursor of a signer beyond our own highest slot. */
  | 'raise_cursor'
  | 'make_final'
  | 'reopen_final'
  | 'sign_fee';

/**
 * `every`: each configured endpoint of the right chain must say so, also one that lags, is in back-off or is left out of reads.
 * Silence, lag and missing state mean "not known".
 *
 * `speakers`: all endpoints of the right chain are asked, at least half of all that are configured must speak, and they must agree, or
 * more than half of all. Neither a dead provider nor one on another branch must stop all sending and all finality alone (I14).
 */
export type Witnesses = 'every' | 'speakers';

export interface Evidence {
  readonly witnesses: Witnesses;
  /** Looks at different blocks that must say the same before the decision is made, however many endpoints speak. */
  readonly looks: 1 | 2;
  /** The same where one endpoint alone speaks: nobody else can say that it was confused for a moment. */
  readonly looksAlone: 1 | 2;
}

/** The table of docs/trust.md: total over the decisions, so that a new one does not compile until somebody decided what it needs. */
export const EVIDENCE = {
  // A wrong decision runs a payload twice: the only one here that nothing makes good again.
  move_payload: { witnesses: 'every', looks: 2, looksAlone: 2 },
  fail_payload: { witnesses: 'speakers', looks: 2, looksAlone: 2 },
  raise_cursor: { witnesses: 'speakers', looks: 2, looksAlone: 2 },
  // The first look of several speakers is the one that found the transaction mined. One alone may be ahead of the chain for a moment.
  make_final: { witnesses: 'speakers', looks: 1, looksAlone: 2 },
  reopen_final: { witnesses: 'speakers', looks: 1, looksAlone: 2 },
  // A single endpoint whose tips leap needs two looks all the same: see `FeeQuotes`.
  sign_fee: { witnesses: 'speakers', looks: 1, looksAlone: 1 },
} as const satisfies Record<Decision, Evidence>;

/**
 * What endpoints say for themselves, one item for each endpoint that the decision counts, null for a silent one.
 *
 * @returns what was said, when enough endpoints spoke for this decision; else null: not known
 */
export function sufficient<T>(decision: Decision, answers: readonly (T | null)[]): readonly T[] | null {
  const said = answers.filter((answer) => answer !== null);
  const needed = EVIDENCE[decision].witnesses === 'every' ? answers.length : Math.ceil(answers.length / 2);
  return said.length > 0 && said.length >= needed ? said : null;
}

/** What was said, and whether one endpoint alone said it. */
export interface Agreed<T> {
  readonly value: T;
  readonly isAlone: boolean;
}

/**
 * What all speakers say alike, when enough of them spoke, or what more than half of all endpoints say alike: a minority that contradicts
 * is not believed, and must not stop the others. Null in every other case: not known.
 */
export function agreedUpon<T extends string | number | bigint>(
  decision: Decision,
  answers: readonly (T | null)[],
): Agreed<T> | null {
  const said = sufficient(decision, answers) ?? [];
  const [first] = said;
  if (first !== undefined && said.every((each) => each === first)) return { value: first, isAlone: said.length === 1 };
  const votes = new Map<T, number>();
  for (const each of said) votes.set(each, (votes.get(each) ?? 0) + 1);
  const [winner] = [...votes].find(([, count]) => 2 * count > answers.length) ?? [];
  return winner === undefined ? null : { value: winner, isAlone: false };
}

/** How many looks at different blocks the decision needs. */
export function observationsNeeded(decision: Decision, isAlone: boolean): 1 | 2 {
  const { looks, looksAlone } = EVIDENCE[decision];
  return isAlone ? looksAlone : looks;
}

/** Whether a look that says the same as an earlier one is a second look. The same block looked at twice is one look. */
export function isLaterObservation(earlier: BlockRef, later: BlockRef): boolean {
  return later.number > earlier.number;
}
