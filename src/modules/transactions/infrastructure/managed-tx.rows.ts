import { parseAddress, parseHash, parseHex } from '../../../kernel/hex.js';
import { parseSigner } from '../../../kernel/signer-id.js';
import type { AccessList, Receipt, Speed } from '../../chain/index.js';
import type { ReceiptView } from '../application/queries/tx-views.js';
import { isAwaited, isOwn, type RequestedAuthorization } from '../domain/authorization.js';
import { type Closing, ManagedTx, type TxKind } from '../domain/managed-tx.js';
import type { RequestedFees, StoredRequest, TxRequest } from '../domain/tx-request.js';
import type { TxState, TxSubState } from '../domain/tx-state-machine.js';

/** A receipt as JSON, stored as the API shows it: amounts are decimal strings. */
export type StoredReceipt = ReceiptView;

/** Fees that a client chose. A field is absent when it was not chosen. */
export interface StoredFees {
  readonly maxFeePerGas?: string;
  readonly maxPriorityFeePerGas?: string;
  readonly gasPrice?: string;
  readonly maxFeePerBlobGas?: string;
}

/** What a client may choose besides the payload. A field is absent when it was not chosen. */
export interface StoredOptions extends StoredFees {
  readonly gasLimit?: string;
  readonly accessList?: readonly { readonly address: string; readonly storageKeys: readonly string[] }[];
  readonly blobHashes?: readonly string[];
  readonly authorizationList?: readonly StoredAuthorization[];
  readonly speed: Speed;
  /** Id of a webhook endpoint. The reader of the event log reads it, too. */
  readonly callback?: string;
}

export interface StoredAuthorization {
  readonly chainId: string;
  readonly address: string;
  /** The signer of the transaction signs it. */
  readonly signer?: string;
  /** Another signer signs it, or has signed it. Without both, the client has signed. */
  readonly authority?: string;
  readonly nonce?: string;
  readonly yParity?: 0 | 1;
  readonly r?: string;
  readonly s?: string;
}

export const PROGRESS_COLUMNS = `t.tx_id, t.chain_id, t.signer, t.state, t.sub_state, t.nonce, t.gas_limit, t.tx_hash, t.receipt, t.failure_reason, t.kind, t.closing, t.replaces, t.replaced_by, t.tries, t.last_error, t.version`;
/** Without metadata, because no lane needs it. */
export const REQUEST_COLUMNS = `t.request_id, t.request_hash, t.to_address, t.value, t.data, t.options, t.priority, t.confirmations, t.expires_at`;

export interface ProgressRow {
  tx_id: string;
  chain_id: string;
  signer: string;
  state: TxState;
  sub_state: TxSubState | null;
  nonce: string | null;
  gas_limit: string | null;
  tx_hash: string | null;
  receipt: StoredReceipt | null;
  failure_reason: string | null;
  kind: TxKind;
  closing: Closing | null;
  replaces: string | null;
  replaced_by: string | null;
  tries: number;
  last_error: string | null;
  version: number;
}

export interface RequestRow extends ProgressRow {
  request_id: string;
  request_hash: string;
  to_address: string | null;
  value: string;
  data: Buffer;
  options: StoredOptions;
  priority: number;
  confirmations: number | null;
  expires_at: Date | null;
}

export function toManagedTx(row: ProgressRow): ManagedTx {
  return ManagedTx.rehydrate({
    txId: row.tx_id,
    signer: parseSigner(row.chain_id, row.signer),
    state: row.state,
    subState: row.sub_state,
    nonce: row.nonce === null ? null : BigInt(row.nonce),
    gasLimit: row.gas_limit === null ? null : BigInt(row.gas_limit),
    txHash: row.tx_hash === null ? null : parseHash(row.tx_hash),
    receipt: row.receipt === null ? null : toReceipt(row.receipt),
    failureReason: row.failure_reason,
    kind: row.kind,
    closing: closingOf(row),
    replaces: row.replaces,
    replacedBy: row.replaced_by,
    tries: row.tries,
    lastError: row.last_error,
    version: row.version,
  });
}

/**
 * The previous version of Lockstep, which may still run beside this one, stores only the reason of a slot that it closes and of a no-op that
 * was mined, and leaves `closing` as it was. So for a live tx the reason decides, and `closing` adds the details.
 */
function closingOf(row: ProgressRow): Closing | null {
  const { state, failure_reason } = row;
  const closing = row.closing ?? closingBefore(row);
  if (state === 'PENDING' || state === 'ALLOCATED') return null;
  if (state === 'IN_MEMPOOL') return failure_reason === null ? null : closing && { ...closing, won: false };
  return state === 'MINED' ? closing && { ...closing, won: failure_reason !== null } : closing;
}

function closingBefore({ state, receipt, failure_reason }: ProgressRow): Closing | null {
  if (failure_reason === null) return null;
  // A tx that failed although its receipt says success: its no-op was mined. A deep reorg may open that slot again.
  const won = state === 'MINED' || (state === 'FAILED' && receipt?.status === 'success');
  return won || state === 'IN_MEMPOOL' ? { as: 'FAILED', reason: failure_reason, won } : null;
}

export function toRequest(row: RequestRow): StoredRequest {
  const { options } = row;
  return {
    signer: parseSigner(row.chain_id, row.signer),
    requestId: row.request_id,
    requestHash: parseHash(row.request_hash),
    payload: {
      to: row.to_address === null ? null : parseAddress(row.to_address),
      value: BigInt(row.value),
      data: parseHex(`0x${row.data.toString('hex')}`),
      gasLimit: amount(options.gasLimit),
      accessList: toAccessList(options.accessList),
      ...(options.blobHashes && { blobHashes: options.blobHashes.map(parseHash) }),
      ...(options.authorizationList && { authorizationList: options.authorizationList.map(toAuthorization) }),
    },
    fees: fromStoredFees(options),
    speed: options.speed,
    priority: row.priority,
    confirmations: row.confirmations,
    expiresAt: row.expires_at,
    ...(options.callback === undefined ? {} : { callback: options.callback }),
  };
}

export function toStoredOptions({
  payload,
  fees,
  speed,
  callback,
}: Pick<TxRequest, 'payload' | 'fees' | 'speed' | 'callback'>): StoredOptions {
  return {
    ...(payload.gasLimit === null ? {} : { gasLimit: payload.gasLimit.toString() }),
    ...(payload.accessList.length === 0 ? {} : { accessList: payload.accessList }),
    ...(payload.blobHashes && { blobHashes: payload.blobHashes }),
    ...(payload.authorizationList && { authorizationList: payload.authorizationList.map(toStoredAuthorization) }),
    ...toStoredFees(fees),
    speed,
    ...(callback === undefined ? {} : { callback }),
  };
}

export function toStoredFees(fees: RequestedFees): StoredFees {
  return {
    ...(fees.maxFeePerGas === null ? {} : { maxFeePerGas: fees.maxFeePerGas.toString() }),
    ...(fees.maxPriorityFeePerGas === null ? {} : { maxPriorityFeePerGas: fees.maxPriorityFeePerGas.toString() }),
    ...(fees.gasPrice === null ? {} : { gasPrice: fees.gasPrice.toString() }),
    ...(fees.maxFeePerBlobGas === null ? {} : { maxFeePerBlobGas: fees.maxFeePerBlobGas.toString() }),
  };
}

export function fromStoredFees(stored: StoredFees): RequestedFees {
  return {
    maxFeePerGas: amount(stored.maxFeePerGas),
    maxPriorityFeePerGas: amount(stored.maxPriorityFeePerGas),
    gasPrice: amount(stored.gasPrice),
    maxFeePerBlobGas: amount(stored.maxFeePerBlobGas),
  };
}

export function toStoredAuthorization(authorization: RequestedAuthorization): StoredAuthorization {
  const { address } = authorization;
  const chainId = authorization.chainId.toString();
  if (isOwn(authorization)) return { chainId, address, signer: authorization.signer };
  if (isAwaited(authorization)) return { chainId, address, authority: authorization.authority };
  const { authority, nonce, yParity, r, s } = authorization;
  return { chainId, address, ...(authority && { authority }), nonce: nonce.toString(), yParity, r, s };
}

function toAuthorization(stored: StoredAuthorization): RequestedAuthorization {
  const target = { chainId: BigInt(stored.chainId), address: parseAddress(stored.address) };
  if (stored.signer !== undefined) return { ...target, signer: parseAddress(stored.signer) };
  const { authority, nonce = '0', yParity = 0, r, s = '0x' } = stored;
  const signature = { nonce: BigInt(nonce), yParity, r: parseHex(r ?? '0x'), s: parseHex(s) };
  if (authority === undefined) return { ...target, ...signature };
  return { ...target, authority: parseAddress(authority), ...(r !== undefined && signature) };
}

export function toStoredReceipt(receipt: Receipt): StoredReceipt {
  return { ...receipt, gasUsed: receipt.gasUsed.toString(), effectiveGasPrice: receipt.effectiveGasPrice.toString() };
}

function toReceipt(stored: StoredReceipt): Receipt {
  return {
    ...stored,
    txHash: parseHash(stored.txHash),
    blockHash: parseHash(stored.blockHash),
    gasUsed: BigInt(stored.gasUsed),
    effectiveGasPrice: BigInt(stored.effectiveGasPrice),
    contractAddress: stored.contractAddress === null ? null : parseAddress(stored.contractAddress),
  };
}

function toAccessList(stored: StoredOptions['accessList'] = []): AccessList {
  return stored.map(({ address, storageKeys }) => ({
    address: parseAddress(address),
    storageKeys: storageKeys.map(parseHex),
  }));
}

function amount(text: string | undefined): bigint | null {
  return text === undefined ? null : BigInt(text);
}
