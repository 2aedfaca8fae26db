/** Nobody needs more; and whatever walks a body by recursion must not run out of stack. */
export const MAX_NESTING = 32;

/** Goes no deeper than the limit itself, so that its own stack is not the client's to choose. */
export function isNestedTooDeeply(value: unknown, depth = 0): boolean {
  if (depth > MAX_NESTING) return true;
  if (typeof value !== 'object' || value === null) return false;
  const items: unknown[] = Object.values(value);
  return items.some((item) => isNestedTooDeeply(item, depth + 1));
}
