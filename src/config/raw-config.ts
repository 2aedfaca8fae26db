/** A map as YAML and JSON know it. */
export type RawMap = Record<string, unknown>;

export function isRawMap(value: unknown): value is RawMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
