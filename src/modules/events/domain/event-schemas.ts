import type { JsonObject } from '../../../kernel/json.js';
import { TX_STATES } from '../../../kernel/tx-state.js';
import { PUBLIC_EVENT_TYPES, PUBLIC_EVENT_VERSION, type PublicEventType } from './public-event.js';

/** JSON Schema 2020-12 of the body of each public event, for the OpenAPI document. Every field is always there. */
type Fields = Readonly<Record<string, JsonObject>>;
interface Kind {
  readonly summary: string;
  readonly fields: Fields;
}

type Described = JsonObject & { readonly type: string; readonly description: string };

const text = (description: string, more: JsonObject = {}): Described => ({ type: 'string', description, ...more });
const number = (description: string): Described => ({ type: 'integer', minimum: 0, description });
const hash = (description: string): Described => text(description, { pattern: '^0x[0-9a-f]{64}$' });
const address = (description: string): Described => text(description, { pattern: '^0x[0-9a-f]{40}$' });
const wei = (description: string): Described => text(`${description}, in wei`, { pattern: '^[0-9]+$' });
const orNull = (schema: Described, when: string): JsonObject => ({
  ...schema,
  type: [schema.type, 'null'],
  description: `${schema.description}. Null ${when}`,
});
const object = (fields: Fields, description: string): Described => ({
  type: 'object',
  description,
  properties: fields,
  required: Object.keys(fields),
  additionalProperties: false,
});

const SIGNER: Fields = {
  chainId: number('Chain id (EIP-155)'),
  signer: address('The signer, in lower case'),
};
const TX: Fields = {
  txId: text('The transaction of Lockstep', { format: 'uuid' }),
  ...SIGNER,
  requestId: text('The idempotency key of the request'),
  state: text('The state of the transaction after the event', { enum: TX_STATES }),
  nonce: orNull(number('The nonce of txHash'), 'without a txHash'),
  txHash: orNull(hash('The transaction on chain that the event is about'), 'while nothing was signed'),
};
const HOLD: Fields = {
  ...TX,
  txId: text('The hold: `holdId` of the answer that gave the nonce', { format: 'uuid' }),
  nonce: orNull(number('The nonce of the hold'), 'when it ended before it had one'),
  txHash: orNull(hash('What was sent with the nonce, or what its sender named'), 'when none is known'),
};
const OF_BLOCK = object(
  { number: number('Number of the block'), hash: hash('Hash of the block') },
  'The block of txHash',
);
const BLOCK = orNull(OF_BLOCK, 'when the event is not about a block');
const CONFIRMING = object(
  { from: number('First block'), to: number('Last block'), hash: hash('Hash of the last block') },
  'Blocks that confirm the transaction, as a range that begins with its own block or above the last one that was told',
);
const CONFIRMATIONS: Fields = {
  confirmations: orNull(CONFIRMING, 'when there are none'),
  newFork: {
    type: 'boolean',
    description:
      'True: all confirmations of earlier events are void, and `confirmations` is the whole new list (null: an empty one). False: `confirmations` is appended',
  },
};
const REASON = orNull(text('Why, in words for people'), 'when the state says it all');
const FUNDS: Fields = {
  balance: wei('The balance'),
  inFlight: wei('The most that transactions in flight may cost'),
  queued: wei('The most that waiting transactions may cost'),
  missing: wei('What is missing'),
};
const BY: Fields = {
  by: text('Who asked for it'),
  reason: orNull(text('The reason that was given'), 'when none was given'),
};
export const PAUSE_SCOPE: JsonObject = { type: 'string', enum: ['signer', 'address', 'chain', 'all'] };
const SCOPE: Fields = {
  scope: text(
    'Who was paused or resumed together: this signer, its address on all chains, its chain, or all',
    PAUSE_SCOPE,
  ),
};
const BOOKS: Fields = {
  cause: text(
    '`CHAIN_RESET`: the first blocks of the chain are others. `LOWER_NONCE`: it used fewer nonces than was seen final',
    {
      enum: ['CHAIN_RESET', 'LOWER_NONCE'],
    },
  ),
  chainNonce: orNull(number('The lowest next nonce that an RPC endpoint told'), 'when none told one'),
  usedBelow: number('All nonces below it were seen used in final blocks'),
  block: orNull(
    object(
      { number: number('Number of the block'), hash: hash('Hash of the block') },
      'The head when the nonce was told',
    ),
    'when it is not known',
  ),
};
const NOT_TOLD = 'when the RPC endpoint does not tell it';
const RECEIPT = object(
  {
    status: text('How the execution ended', { enum: ['success', 'reverted'] }),
    gasUsed: orNull(text('Gas that was used', { pattern: '^[0-9]+$' }), NOT_TOLD),
    effectiveGasPrice: orNull(wei('Price per gas that was paid'), NOT_TOLD),
    contractAddress: orNull(address('The contract that was created'), 'when none was created'),
  },
  'What the receipt says',
);
export const BECOMES: JsonObject = { type: 'string', enum: ['FAILED', 'PENDING'] };
/** What a generated client has one type for. */
export const EVENT_OBJECTS = { EventBlock: OF_BLOCK, EventConfirmations: CONFIRMING, EventReceipt: RECEIPT };
const ENDED: Fields = { block: BLOCK, ...CONFIRMATIONS, reason: REASON };

const KINDS: Readonly<Record<PublicEventType, Kind>> = {
  'tx.accepted': {
    summary: 'A request was stored',
    fields: {
      ...TX,
      replaces: orNull(text('The transaction that it is to replace', { format: 'uuid' }), 'when it replaces none'),
    },
  },
  'tx.submitted': {
    summary: 'A signed transaction was sent, or is sent now at a higher price',
    fields: {
      ...TX,
      isFeeBump: {
        type: 'boolean',
        description: 'The nonce was signed again at a higher price; earlier hashes may still be mined',
      },
      gasLimit: orNull(
        text('The gas limit that the nonce was signed with again: nodes may have wanted more', { pattern: '^[0-9]+$' }),
        'when isFeeBump is false',
      ),
    },
  },
  'tx.refused': {
    summary: 'Every RPC endpoint refused it. Not final: one may have kept it all the same, and the chain decides',
    fields: {
      ...TX,
      reason: text('What the endpoints said'),
      becomes: text(
        'Its state if another transaction uses its nonce for good; PENDING: it gets another nonce',
        BECOMES,
      ),
    },
  },
  'tx.receipt_updated': {
    summary: 'There is a receipt, or another one than before. Not final',
    fields: { ...TX, block: BLOCK, receipt: RECEIPT },
  },
  'tx.confirmations': {
    summary: 'The transaction is in a block. Not final',
    fields: { ...TX, block: BLOCK, ...CONFIRMATIONS },
  },
  'tx.confirmed': {
    summary: 'Final: executed with success, and deep enough. `confirmations` has the blocks that were appended',
    fields: { ...TX, block: BLOCK, ...CONFIRMATIONS },
  },
  'tx.failed': {
    summary: 'Final: reverted; or refused, and its nonce is final with another transaction; or it can never be sent',
    fields: { ...TX, ...ENDED },
  },
  'tx.cancelled': { summary: 'Final: cancelled, and not executed', fields: { ...TX, ...ENDED } },
  'tx.replaced': {
    summary:
      'Final: another transaction of Lockstep has its nonce. `txHash` and `block` are those of the one that was mined',
    fields: {
      ...TX,
      block: BLOCK,
      reason: REASON,
      replacedBy: text('The transaction that replaced it', { format: 'uuid' }),
    },
  },
  'tx.dropped': {
    summary: 'Final: expired unsent, or a replacement that lost against its original',
    fields: { ...TX, ...ENDED },
  },
  'tx.reorged': {
    summary: 'The block of the transaction is no longer in the chain: all confirmations are void, and it is sent again',
    fields: { ...TX, block: BLOCK, ...CONFIRMATIONS },
  },
  'hold.reserved': { summary: 'A system that signs itself has a nonce', fields: HOLD },
  'hold.used': {
    summary:
      'Something was sent with a reserved nonce, or its sender says so: from now on only the chain ends the hold',
    fields: HOLD,
  },
  'hold.closing': {
    summary:
      'A hold whose transaction never comes is closed, by an operator or because its time is over (`reason`): a no-op competes for its nonce. What was sent with it may be mined all the same',
    fields: { ...HOLD, reason: REASON },
  },
  'hold.consumed': {
    summary: 'Final: what was sent with a reserved nonce is in a block that is deep enough',
    fields: {
      ...HOLD,
      block: BLOCK,
      status: text('How the execution ended', { enum: ['success', 'reverted'] }),
    },
  },
  'hold.released': {
    summary:
      'Final: a reserved nonce was given back, or its time was over and it is proven unused. Or it was closed, and a no-op used the nonce: `reason` says so',
    fields: { ...HOLD, reason: REASON },
  },
  'hold.dropped': {
    summary:
      'Final: its time was over before it had a nonce, a policy refused it one (`reason` names the rule), or a transaction that no RPC endpoint names used it',
    fields: { ...HOLD, reason: REASON },
  },
  'hold.reorged': {
    summary:
      'The block with what was sent with a reserved nonce is no longer in the chain. Lockstep sends nothing again',
    fields: { ...HOLD, block: BLOCK },
  },
  'signer.paused': { summary: 'An operator paused a signer', fields: { ...SIGNER, ...BY, ...SCOPE } },
  'signer.resumed': { summary: 'An operator ended a pause of a signer', fields: { ...SIGNER, ...BY, ...SCOPE } },
  'signer.balance_low': { summary: 'The balance of a signer does not cover its work', fields: { ...SIGNER, ...FUNDS } },
  'signer.balance_restored': {
    summary: 'The balance of a signer covers its work again',
    fields: { ...SIGNER, ...FUNDS },
  },
  'signer.chain_behind': {
    summary: 'The chain was reset, or tells fewer used nonces than were seen final: nothing of the signer is sent',
    fields: { ...SIGNER, ...BOOKS },
  },
  'signer.chain_caught_up': {
    summary: 'The chain agrees with what was seen final again: the signer goes on. The fields say what was wrong',
    fields: { ...SIGNER, ...BOOKS },
  },
  'signer.nonce_gap': {
    summary:
      'Nobody has a nonce that higher ones wait for, and Lockstep has no key to fill it: the next reserve gets it. Told of the lowest one, each time it is another',
    fields: { ...SIGNER, nonce: number('The nonce that nobody has') },
  },
  'signer.nonce_gap_closed': {
    summary: 'A signer has no nonce gap any more that outside senders have to close',
    fields: { ...SIGNER, nonce: number('The nonce that was told last') },
  },
};

export interface EventSchema {
  readonly type: PublicEventType;
  readonly summary: string;
  readonly schema: JsonObject;
  /** Of its field `data`. */
  readonly data: JsonObject;
}

export const EVENT_SCHEMAS: readonly EventSchema[] = PUBLIC_EVENT_TYPES.map((type) => ({
  type,
  summary: KINDS[type].summary,
  data: dataOf(type),
  schema: object(
    {
      id: text('Place in the log. The same event has the same id on every way', { pattern: '^[0-9]+-[0-9]+-[0-9]$' }),
      type: { type: 'string', const: type, description: 'What happened' },
      version: { type: 'integer', const: PUBLIC_EVENT_VERSION, description: 'Of the shape of data' },
      time: text('When it happened, by the clock of the database', { format: 'date-time' }),
      data: dataOf(type),
    },
    KINDS[type].summary,
  ),
}));

function dataOf(type: PublicEventType): JsonObject {
  return object(KINDS[type].fields, 'What the event is about');
}
