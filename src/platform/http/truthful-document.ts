import { ADDRESS_PATTERN } from './describe-rules.js';
import { formatOfField, withFormat } from './field-formats.js';
import type { Json, JsonObject } from '../../kernel/json.js';

/** What is accepted is more than what is answered. */
const PATH_PARAMETERS: Readonly<Record<string, JsonObject>> = {
  chainId: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
  address: { type: 'string', pattern: ADDRESS_PATTERN },
};

/**
 * What `@nestjs/swagger` cannot say of our DTOs. OpenAPI 3.1 has no `nullable: true`: there, null is a type. All our numbers are integers. What
 * is optional in a request may be null (`@IsOptional`), and a request has no other fields.
 */
export function truthful(document: JsonObject): JsonObject {
  const typed = withTypes(document) as JsonObject;
  const schemas = objectAt(typed, 'components', 'schemas');
  const requests = new Set<string>();
  const paths = mapValues(objectAt(typed, 'paths'), (path) =>
    mapValues(path, (operation) => withParameters(withBody(operation, schemas, requests))),
  );
  const changed = mapValues(schemas, (schema, name) => (requests.has(name) ? asRequest : asAnswer)(schema));
  return { ...typed, paths, components: { ...objectAt(typed, 'components'), schemas: changed } };
}

/** A body without a field that is required may be left out. */
function withBody(operation: JsonObject, schemas: JsonObject, requests: Set<string>): JsonObject {
  const body = objectAt(operation, 'requestBody');
  const ofBody = new Set<string>();
  addReferenced(body, schemas, ofBody);
  for (const name of ofBody) requests.add(name);
  const [name] = ofBody;
  if (name === undefined) return operation;
  const required = objectAt(schemas, name)['required'] !== undefined;
  return { ...operation, requestBody: { ...body, required } };
}

function withParameters(operation: JsonObject): JsonObject {
  const parameters = (operation['parameters'] ?? []) as readonly JsonObject[];
  const typed = parameters.map((parameter) => {
    const name = parameter['name'] as string;
    if (parameter['in'] !== 'path') return { ...parameter, schema: withoutItems(objectAt(parameter, 'schema')) };
    return { ...parameter, schema: PATH_PARAMETERS[name] ?? { type: 'string', ...formatOfField(name) } };
  });
  return { ...operation, parameters: typed };
}

/** Parameters are texts: the pattern of one that is taken apart at its commas says what it takes. */
function withoutItems({ maxItems: _most, ...schema }: JsonObject): JsonObject {
  return schema;
}

function withTypes(value: Json): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map(withTypes);
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value as JsonObject).map(([name, item]) => [name, withTypes(item)] as const);
  const { nullable, ...schema } = Object.fromEntries(entries);
  const { type } = schema;
  if (type === 'number') schema['type'] = 'integer';
  else if (Array.isArray(type)) schema['type'] = type.map((one) => (one === 'number' ? 'integer' : (one as Json)));
  // A property may be named `nullable`, too; then it is a schema.
  if (typeof nullable !== 'boolean') return nullable === undefined ? schema : { nullable, ...schema };
  return nullable ? orNull(schema) : schema;
}

/** An enum with null in it is one that generators refuse, or make a class of null for. */
function orNull(schema: JsonObject): JsonObject {
  const { type } = schema;
  if (allowsNull(schema)) return schema;
  if (typeof type === 'string' && schema['enum'] === undefined) return { ...schema, type: [type, 'null'] };
  const { description, example, ...bare } = schema;
  const notes = Object.entries({ description, example }).filter(([, note]) => note !== undefined);
  return { ...Object.fromEntries(notes), oneOf: [unwrapped(bare), { type: 'null' }] };
}

function allowsNull({ type, oneOf = [] }: JsonObject): boolean {
  if (Array.isArray(type)) return type.includes('null');
  return (oneOf as readonly JsonObject[]).some((choice) => choice['type'] === 'null');
}

/** A single `allOf` stands around a reference that has a description. */
function unwrapped(schema: JsonObject): JsonObject {
  const { allOf, ...more } = schema;
  const [only] = (allOf ?? []) as readonly JsonObject[];
  return only === undefined || Object.keys(more).length > 0 ? schema : only;
}

function asRequest(schema: JsonObject): JsonObject {
  if (schema['properties'] === undefined) return schema;
  const required = (schema['required'] ?? []) as readonly Json[];
  const fields = mapValues(objectAt(schema, 'properties'), (field, name) => {
    const told = withDefault(field);
    return required.includes(name) ? told : orNull(told);
  });
  return { ...schema, properties: fields, additionalProperties: false };
}

/** In words: generators take a field with a default for one that is always there, and demand it. */
function withDefault({ default: value, ...field }: JsonObject): JsonObject {
  if (value === undefined) return field;
  const told = `Default: ${JSON.stringify(value)}`;
  const { description } = field;
  return { ...field, description: typeof description === 'string' ? `${description}. ${told}` : told };
}

function asAnswer(schema: JsonObject): JsonObject {
  if (schema['properties'] === undefined) return schema;
  return { ...schema, properties: mapValues(objectAt(schema, 'properties'), withFormat) };
}

function addReferenced(value: Json, schemas: JsonObject, names: Set<string>): void {
  if (value === null || typeof value !== 'object') return;
  for (const item of Object.values(value)) addReferenced(item, schemas, names);
  const reference = Array.isArray(value) ? undefined : (value as JsonObject)['$ref'];
  const name = typeof reference === 'string' ? reference.slice('#/components/schemas/'.length) : '';
  if (name === '' || names.has(name)) return;
  names.add(name);
  addReferenced(schemas[name] ?? null, schemas, names);
}

function objectAt(value: JsonObject, ...path: readonly string[]): JsonObject {
  return path.reduce<JsonObject>((inner, key) => (inner[key] ?? {}) as JsonObject, value);
}

function mapValues(object: JsonObject, change: (value: JsonObject, name: string) => JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value as JsonObject, name)]));
}
