/**
 * Collects the answers of several endpoints, and resolves as soon as `decided` holds for the answers so far, or when all are there: one
 * hung endpoint must not delay what the others have decided. Later answers are ignored.
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
