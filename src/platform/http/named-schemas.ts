import type { Json, JsonObject } from '../../kernel/json.js';
import { QUANTITY } from './describe-rules.js';
import { JSON_INTEGER } from './json-integer.js';

const SCHEMAS = '#/components/schemas/';
/** Generators have no good name for a union that has none, and some read it wrong where it may be null. */
const UNIONS: JsonObject = { Quantity: QUANTITY, JsonInteger: JSON_INTEGER };

/**
 * Tells each enum, and each union of what a number may be, by the name of the schema that has it: a generated client has one type for it, not
 * one for each place.
 */
export function withNamedSchemas(document: JsonObject, schemas: JsonObject): JsonObject {
  const all: JsonObject = { ...schemas, ...UNIONS };
  const names = new Map<string, string>();
  for (const [name, schema] of Object.entries(all)) {
    const choices = choicesOf(schema);
    if (choices !== null) names.set(choices, name);
  }
  const named = (value: Json): Json => {
    if (Array.isArray(value)) return (value as readonly Json[]).map(named);
    if (value === null || typeof value !== 'object') return value;
    const name = names.get(choicesOf(value) ?? '');
    if (name === undefined) return inside(value as JsonObject);
    const { type: _type, enum: _values, oneOf: _choices, ...rest } = value as JsonObject;
    const reference = { $ref: `${SCHEMAS}${name}` };
    return Object.keys(rest).length === 0 ? reference : { ...rest, allOf: [reference] };
  };
  const inside = (object: JsonObject): JsonObject =>
    Object.fromEntries(Object.entries(object).map(([key, value]) => [key, named(value)]));
  const defined = Object.entries(all).map(([name, schema]) => [name, inside(schema as JsonObject)]);
  const components = { ...(document['components'] as JsonObject), schemas: Object.fromEntries(defined) as JsonObject };
  return { ...inside(document), components };
}

/** Of an enum or a union, as a text to compare. */
function choicesOf(schema: Json): string | null {
  if (schema === null || typeof schema !== 'object') return null;
  const { enum: values, oneOf } = schema as JsonObject;
  const choices = values ?? oneOf;
  return Array.isArray(choices) ? JSON.stringify(choices) : null;
}
