import type { JsonObject } from '../../../kernel/json.js';
import { examplesOf, REORG_EXAMPLE } from './event-examples.js';
import { BECOMES, EVENT_OBJECTS, EVENT_SCHEMAS, type EventSchema, PAUSE_SCOPE } from './event-schemas.js';

const ORDER = `Events of one transaction come in the order in which they happened; \`id\` is the same on every way (webhook, stream, page).`;
const FORKS =
  '\n\nConfirmations are a list of blocks that grows. `newFork: false` appends `confirmations` to it. `newFork: true` makes everything before void, and ' +
  '`confirmations` is the whole new list (null: an empty one). So a client that adds them up is always right. A reorg, as a client sees it:\n\n```json\n' +
  `${REORG_EXAMPLE.filter(({ data }) => Object.hasOwn(data as JsonObject, 'newFork'))
    .map((body) => JSON.stringify(body))
    .join('\n')}\n\`\`\``;

/** Any event, in the OpenAPI document. */
export const EVENT_REFERENCE = { $ref: '#/components/schemas/Event' } as const;

/** What the OpenAPI document has of the public events. */
export interface EventDocument {
  /** Of the section `webhooks`: one entry for each type. */
  readonly webhooks: Readonly<Record<string, JsonObject>>;
  /** Each body by a name, and `Event`, which is any of them by its type: a generated client has a class for each. */
  readonly schemas: Readonly<Record<string, JsonObject>>;
}

export function eventDocument(): EventDocument {
  const references = EVENT_SCHEMAS.map(({ type }) => [type, `#/components/schemas/${nameOf(type)}`] as const);
  const event = {
    oneOf: references.map(([, $ref]) => ({ $ref })),
    discriminator: { propertyName: 'type', mapping: Object.fromEntries(references) },
  };
  const bodies = EVENT_SCHEMAS.flatMap(({ type, schema, data }) => [
    [nameOf(type), withData(schema, { $ref: `#/components/schemas/${nameOf(type)}Data` })] as const,
    [`${nameOf(type)}Data`, data] as const,
  ]);
  return {
    webhooks: Object.fromEntries(EVENT_SCHEMAS.map((event) => [event.type, { post: operationOf(event) }])),
    schemas: {
      ...Object.fromEntries(bodies),
      ...EVENT_OBJECTS,
      Event: event,
      TxRefusedBecomes: BECOMES,
      PauseScope: PAUSE_SCOPE,
    },
  };
}

function withData(schema: JsonObject, data: JsonObject): JsonObject {
  return { ...schema, properties: { ...(schema['properties'] as JsonObject), data } };
}

/** `tx.receipt_updated` is `TxReceiptUpdatedEvent`. */
function nameOf(type: string): string {
  return `${type.replaceAll(/(?:^|[._])(.)/g, (_all, first: string) => first.toUpperCase())}Event`;
}

function operationOf({ type, summary, schema }: EventSchema): JsonObject {
  const hasForks = JSON.stringify(schema).includes('"newFork"');
  const examples = Object.fromEntries(
    examplesOf(type).map((value, i) => [i === 0 ? 'example' : 'afterReorg', { value }]),
  );
  return {
    operationId: `on${nameOf(type)}`,
    tags: ['events'],
    summary,
    description: hasForks ? `${ORDER}${FORKS}` : ORDER,
    requestBody: {
      required: true,
      content: { 'application/json': { schema: { $ref: `#/components/schemas/${nameOf(type)}` }, examples } },
    },
    responses: { '2XX': { description: 'Received. Every other answer is a failure, and the post is repeated' } },
  };
}
