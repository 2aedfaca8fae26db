/** The known name that is probably meant, or null when none is close: a wrong suggestion is worse than none. */
export function closestName(wrong: string, known: readonly string[]): string | null {
  const written = plain(wrong);
  let best: { name: string; distance: number } | null = null;
  for (const name of known) {
    const distance = editDistance(written, plain(name));
    if (distance <= Math.max(1, Math.floor(name.length / 3)) && (best === null || distance < best.distance)) {
      best = { name, distance };
    }
  }
  return best?.name ?? null;
}

/** ` (did you mean x?)`, or nothing. */
export function didYouMean(wrong: string, known: readonly string[]): string {
  const name = closestName(wrong, known);
  return name === null ? '' : ` (did you mean ${name}?)`;
}

/** Makes `renew-interval`, `renew_interval` and `renewInterval` equal. */
function plain(name: string): string {
  return name.slice(0, 80).toLowerCase().replaceAll(/[-_]/g, '');
}

/** Levenshtein, one row at a time. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substituted = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(substituted, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
