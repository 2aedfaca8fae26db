const SECRET_KEYS: ReadonlySet<string> = new Set([
  'key',
  'phrase',
  'password',
  'privatekey',
  'url',
  'rpcurls',
  'authorization',
]);
const REDACTED = '[redacted]';
/** Deeper than every value that we log on purpose; limits the size of a library's request objects in the log. */
const MAX_DEPTH = 6;
const MAX_ITEMS = 100;

/** Turns a value into JSON: bigints as text, errors with stack and cause, secrets removed. Never throws on cycles. */
export function loggable(value: unknown, depth = 0): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'function' || typeof value === 'symbol') return value.toString().slice(0, 80);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_DEPTH) return '[deeper]';
  if (value instanceof Error) return loggableError(value, depth);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (value instanceof Uint8Array) return `[${value.byteLength} bytes]`;
  if (value instanceof Map) return loggable(Object.fromEntries(value), depth);
  if (value instanceof Set) return loggable([...value], depth);
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map((item: unknown) => loggable(item, depth + 1));
  return loggableFields(value, depth + 1);
}

export function loggableFields(fields: object, depth = 0): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [
      key,
      SECRET_KEYS.has(key.toLowerCase()) ? REDACTED : loggable(value, depth),
    ]),
  );
}

function loggableError(error: Error, depth: number): Record<string, unknown> {
  const { name, message, stack, cause, ...own } = error;
  return {
    name,
    message: withoutUrls(message),
    ...(stack === undefined ? {} : { stack: withoutUrls(stack) }),
    ...loggableFields(own, depth + 1),
    ...(cause === undefined ? {} : { cause: loggable(cause, depth + 1) }),
    ...(error instanceof AggregateError ? { errors: loggable(error.errors, depth + 1) } : {}),
  };
}

/** RPC libraries put the URL of the endpoint into their messages, and its path or user part often is an access key. */
export function withoutUrls(text: string): string {
  return text.replaceAll(
    /\b(https?|wss?|postgres(?:ql)?):\/\/(?:[^\s"'/@]*@)?([^\s"'/?#,)]*)[^\s"',)]*/gi,
    (_url, scheme: string, host: string) => `${scheme}://${host}/…`,
  );
}
