import { Agent, request } from 'node:http';
import { Random } from '../simulator/random.js';
import { DEV_CHAIN } from './builders.js';
import { DEV_ACCOUNTS } from './anvil.js';
import type { Service } from './service.js';

type Schema = Readonly<Record<string, unknown>>;
interface Operation {
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly {
    readonly name: string;
    readonly in: string;
    readonly schema?: Schema;
    readonly example?: unknown;
  }[];
  readonly body: Schema | null;
}
export type StrangeKind = 'valid' | 'nearly' | 'absurd' | 'huge' | 'deep' | 'wide';
export interface StrangeRequest {
  readonly kind: StrangeKind;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}
export interface StrangeAnswer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

const BODY = ['requestBody', 'content', 'application/json', 'schema'];
const KINDS: readonly { weight: number; value: StrangeKind }[] = [
  { weight: 25, value: 'valid' },
  { weight: 40, value: 'nearly' },
  { weight: 20, value: 'absurd' },
  { weight: 5, value: 'huge' },
  { weight: 5, value: 'deep' },
  { weight: 5, value: 'wide' },
];
const LIMIT = 1024 * 1024;
/** Written into the JSON in place of a value, because it is no value of JavaScript or would lose its form there. */
const RAW = '@raw@';
const TEXTS = [
  '\0',
  '\ud800',
  'a\udc00b',
  '',
  ' ',
  '%00',
  '0x',
  '-1',
  '1e999',
  '1.5',
  '2030-13-01',
  '+275760-09-13T00:00:00Z',
  '2024-02-29T24:00:00Z',
];
const ODD: readonly unknown[] = [
  ...TEXTS,
  'a'.repeat(300),
  '9'.repeat(78),
  `0x${'f'.repeat(65)}`,
  null,
  0,
  -1,
  1.5,
  1e300,
  true,
  [],
  [null],
  [[]],
  {},
  { length: 5 },
  { then: 1 },
  { toString: 1 },
  { constructor: 1 },
];
const WHOLE = [
  '',
  'null',
  '[]',
  '"a"',
  '1',
  '{',
  '{"__proto__":{}}',
  '{"constructor":{"prototype":{}}}',
  '\uFEFF{}',
  '{"a":1,}',
  'a=1&b=2',
];
const QUERY = [
  '%00',
  '%ff',
  '%ED%A0%80',
  '-1',
  '1e3',
  '',
  'a',
  '0x10',
  '99999999999999999999',
  '1&limit=2',
  '[]',
  `${'9'.repeat(19)}-${'9'.repeat(18)}-9`,
  'MA',
  '%F0%9F%98%80',
  '%zz',
  '..%2f',
];
const HEADERS: readonly Readonly<Record<string, string>>[] = [
  { 'content-type': 'text/plain' },
  { 'content-type': 'application/json; charset=utf-16' },
  { 'content-encoding': 'gzip' },
  { 'idempotency-key': '\xe9\xff' },
  { 'last-event-id': '\xff' },
  { 'x-request-id': 'a\tb' },
  { 'x-lockstep-forwarded-by': 'x' },
  { 'x-long': 'x'.repeat(15_000) },
  { accept: 'text/event-stream;q=0' },
];
const HUGE: readonly ((chars: number) => string)[] = [
  (chars) => '9'.repeat(chars),
  (chars) => `0x${'ab'.repeat(chars / 2)}`,
  (chars) => '😀'.repeat(chars / 4),
  (chars) => ' '.repeat(chars),
  (chars) => `2030-01-01T00:00:00.${'1'.repeat(chars)}`,
  (chars) => '\\'.repeat(chars / 2),
];
const repeated = (item: string, count: number): string => new Array(count).fill(item).join(',');
const fields = (count: number, step: number): string =>
  `{${Array.from({ length: count }, (_, i) => `"${step === 0 ? i.toString(36) : i * step}":1`).join(',')}}`;
const WIDE: readonly (() => string)[] = [
  () => `[${repeated('{}', 347_000)}]`,
  () => `[${repeated('{}', 14_000)}]`,
  () => `[${repeated('0', 27_000)}]`,
  () => `[${repeated('{"a":1,"constructor":1}', 7_000)}]`,
  () => fields(29_000, 0),
  () => fields(29_000, 7919),
  () => `[${repeated('{"payload":{"accessList":[{},{},{},{}]}}', 1_000)}]`,
  () => `[${repeated(`"0x${'0'.repeat(64)}"`, 13_000)}]`,
];

/** Requests that are made from the OpenAPI document of a service: the same seed gives the same requests. */
export class StrangeRequests {
  /** A service without a chain, which may post to a port where nobody listens. */
  static readonly service = { rpcUrl: 'http://127.0.0.1:9', config: { webhooks: { allow: ['127.0.0.1'] } } };
  private readonly random: Random;
  private readonly operations: readonly Operation[];
  private readonly schemas: Readonly<Record<string, Schema>>;
  private made = 0;

  private constructor(
    document: Schema,
    private readonly known: Readonly<Record<string, string | number>>,
    private readonly seed: number,
  ) {
    this.random = new Random(seed);
    this.schemas = at(document, 'components', 'schemas') as Readonly<Record<string, Schema>>;
    this.operations = Object.entries(at(document, 'paths') as Readonly<Record<string, Schema>>).flatMap(
      ([path, methods]) =>
        Object.entries(methods as Readonly<Record<string, Schema>>).map(([method, operation]) => ({
          method: method.toUpperCase(),
          path,
          parameters: (operation['parameters'] ?? []) as Operation['parameters'],
          // One that may be null is `anyOf`.
          body: (at(operation, ...BODY, 'anyOf', '0') ?? at(operation, ...BODY) ?? null) as Schema | null,
        })),
    );
  }

  static async of(service: Service, seed: number): Promise<StrangeRequests> {
    const [signer] = DEV_ACCOUNTS;
    const hook = await service.post('/api/v1/webhooks', { url: 'http://127.0.0.1:9/' });
    const tx = await service.post('/api/v1/tx', { signer, requestId: `strange-${seed}`, payload: { to: signer } });
    const known = {
      chainId: DEV_CHAIN,
      address: signer,
      signer,
      to: signer,
      id: String(hook.body['id']),
      txId: String(tx.body['txId']),
      eventId: '1-1-0',
      callback: String(hook.body['id']),
      allocate: 'later',
      timeoutMs: 1,
      url: 'http://127.0.0.1:9/',
    };
    return new StrangeRequests((await service.get('/docs-json')).body, known, seed);
  }

  next(): StrangeRequest {
    this.made += 1;
    const kind = this.random.weighted(KINDS);
    const operation = this.random.pick(this.operations);
    const { method } = operation;
    const head = { kind, method, headers: this.headersFor(kind, operation), path: this.pathFor(kind, operation) };
    return { ...head, body: operation.body === null ? '' : this.bodyFor(kind, operation.body) };
  }

  private headersFor(kind: StrangeKind, { body }: Operation): Readonly<Record<string, string>> {
    const odd =
      kind === 'absurd' && this.random.chance(0.3) ? this.random.pick(HEADERS) : { accept: 'application/json' };
    return { ...(body === null ? {} : { 'content-type': 'application/json' }), ...odd };
  }

  private pathFor(kind: StrangeKind, { method, path, parameters, body }: Operation): string {
    const odd = (probability: number): boolean => kind !== 'valid' && this.random.chance(probability);
    const url = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      if (odd(0.1)) return this.random.pick(QUERY).split('&', 1)[0] ?? '';
      // What is known must stay.
      return encodeURIComponent(String((method === 'DELETE' ? null : this.known[name]) ?? 'a'));
    });
    const query = parameters
      .filter((parameter) => parameter.in === 'query' && (parameter.name === 'timeoutMs' || this.random.chance(0.4)))
      .map(
        ({ name, schema, example }) =>
          `${name}=${odd(0.5) ? this.random.pick(QUERY) : encodeURIComponent(String(this.known[name] ?? example ?? this.valueOf(schema ?? {}, 0)))}`,
      );
    if (odd(0.1)) query.push(`stranger=${this.random.pick(QUERY)}`);
    if (body === null && kind === 'wide')
      query.push(Array.from({ length: 1_500 }, (_, i) => `f${this.random.chance(0.5) ? i : 0}=1`).join('&'));
    if (body === null && kind === 'huge') query.push(`after=${'9'.repeat(this.random.pick([1_000, 15_000, 20_000]))}`);
    if (body === null && kind === 'deep') query.push(`a${'[a]'.repeat(3_000)}=1`);
    return query.length === 0 ? url : `${url}?${query.join('&')}`;
  }

  private bodyFor(kind: StrangeKind, schema: Schema): string {
    const valid = this.valueOf(schema, 0);
    if (kind === 'valid') return JSON.stringify(valid);
    if (kind === 'absurd' && this.random.chance(0.5)) return this.random.pick(WHOLE);
    if (kind === 'deep') {
      const deep = this.random.pick([33, 5_000, 19_000, 500_000]);
      return withRaw(
        this.changed(valid, RAW),
        this.random.chance(0.5)
          ? '['.repeat(deep) + ']'.repeat(deep)
          : `${'{"a":'.repeat(deep / 5)}1${'}'.repeat(deep / 5)}`,
      );
    }
    if (kind === 'wide') return withRaw(this.changed(valid, RAW), this.random.pick(WIDE)());
    if (kind === 'huge')
      return JSON.stringify(
        this.changed(valid, this.random.pick(HUGE)(this.random.pick([3_000, 131_072, LIMIT - 2_000, LIMIT + 2_000]))),
      );
    let body = valid;
    for (let n = this.random.between(1, kind === 'absurd' ? 6 : 1); n > 0; n -= 1)
      body = this.changed(body, this.random.pick(ODD));
    return JSON.stringify(body);
  }

  /** With `odd` in one place, or without that place, or with a stranger there. */
  private changed(value: unknown, odd: unknown): unknown {
    const keys = typeof value === 'object' && value !== null ? Object.keys(value) : [];
    if (keys.length === 0 || (odd === RAW && this.random.chance(0.05))) return odd;
    const copy: Record<string, unknown> = Object.assign(Array.isArray(value) ? [] : {}, value);
    const key = this.random.pick(keys);
    if (this.random.chance(0.5)) copy[key] = this.changed(copy[key], odd);
    else if (odd === RAW || this.random.chance(0.8)) copy[key] = odd;
    else if (this.random.chance(0.5))
      copy[this.random.pick(['stranger', 'constructor', '\0', '0', 'x'.repeat(300)])] = odd;
    else Reflect.deleteProperty(copy, key);
    return copy;
  }

  private valueOf(schema: Schema, depth: number, name = ''): unknown {
    if (name === 'requestId') return `strange-${this.seed}-${this.made}-${this.random.between(0, 9)}`;
    if (name in this.known) return this.known[name];
    const reference = schema['$ref'] ?? at(schema, 'allOf', '0', '$ref');
    if (typeof reference === 'string')
      return this.valueOf(this.schemas[reference.split('/').at(-1) ?? ''] ?? {}, depth + 1);
    const choices = schema['oneOf'] ?? schema['anyOf'];
    if (Array.isArray(choices)) return this.valueOf(this.random.pick(choices as readonly Schema[]), depth, name);
    if (schema['example'] !== undefined && this.random.chance(0.8)) return schema['example'];
    if (Array.isArray(schema['enum'])) return this.random.pick(schema['enum']);
    const type = Array.isArray(schema['type']) ? this.random.pick(schema['type']) : schema['type'];
    if (type === 'null') return null;
    if (type === 'array')
      return Array.from({ length: this.random.between(1, 3) }, () =>
        this.valueOf((schema['items'] ?? {}) as Schema, depth + 1),
      );
    if (type === 'number' || type === 'integer')
      return this.random.between(Number(schema['minimum'] ?? 0), Math.min(100, Number(schema['maximum'] ?? 100)));
    if (type === 'boolean') return this.random.chance(0.5);
    if (type !== 'object') return 'a';
    const required = (schema['required'] ?? []) as readonly string[];
    const properties = Object.entries((schema['properties'] ?? {}) as Readonly<Record<string, Schema>>);
    const chosen = properties.filter(([field]) => required.includes(field) || this.random.chance(0.25));
    return Object.fromEntries(chosen.map(([field, inner]) => [field, this.valueOf(inner, depth + 1, field)]));
  }
}

const AGENT = new Agent({ keepAlive: true });

/** The status is 0 when there was no answer in time, or none at all. */
export function sendStrange(
  url: string,
  { method, path, headers, body }: StrangeRequest,
  timeoutMs = 20_000,
): Promise<StrangeAnswer> {
  return new Promise((resolve) => {
    const { hostname, port } = new URL(url);
    const failed = (error: Error): void => resolve({ status: 0, type: '', text: error.message });
    const outgoing = request(
      {
        hostname,
        port,
        method,
        path,
        headers: { ...headers, 'content-length': Buffer.byteLength(body) },
        agent: AGENT,
      },
      (incoming) => {
        const chunks: Buffer[] = [];
        const answer = { status: incoming.statusCode ?? 0, type: incoming.headers['content-type'] ?? '' };
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.on('error', failed).on('end', () => resolve({ ...answer, text: Buffer.concat(chunks).toString() }));
        if (!answer.type.startsWith('text/event-stream')) return;
        // It has no end, and its heartbeats come before the time-out.
        resolve({ ...answer, text: '' });
        incoming.destroy();
      },
    );
    outgoing.on('error', failed).setTimeout(timeoutMs, () => outgoing.destroy(new Error('no answer in time')));
    outgoing.end(body);
  });
}

/** What is wrong with an answer to any request; null when nothing is. The chain of the service is away. */
export function wrongWith({ status, type, text }: StrangeAnswer): string | null {
  if (status === 0) return text;
  if (status >= 400 && !type.includes('problem+json')) return `${status} of type ${type}`;
  const isChainAway = /"code":"(rpc_unavailable|nonce_not_known)"/.test(text);
  return status < 500 || (status === 503 && isChainAway) ? null : `${status}: ${text.slice(0, 200)}`;
}

function withRaw(value: unknown, raw: string): string {
  return JSON.stringify(value).replace(`"${RAW}"`, () => raw);
}

function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inner, key) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, key) : undefined),
    value,
  );
}
