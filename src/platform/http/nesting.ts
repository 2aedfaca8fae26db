/** Nobody needs more; and whatever walks a body by recursion must not run out of stack. */
export const MAX_NESTING = 32;

/** Level by level, not by recursion: the depth is the client's choice, and the stack is ours. */
export function isNestedTooDeeply(value: unknown): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; depth <= MAX_NESTING; depth += 1) {
    level = level.flatMap((item) =>
      typeof item === 'object' && item !== null ? Object.values<unknown>({ ...item }) : [],
    );
    if (level.length === 0) return false;
  }
  return true;
}
