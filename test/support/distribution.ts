/** What holds although the machine may be busy with something else for a moment. */
export function median(times: readonly number[]): number {
  return [...times].sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN;
}

/** What was measured, in one line. @param times milliseconds */
export function distribution(times: readonly number[]): string {
  const sorted = times.map((time) => Math.round(time)).sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return `${sorted.length} runs: min ${at(0)}, p50 ${at(0.5)}, p90 ${at(0.9)}, max ${at(1)} ms`;
}
