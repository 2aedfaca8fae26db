import type { Problem } from '../../../../platform/http/problem-details.js';

/** The problems of commands, as OpenAPI shows them. */
const facts = (state: string) => ({ txId: '019aa2f4-7a1c-7c3e-9a52-3f4d5e6f7a8b', state });

export const ALREADY_MINED: Problem = {
  status: 409,
  code: 'already_mined',
  detail: 'the transaction is in a block',
  advice: 'read its receipt; only a reorg can undo it',
  facts: facts('MINED'),
};
export const ALREADY_FINAL: Problem = {
  status: 409,
  code: 'already_final',
  detail: 'the transaction is CONFIRMED',
  advice: 'create a new transaction',
  facts: facts('CONFIRMED'),
};
export const BEING_REPLACED: Problem = {
  status: 409,
  code: 'being_replaced',
  detail: 'the transaction 019aa2f4-8b1c-7c3e-9a52-3f4d5e6f7a8b competes for its nonce',
  advice: 'send it to 019aa2f4-8b1c-7c3e-9a52-3f4d5e6f7a8b',
  facts: facts('IN_MEMPOOL'),
};
export const BEING_CANCELLED: Problem = {
  status: 409,
  code: 'being_cancelled',
  detail: 'a no-op competes for its nonce',
  advice: 'create a new transaction',
  facts: facts('IN_MEMPOOL'),
};
export const OTHER_KIND: Problem = {
  status: 409,
  code: 'other_kind',
  detail: 'a transaction with blobs cannot replace one without, nor the reverse',
  advice: 'cancel the transaction, and create another one',
  facts: facts('IN_MEMPOOL'),
};
export const NOT_IN_REPLACEMENT: Problem = {
  status: 400,
  code: 'not_in_replacement',
  detail: 'a replacement cannot have authorizations that Lockstep signs',
  advice: 'cancel the transaction, and create another one',
};
export const NOT_SENT_YET: Problem = {
  status: 409,
  code: 'not_sent_yet',
  detail: 'the transaction has no nonce yet',
  advice: 'replace it to change its fees or its speed',
  facts: facts('PENDING'),
};
export const NOT_A_PAYLOAD: Problem = {
  status: 409,
  code: 'not_a_payload',
  detail: 'a fill only consumes a nonce',
  advice: 'wait until it is mined; it cannot be changed',
  facts: facts('IN_MEMPOOL'),
};
