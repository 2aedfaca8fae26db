/**
 * Parses the header `Retry-After` (RFC 9110, section 10.2.3): seconds, or a date. Milliseconds from now, at most `longestMs`; undefined for
 * what is neither.
 */
export function retryAfterMs(header: string | undefined, nowMs: number, longestMs: number): number | undefined {
  if (header === undefined) return undefined;
  const wait = /^\s*\d+(\.\d+)?\s*$/.test(header) ? Number(header) * 1000 : Date.parse(header) - nowMs;
  return Number.isFinite(wait) ? Math.min(Math.max(wait, 0), longestMs) : undefined;
}
