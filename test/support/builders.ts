import { ANYONE, DEFAULT_ACCOUNT } from '../../src/kernel/caller.js';
import { type Address, type Hash, parseAddress, parseHash, parseHex } from '../../src/kernel/hex.js';
import type { SignerId } from '../../src/kernel/signer-id.js';
import { BLOB_BYTES } from '../../src/modules/chain/domain/blob-sidecar.js';
import type { FeeQuote, Receipt } from '../../src/modules/chain/index.js';
import type { CommandInput } from '../../src/modules/commands/application/submit-command.js';
import type { HoldCommandKind, TxCommand } from '../../src/modules/commands/domain/tx-command.js';
import type { PauseOrder } from '../../src/modules/ops/application/store-pauses.js';
import type { CreatedTx } from '../../src/modules/requests/application/create-tx.js';
import type { Attempt } from '../../src/modules/ledger/domain/attempt.js';
import { ManagedTx, type TxProgress } from '../../src/modules/ledger/domain/managed-tx.js';
import { NO_FEES, type TxRequest } from '../../src/modules/ledger/domain/tx-request.js';
import type { Lease, SignerPolicy } from '../../src/modules/signers/index.js';

export const DEV_CHAIN = 31337;

/** A hash that is easy to tell apart: `aHash(7)` ends in 07. */
export function aHash(n: number | bigint): Hash {
  return parseHash(`0x${n.toString(16).padStart(64, '0')}`);
}

export function anAddress(n: number): Address {
  return parseAddress(`0x${n.toString(16).padStart(40, '0')}`);
}

/** Field elements that differ: of equal ones all proofs would be equal. */
export function aBlob(seed: number): Buffer {
  return Buffer.from(Uint8Array.from({ length: BLOB_BYTES }, (_, at) => (at % 32 === 0 ? 0 : (at * seed) % 251)));
}

export function aSigner(n = 1): SignerId {
  return { chainId: DEV_CHAIN, address: anAddress(n) };
}

export function aLease(signer = aSigner(), token = 1n): Lease {
  return { signer, owner: 'node', token };
}

export function aFeeQuote(overrides: Partial<FeeQuote> = {}): FeeQuote {
  return {
    blockNumber: 42,
    hasBaseFee: true,
    baseFeePerGas: 4n,
    tips: { slow: 1n, standard: 2n, fast: 3n, urgent: 5n },
    congestedTip: 4n,
    blobBaseFee: null,
    ...overrides,
  };
}

/** Of a chain where gas is free. */
export const FREE_QUOTE = aFeeQuote({
  baseFeePerGas: 0n,
  tips: { slow: 0n, standard: 0n, fast: 0n, urgent: 0n },
  congestedTip: 0n,
});

export function aReceipt(overrides: Partial<Receipt> = {}): Receipt {
  return {
    txHash: aHash(1),
    blockNumber: 10,
    blockHash: aHash(0xb10c),
    transactionIndex: 0,
    status: 'success',
    gasUsed: 21_000n,
    effectiveGasPrice: 1_000_000_000n,
    contractAddress: null,
    ...overrides,
  };
}

export function anAttempt(overrides: Partial<Attempt> = {}): Attempt {
  return {
    signer: aSigner(),
    nonce: 7n,
    txHash: aHash(1),
    raw: parseHex('0x02'),
    kind: 'payload',
    txId: 'tx',
    gasLimit: 21_000n,
    fees: { maxFeePerGas: 2n, maxPriorityFeePerGas: 1n },
    type: 2,
    pricedAtBlock: null,
    status: 'SIGNED',
    errorClass: null,
    ...overrides,
  };
}

/** As `CreateTx` answers for a new one. */
export function aCreatedTx(overrides: Partial<CreatedTx> = {}): CreatedTx {
  return {
    txId: '019aa2f4-7a1c-7c3e-9a52-3f4d5e6f7a8b',
    signer: aSigner(),
    requestId: 'r-1',
    state: 'PENDING',
    nonce: null,
    txHash: null,
    isPaused: false,
    contractAddress: null,
    isNew: true,
    ...overrides,
  };
}

/** A cancel that waits for the owner of the signer. */
export function aCommand(overrides: Partial<TxCommand> = {}): TxCommand {
  return {
    commandId: 'command-1',
    signer: aSigner(),
    txId: 'tx',
    kind: 'cancel',
    requestId: 'command-key',
    requestHash: aHash(0xc0),
    fees: null,
    txHash: null,
    ttl: null,
    replacement: null,
    status: 'QUEUED',
    refusal: null,
    tries: 0,
    ...overrides,
  };
}

export function aRequest(overrides: Partial<TxRequest> = {}): TxRequest {
  return {
    signer: aSigner(),
    sender: ANYONE,
    requestId: 'request-1',
    requestHash: aHash(0xabc),
    payload: { to: anAddress(2), value: 1n, data: parseHex('0x'), gasLimit: null, accessList: [] },
    fees: NO_FEES,
    speed: 'standard',
    priority: 0,
    confirmations: null,
    expiresAt: null,
    metadata: null,
    ...overrides,
  };
}

/** Of the config. Without overrides it has no limit, and allows no contract, blob or authorization. */
export function aPolicy(overrides: Partial<SignerPolicy> = {}): SignerPolicy {
  return { contractCreation: false, blobs: false, authorizations: false, dryRun: false, ...overrides };
}

/** A managed tx by what happened to it: `aManagedTx().allocated().sent().mined().build()`. */
export class ManagedTxBuilder {
  private readonly tx: ManagedTx;

  constructor(overrides: Partial<TxProgress> = {}) {
    this.tx = ManagedTx.rehydrate({
      txId: '019aa2f4-7a1c-7c3e-9a52-3f4d5e6f7a8b',
      kind: 'payload',
      signer: aSigner(),
      state: 'PENDING',
      subState: null,
      nonce: null,
      gasLimit: null,
      txHash: null,
      receipt: null,
      failureReason: null,
      closing: null,
      replaces: null,
      replacedBy: null,
      tries: 0,
      withdrawnReplacement: null,
      requeues: 0,
      lastError: null,
      version: 0,
      ...overrides,
    });
  }

  allocated(nonce = 0n): this {
    this.tx.allocated(nonce, 21_000n);
    return this;
  }

  signed(): this {
    this.tx.signed(aHash(1), { maxFeePerGas: 2n, maxPriorityFeePerGas: 1n });
    return this;
  }

  sent(): this {
    this.tx.sent(aHash(1), null, { resubmit: { inMs: 60_000 }, receiptCheck: { inMs: 60_000 } }, null);
    return this;
  }

  mined(receipt: Partial<Receipt> = {}): this {
    this.tx.mined(aReceipt(receipt));
    return this;
  }

  build(): ManagedTx {
    return this.tx;
  }
}

export function aManagedTx(overrides: Partial<TxProgress> = {}): ManagedTxBuilder {
  return new ManagedTxBuilder(overrides);
}

/** As a caller asks for a pause or its end. */
export function aPauseOrder(reason: string | null = null, name = 'api'): PauseOrder {
  return { by: { name, account: DEFAULT_ACCOUNT }, action: 'stopSigners', reason };
}

/** A command of a client, to be submitted; it has no request of its own. */
export function anOrder(
  kind: 'cancel' | 'speed_up' | HoldCommandKind,
  txId: string,
  more: Partial<CommandInput> = {},
): CommandInput {
  return { txId, kind, sender: ANYONE, requestId: null, requestHash: aHash(1), fees: null, request: null, ...more };
}
