import type { JsonObject } from '../../../kernel/json.js';
import { examplesOf, REORG_EXAMPLE } from './event-examples.js';
import { EVENT_SCHEMAS, type EventSchema } from './event-schemas.js';

const ORDER = `Events of one transaction come in the order in which they happened; \`id\` is the same on every way (webhook, stream, page).`;
const FORKS =
  '\n\nConfirmations are a list of blocks that grows. `newFork: false` appends `confirmations` to it. `newFork: true` makes everything before void, and ' +
  '`confirmations` is the whole new list (null: an empty one). So a client that adds them up is always right. A reorg, as a client sees it:\n\n```json\n' +
  `${REORG_EXAMPLE.filter(({ data }) => Object.hasOwn(data as JsonObject, 'newFork'))
    .map((body) => JSON.stringify(body))
    .join('\n')}\n\`\`\``;

/** The section `webhooks` of the OpenAPI document: one entry for each public event type. */
export function eventWebhooks(): Record<string, JsonObject> {
  return Object.fromEntries(EVENT_SCHEMAS.map((event) => [event.type, { post: operationOf(event) }]));
}

function operationOf({ type, summary, schema }: EventSchema): JsonObject {
  const hasForks = JSON.stringify(schema).includes('"newFork"');
  const examples = Object.fromEntries(
    examplesOf(type).map((value, i) => [i === 0 ? 'example' : 'afterReorg', { value }]),
  );
  return {
    tags: ['events'],
    summary,
    description: hasForks ? `${ORDER}${FORKS}` : ORDER,
    requestBody: { required: true, content: { 'application/json': { schema, examples } } },
    responses: { '2XX': { description: 'Received. Every other answer is a failure, and the post is repeated' } },
  };
}
