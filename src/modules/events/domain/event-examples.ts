import { DEFAULT_ACCOUNT } from '../../../kernel/caller.js';
import { parseAddress, parseHash } from '../../../kernel/hex.js';
import type { JsonObject } from '../../../kernel/json.js';
import type { LoggedEvent, PublicEventType } from './public-event.js';
import { bodyOf, publicEventsOf } from './publish.js';

const hashOf = (digit: string): ReturnType<typeof parseHash> => parseHash(`0x${digit.repeat(64)}`);
const TX_HASH = hashOf('a');
const ROW: LoggedEvent = {
  xid: 1234n,
  seq: 1n,
  time: new Date('2026-01-01T12:00:00Z'),
  reason: 'queued',
  chainId: 31337,
  signer: parseAddress('0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'),
  txId: '01900000-0000-7000-8000-000000000001',
  requestId: 'invoice-4711',
  replaces: null,
  callback: null,
  account: DEFAULT_ACCOUNT,
  toState: 'PENDING',
  nonce: null,
  txHash: null,
  block: null,
  error: null,
  detail: null,
  isAfterReorg: false,
  isHold: false,
};
const SENT = { toState: 'IN_MEMPOOL', nonce: 7n, txHash: TX_HASH };
const FIRST_BLOCK = { number: 100, hash: hashOf('1') };
const SECOND_BLOCK = { number: 101, hash: hashOf('2') };
const RECEIPT = { status: 'success', gasUsed: '21000', effectiveGasPrice: '1000000000', contractAddress: null };
const BEHIND = { cause: 'LOWER_NONCE', chainNonce: 3, usedBelow: 5, block: SECOND_BLOCK };
const FUNDS = { balance: '5', inFlight: '3', queued: '4', missing: '2' };

const minedIn = (block: { readonly number: number; readonly hash: string }): JsonObject => ({
  ...RECEIPT,
  newFork: false,
  confirmations: { from: block.number, to: block.number, hash: block.hash },
});
const ofSigner = (reason: string, detail: JsonObject): Partial<LoggedEvent> => ({
  reason,
  detail,
  txId: null,
  requestId: null,
  toState: null,
});

/** The life of a tx that a reorg puts into another block, as rows of the log. */
const REORG: readonly Partial<LoggedEvent>[] = [
  {},
  { ...SENT, reason: 'sent' },
  { ...SENT, reason: 'mined', toState: 'MINED', block: FIRST_BLOCK, detail: minedIn(FIRST_BLOCK) },
  { ...SENT, reason: 'reorg_detected', block: FIRST_BLOCK, detail: { newFork: true, confirmations: null } },
  {
    ...SENT,
    reason: 'mined',
    toState: 'MINED',
    block: SECOND_BLOCK,
    detail: minedIn(SECOND_BLOCK),
    isAfterReorg: true,
  },
  {
    ...SENT,
    reason: 'confirmed',
    toState: 'CONFIRMED',
    block: SECOND_BLOCK,
    detail: { newFork: false, confirmations: { from: 102, to: 121, hash: hashOf('3') } },
  },
];
const OTHER_ENDS: readonly Partial<LoggedEvent>[] = [
  {
    ...SENT,
    reason: 'refused',
    error: 'oversized data',
    detail: { subState: 'REFUSED', becomes: 'FAILED' },
  },
  {
    ...SENT,
    reason: 'failed',
    toState: 'FAILED',
    block: FIRST_BLOCK,
    error: 'reverted',
    detail: { newFork: false, confirmations: { from: 101, to: 120, hash: hashOf('4') } },
  },
  { reason: 'cancelled', toState: 'CANCELLED', error: 'cancelled by the client' },
  {
    ...SENT,
    reason: 'replaced',
    toState: 'REPLACED',
    block: FIRST_BLOCK,
    detail: { replacedBy: '01900000-0000-7000-8000-000000000002' },
  },
  { reason: 'dropped', toState: 'DROPPED', error: 'expired before it was sent' },
  ofSigner('paused', { by: 'key:01a21973-e4a2-749a-93eb-ccf47cdff4c7', reason: 'key rotation', scope: 'signer' }),
  ofSigner('resumed', { by: 'key:01a21973-e4a2-749a-93eb-ccf47cdff4c7', reason: null, scope: 'signer' }),
  ofSigner('balance_low', FUNDS),
  ofSigner('balance_restored', { ...FUNDS, balance: '9', missing: '0' }),
  ofSigner('chain_behind', BEHIND),
  ofSigner('chain_caught_up', BEHIND),
  ofSigner('nonce_gap', { nonce: 8 }),
  ofSigner('nonce_gap_closed', { nonce: 8 }),
];

/** What becomes of nonces of outside senders. */
const OF_HOLD: Partial<LoggedEvent> = { requestId: 'relayer-batch-17', isHold: true, nonce: 8n };
const HOLDS: readonly Partial<LoggedEvent>[] = [
  { ...OF_HOLD, reason: 'nonce_reserved', toState: 'ALLOCATED' },
  { ...OF_HOLD, reason: 'sent', toState: 'IN_MEMPOOL', txHash: TX_HASH },
  {
    ...OF_HOLD,
    reason: 'updated',
    toState: 'IN_MEMPOOL',
    txHash: TX_HASH,
    error: 'closed by an operator, with the word of its outside sender',
    detail: { subState: 'CANCELLING' },
  },
  { ...OF_HOLD, reason: 'reorg_detected', toState: 'IN_MEMPOOL', txHash: TX_HASH, block: FIRST_BLOCK },
  { ...OF_HOLD, reason: 'confirmed', toState: 'CONFIRMED', txHash: TX_HASH, block: SECOND_BLOCK },
  { ...OF_HOLD, reason: 'cancelled', toState: 'CANCELLED', error: 'given back by its outside sender, unused' },
  {
    ...OF_HOLD,
    reason: 'cancelled',
    toState: 'CANCELLED',
    txHash: hashOf('9'),
    block: SECOND_BLOCK,
    error: 'closed by an operator, with the word of its outside sender',
  },
  { ...OF_HOLD, reason: 'dropped', toState: 'DROPPED', error: 'expired before it was sent', nonce: null },
  {
    ...OF_HOLD,
    reason: 'dropped',
    toState: 'DROPPED',
    error: 'policy_refused: outsideNonces: it may not give nonces to outside senders',
    nonce: null,
  },
];

const bodiesOf = (rows: readonly Partial<LoggedEvent>[]): JsonObject[] =>
  rows.flatMap((row, i) => publicEventsOf({ ...ROW, seq: BigInt(i + 1), ...row }).map(bodyOf));

/** The bodies that a client gets when a reorg puts its tx into another block. */
export const REORG_EXAMPLE: readonly JsonObject[] = bodiesOf(REORG);
const EXAMPLES = [...REORG_EXAMPLE, ...bodiesOf(OTHER_ENDS), ...bodiesOf(HOLDS)];

/** Examples of a type: after a reorg, events have another meaning. */
export function examplesOf(type: PublicEventType): readonly JsonObject[] {
  return EXAMPLES.filter((body) => body['type'] === type);
}
