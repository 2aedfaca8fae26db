/** Above the time limit of a custody, which asks nothing more until this has ended. */
const TIME_LIMIT_MS = 15_000;
/** A signed transaction with its data, in hex. */
const MOST_CHARS = 1024 * 1024;

/**
 * @returns the body of the answer
 * @throws Error without the URL, which may have a secret in it
 */
export async function postJson(url: string, body: unknown): Promise<string> {
  const headers = { 'content-type': 'application/json' };
  const signal = AbortSignal.timeout(TIME_LIMIT_MS);
  const response = await fetch(url, { method: 'POST', body: JSON.stringify(body), headers, signal, redirect: 'error' });
  let text = '';
  for await (const chunk of (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (text.length > MOST_CHARS) throw new Error('the answer of the custody is too long');
  }
  if (!response.ok) throw new Error(`the custody answers ${response.status}: ${text.slice(0, 200)}`);
  return text;
}
