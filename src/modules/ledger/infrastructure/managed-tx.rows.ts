import { parseAddress, parseHash, parseHex } from '../../../kernel/hex.js';
import { toDecimals } from '../../../kernel/quantities.js';
import { parseSigner } from '../../../kernel/signer-id.js';
import { PgTx, type SqlRunner, type SqlValue, type Statement } from '../../../platform/database/pg-tx.js';
import type { Fence } from '../../signers/index.js';
import type { AccessList, Receipt, Speed } from '../../chain/index.js';
import type { ReceiptView } from '../application/views/tx-views.js';
import type { RequestedAuthorization } from '../domain/authorization.js';
import { type Closing, ManagedTx, type TxKind } from '../domain/managed-tx.js';
import type { RequestedTx } from '../domain/managed-tx.repository.js';
import { type MadePermit, type RequestedPermit, withPermits } from '../domain/permit.js';
import type { RequestedFees, StoredRequest, TxRequest } from '../domain/tx-request.js';
import type { TxState, TxSubState } from '../domain/tx-state-machine.js';

/** A receipt as JSON, stored as the API shows it: amounts are decimal strings. */
export type StoredReceipt = ReceiptView;

/** Fees that a client chose, as decimal strings. */
type StoredFees = Partial<Record<keyof RequestedFees, string>>;

/** What a client may choose besides the payload. A field is absent when it was not chosen. */
export interface StoredOptions extends StoredFees {
  readonly gasLimit?: string;
  readonly accessList?: readonly { readonly address: string; readonly storageKeys: readonly string[] }[];
  readonly blobHashes?: readonly string[];
  readonly authorizationList?: readonly StoredAuthorization[];
  readonly permits?: readonly StoredPermit[];
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

/** Its parts are not in the data of its row, which has zeros there. */
export type StoredPermit = Omit<RequestedPermit, 'contract' | 'owner' | 'made'> & {
  readonly contract: string;
  readonly owner: string;
  readonly made?: StoredMadePermit;
};

interface StoredMadePermit {
  readonly nonce: string;
  readonly deadline: string;
  readonly yParity: 0 | 1;
  readonly r: string;
  readonly s: string;
}

/*
 * PostgreSQL caches plans per connection. It makes the first ones while the tables are empty, when every index, and no index, seems equally
 * cheap. The connections of the service therefore plan only nested loops over indexes (data-source.ts), and a statement that several
 * indexes could serve asks for the order that only the right one has (docs/performance.md).
 */

/** The owner of its signer has not carried out yet that its outside sender wants a hold to last longer. */
export function wantsLonger(tx: string): string {
  return hasQueued(tx, 'extend');
}

/** With a LIMIT, because PostgreSQL would read all queued commands into a hash otherwise. */
function hasQueued(tx: string, kind: 'cancel' | 'extend'): string {
  return `((SELECT true FROM tx_command x WHERE x.tx_id = ${tx}.tx_id AND x.kind = '${kind}' AND x.status = 'QUEUED' LIMIT 1) IS NOT NULL)`;
}

/**
 * Its time has ended, or its client has cancelled it, and nothing of its slot can have left a node: nothing is sent for the first time. `CloseExpired` or the
 * command ends it.
 */
export function isOver(tx: string): string {
  return `(${tx}.state = 'ALLOCATED' AND (coalesce(${tx}.expires_at <= clock_timestamp(), false) OR ${hasQueued(tx, 'cancel')})
    AND (SELECT true FROM tx_attempt o WHERE o.chain_id = ${tx}.chain_id AND o.signer = ${tx}.signer AND o.nonce = ${tx}.nonce AND o.status <> 'UNSENT' LIMIT 1) IS NULL)`;
}

/** No bytes of tx `t` with its payload are mined: a signed authorization of it may still be used. */
export const IS_OUT = `(t.block_number IS NULL OR coalesce((t.closing -> 'won')::boolean, false))`;

export const FINAL_STATES = `('CONFIRMED', 'FAILED', 'CANCELLED', 'REPLACED', 'DROPPED')`;

export const PROGRESS_COLUMNS = `t.tx_id, t.chain_id, t.signer, t.state, t.sub_state, t.nonce, t.gas_limit, t.tx_hash, t.receipt, t.failure_reason, t.kind, t.closing, t.replaces, t.replaced_by, t.withdrawn_replacement, t.tries, t.requeues, t.last_error, t.version`;
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
  withdrawn_replacement: string | null;
  tries: number;
  requeues: number;
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
    closing: row.closing,
    replaces: row.replaces,
    replacedBy: row.replaced_by,
    withdrawnReplacement: row.withdrawn_replacement,
    tries: row.tries,
    requeues: row.requeues,
    lastError: row.last_error,
    version: row.version,
  });
}

/** Runs a statement that returns the columns of progress. */
export async function readTxs(
  database: SqlRunner,
  statement: Statement,
  values: readonly SqlValue[],
): Promise<ManagedTx[]> {
  const { rows } = await database.query<ProgressRow>(statement, values);
  return rows.map(toManagedTx);
}

export function toRequest(row: RequestRow): StoredRequest {
  const { options } = row;
  const permits = options.permits?.map(toPermit);
  return {
    signer: parseSigner(row.chain_id, row.signer),
    requestId: row.request_id,
    requestHash: parseHash(row.request_hash),
    payload: {
      to: row.to_address === null ? null : parseAddress(row.to_address),
      value: BigInt(row.value),
      data: withPermits(parseHex(`0x${row.data.toString('hex')}`), permits),
      ...(permits && { permits }),
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

/** A row with both lists of columns. */
export function toRequested(row: RequestRow): RequestedTx {
  return { tx: toManagedTx(row), request: toRequest(row) };
}

export function payloadColumns(txs: readonly { readonly txId: string; readonly request: StoredRequest }[]): SqlValue[] {
  return [
    txs.map(({ txId }) => txId),
    txs.map(({ request }) => request.signer.chainId),
    txs.map(({ request }) => request.signer.address),
    txs.map(({ request }) => request.requestId),
    txs.map(({ request }) => request.requestHash),
    txs.map(({ request }) => request.payload.to),
    txs.map(({ request }) => request.payload.value),
    txs.map(({ request }) => request.payload.data),
    txs.map(({ request }) => JSON.stringify(toStoredOptions(request))),
    txs.map(({ request }) => request.priority),
  ];
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
    ...(payload.permits && { permits: payload.permits.map(toStoredPermit) }),
    ...toDecimals(fees),
    speed,
    ...(callback === undefined ? {} : { callback }),
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
  if ('signer' in authorization) return { chainId, address, signer: authorization.signer };
  if (!('r' in authorization)) return { chainId, address, authority: authorization.authority };
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

function toStoredPermit({ made, ...asked }: RequestedPermit): StoredPermit {
  return { ...asked, ...(made && { made: toStoredMade(made) }) };
}

export function toStoredMade({ permitNonce, deadline, signature }: MadePermit): StoredMadePermit {
  return { nonce: permitNonce.toString(), deadline: deadline.toString(), ...signature };
}

export function toPermit({ contract, owner, made, ...asked }: StoredPermit): RequestedPermit {
  const parsed = { ...asked, contract: parseAddress(contract), owner: parseAddress(owner) };
  if (made === undefined) return parsed;
  const { nonce, deadline, yParity, r, s } = made;
  const signature = { yParity, r: parseHex(r), s: parseHex(s) };
  return { ...parsed, made: { permitNonce: BigInt(nonce), deadline: BigInt(deadline), signature } };
}

export function toStoredReceipt(receipt: Receipt): StoredReceipt {
  const { gasUsed, effectiveGasPrice } = receipt;
  return {
    ...receipt,
    gasUsed: gasUsed?.toString() ?? null,
    effectiveGasPrice: effectiveGasPrice?.toString() ?? null,
  };
}

function toReceipt(stored: StoredReceipt): Receipt {
  return {
    ...stored,
    txHash: parseHash(stored.txHash),
    blockHash: parseHash(stored.blockHash),
    gasUsed: stored.gasUsed === null ? null : BigInt(stored.gasUsed),
    effectiveGasPrice: stored.effectiveGasPrice === null ? null : BigInt(stored.effectiveGasPrice),
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

/** Runs a statement that locks rows. @returns ids of those that were not changed since they were read */
export async function lockTxs<Row extends object>(
  fence: Fence,
  statement: Statement,
  txs: readonly ManagedTx[],
): Promise<ReadonlyMap<string, Row>> {
  const { rows } = await PgTx.of(fence.tx).query<Row & { tx_id: string; version: number }>(statement, [
    txs.map(({ id }) => id),
  ]);
  const read = new Map(txs.map(({ id, progress }) => [id, progress.version]));
  return new Map(rows.filter((row) => row.version === read.get(row.tx_id)).map((row) => [row.tx_id, row]));
}
