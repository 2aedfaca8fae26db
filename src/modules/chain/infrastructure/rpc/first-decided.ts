/**
 * Collects what several endpoints answer, and resolves as soon as `decided` holds for what is there, or when all are in:
 * one hung endpoint must not hold up what the others already settled. The rest goes on and is ignored.
 */
export function firstDecided<T>(
  answers: readonly Promise<T>[],
  decided: (sofar: readonly T[]) => boolean,
): Promise<readonly T[]> {
  return new Promise((resolve, reject) => {
    const sofar: T[] = [];
    if (answers.length === 0) resolve(sofar);
    for (const answer of answers) {
      answer.then((value) => {
        sofar.push(value);
        if (sofar.length === answers.length || decided(sofar)) resolve([...sofar]);
      }, reject);
    }
  });
}
