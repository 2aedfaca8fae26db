/** Deep enough for every request, and low enough that recursive code does not run out of stack. */
export const MAX_NESTING = 32;
/** class-transformer compares each key of an object with all others: it took 5 s for 80,000 keys, which fit into a body of 1 MB. */
export const MAX_FIELDS = 2_000;

/** Stops at the limit, so that a client cannot exhaust the stack of this function either. */
export function isNestedTooDeeply(value: unknown, depth = 0): boolean {
  if (depth > MAX_NESTING) return true;
  if (typeof value !== 'object' || value === null) return false;
  const items: unknown[] = Object.values(value);
  return items.some((item) => isNestedTooDeeply(item, depth + 1));
}

/** Whether any object in the value has too many fields for class-transformer. Call it only for values within the nesting limit. */
export function hasTooManyFields(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const items: unknown[] = Object.values(value);
  return (!Array.isArray(value) && items.length > MAX_FIELDS) || items.some(hasTooManyFields);
}
