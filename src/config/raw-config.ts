/** A map of YAML or JSON. */
export type RawMap = Record<string, unknown>;

export function isRawMap(value: unknown): value is RawMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
