import type { Problem } from '../../../../platform/http/problem-details.js';
import { CREATE_TX_EXAMPLES } from './create-tx.examples.js';
import { refusedItem } from './tx-batch.items.js';

const accepted = {
  txId: '019aa2f4-7a1c-7c3e-9a52-3f4d5e6f7a8b',
  chainId: 31337,
  signer: '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
  requestId: 'invoice-4711',
  state: 'PENDING',
  nonce: null,
  txHash: null,
  contractAddress: null,
};

/** Example bodies in Swagger. */
export const TX_BATCH_EXAMPLES = {
  batch: {
    summary: 'A transfer and a contract call',
    value: { items: [CREATE_TX_EXAMPLES.transfer.value, CREATE_TX_EXAMPLES.call.value] },
  },
};

const INVALID: Problem = {
  status: 400,
  code: 'missing_request_id',
  detail: 'requestId is missing',
  advice: 'send a requestId that is unique per signer: a repeated request never sends twice',
};
const CONFLICT: Problem = {
  status: 409,
  code: 'idempotency_conflict',
  detail: 'this requestId was used for a different request',
  advice: 'use a new requestId, or send the first body unchanged',
};

export const TX_BATCH_RESULT_EXAMPLES = {
  accepted: {
    summary: 'One item is new, one was stored before',
    value: {
      items: [
        { index: 0, status: 202, tx: accepted },
        { index: 1, status: 200, tx: { ...accepted, requestId: 'mint-42', state: 'IN_MEMPOOL', nonce: 7 } },
      ],
    },
  },
  partly: {
    summary: 'Two items are refused, the third is stored',
    value: {
      items: [refusedItem(0, INVALID), refusedItem(1, CONFLICT), { index: 2, status: 202, tx: accepted }],
    },
  },
};
