import type { Json, JsonObject } from '../../kernel/json.js';
import { CALL_VALUE, PERMIT_PART, PERMIT_PART_VALUE } from './call-value.js';
import { QUANTITY } from './describe-rules.js';
import { JSON_INTEGER } from './json-integer.js';

const SCHEMAS = '#/components/schemas/';
/** What a schema says by the name of another one. */
const OF_SHAPE: ReadonlySet<string> = new Set([
  ...['type', 'enum', 'oneOf'],
  ...['properties', 'required', 'additionalProperties'],
]);
/** Generators have no good name for a union or an object that has none, and some read it wrong where it may be null. */
const NAMELESS: JsonObject = {
  Quantity: QUANTITY,
  JsonInteger: JSON_INTEGER,
  CallValue: CALL_VALUE,
  PermitPart: PERMIT_PART,
  PermitPartValue: PERMIT_PART_VALUE,
  JsonObject: { type: 'object', additionalProperties: true },
};

/**
 * Tells each enum, each union of what a number may be, and each object inside of another one, by the name of the schema that has it: a generated
 * client has one type for it, not one for each place.
 */
export function withNamedSchemas(document: JsonObject, schemas: JsonObject): JsonObject {
  const all: JsonObject = { ...schemas, ...NAMELESS };
  const names = new Map<string, string>();
  for (const [name, schema] of Object.entries(all)) {
    const shape = shapeOf(schema);
    if (shape !== null) names.set(shape, name);
  }
  const named = (value: Json): Json => {
    if (Array.isArray(value)) return (value as readonly Json[]).map(named);
    if (value === null || typeof value !== 'object') return value;
    const name = names.get(shapeOf(value) ?? '');
    if (name === undefined) return inside(value as JsonObject);
    const { type } = value as JsonObject;
    const rest = Object.fromEntries(Object.entries(value as JsonObject).filter(([key]) => !OF_SHAPE.has(key)));
    const reference = { $ref: `${SCHEMAS}${name}` };
    if (Array.isArray(type)) return { ...rest, anyOf: [reference, { type: 'null' }] };
    return Object.keys(rest).length === 0 ? reference : { ...rest, allOf: [reference] };
  };
  const inside = (object: JsonObject): JsonObject =>
    Object.fromEntries(Object.entries(object).map(([key, value]) => [key, named(value)]));
  const defined = Object.entries(all).map(([name, schema]) => [name, inside(schema as JsonObject)]);
  const components = { ...(document['components'] as JsonObject), schemas: Object.fromEntries(defined) as JsonObject };
  return { ...inside(document), components };
}

/** Of an enum, a union or an object, as a text to compare. */
function shapeOf(schema: Json): string | null {
  if (schema === null || typeof schema !== 'object') return null;
  const { type, enum: values, oneOf, properties, additionalProperties } = schema as JsonObject;
  const choices = values ?? oneOf;
  if (Array.isArray(choices)) return JSON.stringify(choices);
  const isObject = type === 'object' || (Array.isArray(type) && type[0] === 'object');
  if (!isObject || (properties === undefined && additionalProperties !== true)) return null;
  return JSON.stringify({ properties, additionalProperties });
}
