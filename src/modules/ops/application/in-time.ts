/** A person waits for the answer, and the rest of it does not need the chain. */
const LONGEST_WAIT_MS = 2_000;

/** @returns the answer to a question to a chain; null where it fails, or does not come in time */
export async function inTime<T>(question: () => Promise<T>): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), LONGEST_WAIT_MS);
  });
  try {
    return await Promise.race([question().catch(() => null), late]);
  } finally {
    clearTimeout(timer);
  }
}
