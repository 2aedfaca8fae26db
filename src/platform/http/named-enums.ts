import type { Json, JsonObject } from '../../kernel/json.js';

const SCHEMAS = '#/components/schemas/';

/** Of the enums that stand somewhere, each that has a name among the schemas is told by it: a client has one type for it, not one for each place. */
export function withNamedEnums<Document extends object>(document: Document, schemas: JsonObject): Document {
  const names = new Map<string, string>();
  for (const [name, schema] of Object.entries(schemas)) {
    const values = valuesOf(schema);
    if (values !== null) names.set(values, name);
  }
  const named = (value: Json): Json => {
    if (Array.isArray(value)) return (value as readonly Json[]).map(named);
    if (value === null || typeof value !== 'object') return value;
    const name = names.get(valuesOf(value) ?? '');
    if (name === undefined || schemas[name] === value)
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, named(item)]));
    const { type: _type, enum: _values, ...rest } = value as JsonObject;
    const reference = { $ref: `${SCHEMAS}${name}` };
    return Object.keys(rest).length === 0 ? reference : { ...rest, allOf: [reference] };
  };
  return named(document as unknown as Json) as unknown as Document;
}

function valuesOf(schema: Json): string | null {
  if (schema === null || typeof schema !== 'object' || !('enum' in schema)) return null;
  return Array.isArray(schema.enum) ? JSON.stringify(schema.enum) : null;
}
