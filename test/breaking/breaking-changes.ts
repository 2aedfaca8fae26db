import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

type Schemas = Readonly<Record<string, { readonly type?: unknown }>>;

/** The part of an OpenAPI document that is read here. */
export interface ApiDocument {
  readonly info: { readonly version: string };
  readonly paths: Readonly<Record<string, unknown>>;
  readonly components?: { readonly schemas?: Schemas };
  readonly webhooks?: Readonly<Record<string, { readonly post: { readonly requestBody: object } }>>;
}
interface Finding {
  readonly id: string;
  readonly text: string;
  readonly operation: string;
  readonly path: string;
}

/** Where oasdiff is milder than we are. */
const SEVERITIES = 'response-optional-property-removed err\n';

/** What breaks clients of `before` that meet `after`, a line for each. */
export function breakingChanges(before: ApiDocument, after: ApiDocument): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-breaking-'));
  const write = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  try {
    const documents = [
      write('before.json', comparable(before)),
      write('after.json', comparable(withoutNew(before, after))),
    ];
    const options = ['--format', 'json', '--severity-levels', write('severities', SEVERITIES)];
    const found = execFileSync(process.env['OASDIFF_BIN'] ?? '', ['breaking', ...documents, ...options]);
    const findings = JSON.parse(found.toString()) as readonly Finding[];
    return findings.map(({ id, operation, path, text }) => `${operation} ${path}: ${text} [${id}]`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * What we post to clients is read by them like an answer: a new field breaks nothing, and one that is missing does. Which problems an operation
 * can answer may change: clients have to expect codes that they do not know. So may the types of events, each of which is compared by itself: one
 * that is missing breaks clients, and a new one does not.
 */
function comparable({ webhooks = {}, ...document }: ApiDocument): string {
  const events = Object.entries(webhooks).map(([name, { post }]) => {
    const answer = { description: name, ...post.requestBody };
    return [`/webhook/${name}`, { get: { responses: { 200: answer } } }] as const;
  });
  const paths = { ...document.paths, ...Object.fromEntries(events) };
  return JSON.stringify({ ...document, paths }, (key, value: unknown) => {
    if (LISTS_OF_EVENTS[key]?.test(JSON.stringify(value)) === true) return undefined;
    const problem = key === 'application/problem+json' ? (value as { schema: { allOf: readonly object[] } }) : null;
    return problem ? { schema: problem.schema.allOf[0] } : value;
  });
}

/**
 * A schema that has a name now, and had none before, is still the same one. oasdiff finds that what refers to it with a description of its own, or
 * may be null, has no fields any more. So it is written where it is used.
 */
function withoutNew({ components: before }: ApiDocument, after: ApiDocument): ApiDocument {
  const text = JSON.stringify(after, (_key, value: Partial<Referring> | null) => {
    const { allOf, anyOf, ...rest } = value ?? {};
    const [reference, other, ...more] = allOf ?? anyOf ?? [];
    const name = reference?.$ref?.replace(/.*\//, '') ?? '';
    const schema = after.components?.schemas?.[name];
    if (schema?.type !== 'object' || before?.schemas?.[name] !== undefined || more.length > 0) return value;
    if (anyOf && other?.type === 'null') return { ...schema, type: ['object', 'null'], ...rest };
    return allOf && other === undefined ? { ...schema, ...rest } : value;
  });
  return JSON.parse(text) as ApiDocument;
}

interface Referring {
  readonly allOf: readonly { readonly $ref?: string; readonly type?: string }[];
  readonly anyOf: Referring['allOf'];
}

/** What lists the types of all events, by the key that it has. */
const LISTS_OF_EVENTS: Readonly<Record<string, RegExp>> = {
  enum: /^\["tx\.accepted",/,
  oneOf: /^\[\{"\$ref":"#\/components\/schemas\/TxAcceptedEvent"\},/,
  pattern: /^"\^\(tx\\\\\.accepted\|/,
};
