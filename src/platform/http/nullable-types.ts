import type { Json, JsonObject } from '../../kernel/json.js';

/** `@nestjs/swagger` writes `nullable: true`, which OpenAPI 3.1 does not know: there, null is a type. */
export function withNullTypes(value: Json): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map(withNullTypes);
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value as JsonObject).map(([name, item]) => [name, withNullTypes(item)] as const);
  const { nullable, ...schema } = Object.fromEntries(entries);
  // A property may be named `nullable`, too; then it is a schema.
  if (typeof nullable !== 'boolean') return nullable === undefined ? schema : { nullable, ...schema };
  return nullable ? orNull(schema) : schema;
}

function orNull(schema: JsonObject): JsonObject {
  const { type, enum: values } = schema;
  if (typeof type !== 'string') return { anyOf: [schema, { type: 'null' }] };
  return { ...schema, type: [type, 'null'], ...(Array.isArray(values) ? { enum: [...(values as Json[]), null] } : {}) };
}
