/** Who reserves no nonces, and has no policy, meets none of these. */
const HOLDS = 'nonces for outside senders: a client that reserves none gets none of these values';
const CHANGES = ['cancel', 'replace', 'speed-up'].flatMap((verb) =>
  ['200', '202'].map((status) => [`POST /api/v1/tx/{txId}/${verb}`, status] as const),
);
const KIND = 'kind/allOf[#/components/schemas/TxKind]';
const USE = 'use/allOf[#/components/schemas/NonceUse]';
const COMMAND = 'kind/allOf[#/components/schemas/CommandKind]';
const WAITING = 'facts/command/anyOf[#/components/schemas/WaitingCommandDto]';
const RULE = 'policy/anyOf[#/components/schemas/SimulatedPolicyDto]/rule/anyOf[#/components/schemas/PolicyRule]';

function added(value: string, operation: string, property: string, status = '200'): string {
  return (
    `${operation}: added the new \`${value}\` enum value to the \`${property}\` response property for the response status ` +
    `\`${status}\` [response-property-enum-value-added]`
  );
}

const OF_HOLDS: readonly string[] = [
  added('hold', 'GET /api/v1/tx', `items/items/${KIND}`),
  added('hold', 'GET /api/v1/tx/{txId}', KIND),
  added('hold', 'GET /api/v1/tx/by-request', KIND),
  added('hold', 'GET /api/v1/signers/{chainId}/{address}/nonces', `items/items/${USE}`),
  added(
    'hold',
    'GET /api/v1/signers/{chainId}/{address}/nonces/{nonce}',
    `slot/anyOf[#/components/schemas/NonceDto]/${USE}`,
  ),
  ...CHANGES.map(([operation, status]) =>
    added('hold', operation, `tx/allOf[#/components/schemas/TxDto]/${KIND}`, status),
  ),
  ...['release', 'consume', 'extend', 'close'].flatMap((value) => [
    added(value, 'GET /api/v1/tx/{txId}/commands', `items/items/${COMMAND}`),
    added(value, 'GET /api/v1/tx/{txId}/explain', `${WAITING}/${COMMAND}`),
    ...CHANGES.map(([operation, status]) => added(value, operation, COMMAND, status)),
  ]),
  ...['outsideNonces', 'typedData'].map((value) => added(value, 'POST /api/v1/tx/simulate', RULE)),
];

/**
 * Changes since the version before that break clients, as the check names them, each with the reason why the version in package.json stays.
 * The list is emptied when the version is raised.
 */
export const ALLOWED: readonly { readonly change: string; readonly because: string }[] = [
  ...OF_HOLDS.map((change) => ({ change, because: HOLDS })),
];
