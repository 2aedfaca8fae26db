import type { AttemptView, TxView } from '../../src/modules/ledger/index.js';
import { aHash, aSigner, DEV_CHAIN } from './builders.js';

const NOW = '2025-01-01T00:00:00.000Z';

export function aTxView(overrides: Partial<TxView> = {}): TxView {
  return {
    txId: 'tx',
    kind: 'payload',
    chainId: DEV_CHAIN,
    signer: aSigner().address,
    requestId: 'request-1',
    state: 'PENDING',
    subState: null,
    lastError: null,
    nonce: null,
    txHash: null,
    replaces: null,
    replacedBy: null,
    payload: {
      to: null,
      value: '7',
      data: '0x',
      gasLimit: null,
      accessList: [],
      blobs: [],
      authorizationList: [],
      permits: [],
    },
    contractAddress: null,
    speed: 'standard',
    priority: 0,
    confirmations: null,
    expiresAt: null,
    metadata: null,
    callback: null,
    gasLimit: null,
    receipt: null,
    failureReason: null,
    lastSubmitAt: null,
    nextResubmitAt: null,
    confirmedAt: null,
    createdAt: NOW,
    updatedAt: NOW,
    ...overrides,
  };
}

export function anAttemptView(overrides: Partial<AttemptView> = {}): AttemptView {
  return {
    txHash: aHash(1),
    nonce: 7,
    kind: 'payload',
    status: 'SIGNED',
    type: 2,
    gasLimit: '21000',
    gasPrice: null,
    maxFeePerGas: '2',
    maxPriorityFeePerGas: '1',
    maxFeePerBlobGas: null,
    errorClass: null,
    lastError: null,
    createdAt: NOW,
    lastSentAt: null,
    ...overrides,
  };
}
