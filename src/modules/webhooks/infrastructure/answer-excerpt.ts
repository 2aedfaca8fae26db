import type { Readable } from 'node:stream';

/** The most bytes of an answer that are read, so that its connection can be used again. A longer answer ends the connection. */
const READ_BYTES = 64 * 1024;
const KEPT_BYTES = 1024;

export interface ReadAnswer {
  readonly excerpt: string;
  /** Why the body ended early, other than by its length; null when it did not. */
  readonly failure: unknown;
}

export async function readAnswer(body: Readable): Promise<ReadAnswer> {
  const kept: Buffer[] = [];
  let [bytes, failure]: [number, unknown] = [0, null];
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      if (bytes < KEPT_BYTES) kept.push(chunk);
      bytes += chunk.length;
      if (bytes > READ_BYTES) break;
    }
  } catch (error) {
    failure = error;
  }
  return { excerpt: excerptOf(Buffer.concat(kept)), failure };
}

/** At most a kilobyte of text that PostgreSQL stores: valid UTF-8 without NUL and without half a character at its end. */
export function excerptOf(bytes: Buffer): string {
  const text = firstText(bytes).replaceAll('\0', '\uFFFD');
  // Each byte that is no UTF-8 became three.
  return firstText(Buffer.from(text));
}

function firstText(bytes: Buffer): string {
  return new TextDecoder().decode(bytes.subarray(0, KEPT_BYTES), { stream: true });
}
