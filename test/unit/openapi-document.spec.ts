import { readdirSync, readFileSync } from 'node:fs';
import { beforeAll, expect, it } from '@jest/globals';
import spectral, { type RulesetDefinition } from '@stoplight/spectral-core';
import rulesets from '@stoplight/spectral-rulesets';
import { describedApi, DOCUMENT_FILE } from '../../src/api-document.js';
import { formatOfField, isAnyText } from '../../src/platform/http/field-formats.js';
import type { JsonObject } from '../../src/kernel/json.js';

let document: JsonObject;

beforeAll(async () => {
  document = JSON.parse(JSON.stringify(await describedApi())) as JsonObject;
});

it('the document in docs/openapi.json is that of the code (npm run openapi:dump)', () => {
  expect(JSON.parse(readFileSync(DOCUMENT_FILE, 'utf8'))).toEqual(document);
});

it('the document has no finding of spectral:oas', async () => {
  const linter = new spectral.Spectral();
  linter.setRuleset({ extends: [rulesets.oas as unknown as RulesetDefinition] });
  const findings = await linter.run(document);
  expect(findings.map(({ code, message, path }) => `${code} ${path.join('.')}: ${message}`)).toEqual([]);
});

/** Each schema below a value, with the name of the field that has it. */
function* schemasOf(value: unknown, name: string): Generator<readonly [string, JsonObject]> {
  if (typeof value !== 'object' || value === null) return;
  const { properties, items, example: _example, examples: _examples, ...rest } = value as JsonObject;
  for (const [field, schema] of Object.entries((properties ?? {}) as JsonObject)) {
    yield [`${name}.${field}`, schema as JsonObject];
    yield* schemasOf(schema, `${name}.${field}`);
  }
  if (items !== undefined) {
    yield [`${name}[]`, items as JsonObject];
    yield* schemasOf(items, `${name}[]`);
  }
  for (const inner of Object.values(rest)) yield* schemasOf(inner, name);
}

const isFree = (format: JsonObject | null): boolean => format !== null && Object.keys(format).length === 0;
const SAYS = ['type', '$ref', 'oneOf', 'anyOf', 'allOf', 'enum', 'const'];

it('every field has a declared type, and an object says what is in it', () => {
  const vague = [...schemasOf(document, '')].filter(([, schema]) => {
    const isBare = schema['type'] === 'object' && !('properties' in schema) && !('additionalProperties' in schema);
    return isBare || !SAYS.some((key) => key in schema);
  });
  expect(vague.map(([name]) => name)).toEqual([]);
});

it('every enum has a name, which no null is in, but for the codes of problems', () => {
  const nameless = [...schemasOf(document, '')].flatMap(([name, schema]) => {
    const { oneOf = [], allOf = [] } = schema as { readonly oneOf?: JsonObject[]; readonly allOf?: JsonObject[] };
    return [schema, ...oneOf, ...allOf].some((one) => 'enum' in one) ? [name] : [];
  });
  expect(nameless.filter((name) => !name.endsWith('.code'))).toEqual([]);
  expect(JSON.stringify(document)).not.toMatch(/"enum":\[[^\]]*null/);
});

it('a list of values has no fields', () => {
  const schemas = Object.values((document['components'] as { readonly schemas: JsonObject }).schemas) as JsonObject[];
  expect(schemas.filter((schema) => 'enum' in schema && 'properties' in schema)).toEqual([]);
});

it('every text has a format, a pattern or an enum, or is free text by its name', () => {
  const unknown = [...schemasOf(document, '')].filter(([name, schema]) => {
    const field = name.replaceAll('[]', '').split('.').at(-1) ?? '';
    return isAnyText(schema) && !isFree(formatOfField(field));
  });
  expect(unknown.map(([name]) => name)).toEqual([]);
});

it('only lists have a number of items', () => {
  const bounded: string[] = [];
  JSON.stringify(document, (name, value: unknown) => {
    const { type, maxItems } = (value ?? {}) as JsonObject;
    if (typeof maxItems === 'number' && ![type].flat().includes('array')) bounded.push(name);
    return value;
  });
  expect(bounded).toEqual([]);
});

it('every operation has a name that is good for a method', () => {
  const operations = Object.values(document['paths'] as Record<string, Record<string, { operationId: string }>>);
  const names = operations.flatMap((path) => Object.values(path).map(({ operationId }) => operationId));
  expect(names.filter((name) => !/^[a-z]+([A-Z][a-z]+)+$/.test(name))).toEqual([]);
});

it('every handler of a controller is an operation: what tests make from the document leaves none out', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const text = files.map((file) => readFileSync(`src/${file}`, 'utf8')).join('\n');
  const handlers = text.match(/^\s+@(Get|Post|Put|Patch|Delete|All|Head|Options|Search|Sse)\(/gm) ?? [];
  const operations = Object.values(document['paths'] as Record<string, object>).flatMap((path) => Object.keys(path));
  expect([handlers.length, text.includes('@ApiExclude')]).toEqual([operations.length, false]);
});
