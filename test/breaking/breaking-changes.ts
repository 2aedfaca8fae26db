import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The part of an OpenAPI document that is read here. */
export interface ApiDocument {
  readonly info: { readonly version: string };
  readonly paths: Readonly<Record<string, unknown>>;
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
    const documents = [write('before.json', comparable(before)), write('after.json', comparable(after))];
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

/** What lists the types of all events, by the key that it has. */
const LISTS_OF_EVENTS: Readonly<Record<string, RegExp>> = {
  enum: /^\["tx\.accepted",/,
  oneOf: /^\[\{"\$ref":"#\/components\/schemas\/TxAcceptedEvent"\},/,
  pattern: /^"\^\(tx\\\\\.accepted\|/,
};
