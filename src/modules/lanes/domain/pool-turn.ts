import type { PoolKind } from '../../transactions/index.js';

export interface PoolTurn {
  /** For each payload, whether it may get a nonce now. */
  readonly admitted: readonly boolean[];
  /** The kind that gets the next turn: nothing else is admitted until it had it. Null when no kind waits. */
  readonly next: PoolKind | null;
}

/**
 * Which payloads may get a nonce beside what is in flight. Kinds are never in flight together, and `alone` not even with its own. A kind that
 * has to wait gets the next turn, so a steady flow of another kind cannot keep it out.
 * @param waiting of the payloads, in the order of the queue
 * @param next of the turn before
 */
export function poolTurn(waiting: readonly PoolKind[], inFlight: PoolKind | null, next: PoolKind | null): PoolTurn {
  const turn = turnOf(waiting, inFlight, next);
  const first = waiting.indexOf(turn ?? 'alone');
  const admitted = waiting.map(
    (kind, at) => kind === turn && (kind !== 'alone' || (inFlight === null && at === first)),
  );
  const other = waiting.find((kind, at) => !(admitted[at] ?? false) && kind !== (turn ?? inFlight));
  return { admitted, next: other ?? (next === turn ? null : next) };
}

/** Null while what is in flight has to be mined before the next kind. */
function turnOf(waiting: readonly PoolKind[], inFlight: PoolKind | null, next: PoolKind | null): PoolKind | null {
  if (inFlight === null) return next ?? waiting[0] ?? null;
  return next === null || next === inFlight ? inFlight : null;
}
