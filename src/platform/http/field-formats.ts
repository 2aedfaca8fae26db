import type { Json, JsonObject } from '../../kernel/json.js';

const UUID = { format: 'uuid' };
const TIME = { format: 'date-time' };
const ADDRESS = { pattern: '^0x[0-9a-f]{40}$' };
const WORD = { pattern: '^0x[0-9a-f]{64}$' };
/** Of an event, or of the place behind one. */
export const EVENT_ID = { pattern: '^[0-9]{1,19}-[0-9]{1,18}-[0-9]$' };
const DIGITS = { pattern: '^[0-9]+$' };

/** What is in the text fields of answers: a name means the same everywhere. */
const FORMATS: readonly (readonly [names: RegExp, format: JsonObject])[] = [
  [/^(txId|holdId|commandId|accountId|id|replaces|replacedBy|replacement|callback)$/, UUID],
  [/(At|Since|Until)$|^(since|time|at|asOf|deadline)$/, TIME],
  [/^(address|signer|to|contractAddress|signers|contract|owner)$/, ADDRESS],
  [/^(txHash|blockHash|hash|digest|r|s|storageKeys|blobs)$/, WORD],
  [/^signature$/, { pattern: '^0x[0-9a-f]{130}$' }],
  [/^(value|gasLimit|gasUsed|effectiveGasPrice|gasPrice|max(Priority)?FeePer(Blob)?Gas|baseFeePerGas)$/, DIGITS],
  [/^(blobBaseFee|congestedTip|wei|balance|available|missing|committed|queuedAhead|gas|cost)$/, DIGITS],
  [/^(max(Value|Fee)|daily(Value|Fees))$/, DIGITS],
  [/^selectors$/, { pattern: '^0x([0-9a-f]{8})?$' }],
  [/^(fencingToken|seq|nonce|permitNonce|chainId)$/, DIGITS],
  [/^data$/, { pattern: '^0x([0-9a-f]{2})*$' }],
  [/^eventId$/, EVENT_ID],
  // Free text. Cursors are opaque.
  [
    /^(requestId|description|reason|refusal|lastError|error|failureReason|body|answerBody|summary|what|operator|feesRefusal)$/,
    {},
  ],
  [/^(nodeId|leaseOwner|by|heldBy|changedBy|actor|object|endpoint|source|url|secret|nextCursor|cursor)$/, {}],
  [/^(type|title|code|detail|advice|instance|path|message|name|version|prefix|key)$/, {}],
];

/** @returns null for a name that is not known: a test finds those */
export function formatOfField(name: string): JsonObject | null {
  return FORMATS.find(([names]) => names.test(name))?.[1] ?? null;
}

/** Adds the format to a field that is text, or a list of texts, and that does not say more itself. */
export function withFormat(field: JsonObject, name: string): JsonObject {
  const { items } = field;
  if (isObject(items)) return { ...field, items: withFormat(items, name) };
  return isAnyText(field) ? { ...field, ...formatOfField(name) } : field;
}

export function isAnyText(field: JsonObject): boolean {
  const isText = [field['type']].flat().includes('string');
  return isText && !['format', 'pattern', 'enum', 'const', 'minLength'].some((key) => key in field);
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
