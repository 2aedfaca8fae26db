import { Injectable } from '@nestjs/common';
import { Conflict } from '../../../kernel/errors.js';
import { parseHash } from '../../../kernel/hex.js';
import { NodeIdentity } from '../../../kernel/node-identity.js';
import { type ChainId, parseSigner, type SignerId } from '../../../kernel/signer-id.js';
import type { Tx } from '../../../kernel/unit-of-work.js';
import { Database } from '../../../platform/database/database.js';
import { PgTx, type SqlValue } from '../../../platform/database/pg-tx.js';
import {
  BlobRepository,
  fromStoredFees,
  type ManagedTx,
  type ProgressRow,
  type StoredFees,
  toManagedTx,
  toStoredFees,
  toStoredOptions,
  type TxRequest,
} from '../../transactions/index.js';
import { CommandStore } from '../domain/command-store.js';
import type { CommandKind, CommandStatus, Decision, TxCommand } from '../domain/tx-command.js';
import * as sql from './command.statements.js';

interface CommandRow {
  command_id: string;
  chain_id: string;
  signer: string;
  tx_id: string;
  kind: CommandKind;
  request_id: string;
  request_hash: string;
  options: { readonly fees?: StoredFees };
  replacement: string | null;
  status: CommandStatus;
  refusal: string | null;
}

@Injectable()
export class PgCommandStore extends CommandStore {
  constructor(
    private readonly database: Database,
    private readonly node: NodeIdentity,
    private readonly blobs: BlobRepository,
  ) {
    super();
  }

  async lock(tx: Tx, txId: string): Promise<ManagedTx | null> {
    const { rows } = await PgTx.of(tx).query<ProgressRow>(sql.LOCK, [txId]);
    return rows[0] ? toManagedTx(rows[0]) : null;
  }

  async find(tx: Tx, { chainId, address }: SignerId, requestId: string): Promise<TxCommand | null> {
    const { rows } = await PgTx.of(tx).query<CommandRow>(sql.FIND, [chainId, address, requestId]);
    return rows[0] ? toCommand(rows[0]) : null;
  }

  async hasQueuedReplace(tx: Tx, txId: string): Promise<boolean> {
    const { rowCount } = await PgTx.of(tx).query(sql.QUEUED_REPLACE, [txId]);
    return rowCount === 1;
  }

  async hasBlobs(tx: Tx, txId: string): Promise<boolean> {
    const { rowCount } = await PgTx.of(tx).query(sql.HAS_BLOBS, [txId]);
    return rowCount === 1;
  }

  async insert(tx: Tx, command: TxCommand): Promise<void> {
    const { commandId, signer, txId, kind, requestId, requestHash, fees, replacement, status } = command;
    const { rowCount } = await PgTx.of(tx).query(sql.INSERT, [
      commandId,
      signer.chainId,
      signer.address,
      txId,
      kind,
      requestId,
      requestHash,
      JSON.stringify(fees === null ? {} : { fees: toStoredFees(fees) }),
      replacement,
      status,
    ]);
    if (rowCount !== 1) throw takenKey(requestId);
  }

  async savePending(tx: Tx, { id, state, progress }: ManagedTx, request: TxRequest | null): Promise<void> {
    if (request !== null) {
      await PgTx.of(tx).query(sql.EDIT_REQUEST, [
        id,
        request.payload.to,
        request.payload.value,
        request.payload.data,
        JSON.stringify(toStoredOptions(request)),
        ...agreedOnce(request),
      ]);
      await this.blobs.replace(tx, id, request.sidecar);
    }
    await PgTx.of(tx).query(sql.SAVE_PENDING, [id, state, progress.subState, progress.failureReason]);
  }

  async insertReplacement(tx: Tx, txId: string, request: TxRequest, replaces: string): Promise<void> {
    const { signer, requestId, requestHash, payload, priority } = request;
    const { rowCount } = await PgTx.of(tx).query(sql.INSERT_REPLACEMENT, [
      txId,
      signer.chainId,
      signer.address,
      requestId,
      requestHash,
      payload.to,
      payload.value,
      payload.data,
      JSON.stringify(toStoredOptions(request)),
      priority,
      ...agreedOnce(request),
      replaces,
      this.node.id,
    ]);
    if (rowCount !== 1) throw takenKey(requestId);
    if (request.sidecar) await this.blobs.replace(tx, txId, request.sidecar);
  }

  async queued(chainId: ChainId, signers: readonly SignerId[], limit: number): Promise<TxCommand[]> {
    const addresses = signers.map(({ address }) => address);
    const { rows } = await this.database.query<CommandRow>(sql.QUEUED, [chainId, addresses, limit]);
    return rows.map(toCommand);
  }

  async isQueued(commandId: string): Promise<boolean> {
    const { rowCount } = await this.database.query(sql.IS_QUEUED, [commandId]);
    return rowCount === 1;
  }

  async decide(decisions: readonly Decision[], tx?: Tx): Promise<void> {
    const connection = tx ? PgTx.of(tx) : this.database;
    await connection.query(sql.DECIDE, [
      decisions.map(({ commandId }) => commandId),
      decisions.map(({ refusal }) => refusal),
    ]);
  }

  async ofTx(txId: string): Promise<TxCommand[]> {
    const { rows } = await this.database.query<CommandRow>(sql.OF_TX, [txId]);
    return rows.map(toCommand);
  }

  async hasExpired(txId: string): Promise<boolean> {
    const { rowCount } = await this.database.query(sql.HAS_EXPIRED, [txId]);
    return rowCount === 1;
  }

  async expired(chainId: ChainId, signers: readonly SignerId[], limit: number): Promise<ManagedTx[]> {
    const addresses = signers.map(({ address }) => address);
    const { rows } = await this.database.query<ProgressRow>(sql.EXPIRED, [chainId, addresses, limit]);
    return rows.map(toManagedTx);
  }
}

function agreedOnce({ confirmations, expiresAt, metadata }: TxRequest): SqlValue[] {
  return [confirmations, expiresAt, metadata === null ? null : JSON.stringify(metadata)];
}

function takenKey(requestId: string): Conflict {
  return new Conflict(
    'idempotency_conflict',
    'this requestId was used for a different request',
    'use a new requestId, or send the first body unchanged',
    { requestId },
  );
}

function toCommand(row: CommandRow): TxCommand {
  const { fees } = row.options;
  return {
    commandId: row.command_id,
    signer: parseSigner(row.chain_id, row.signer),
    txId: row.tx_id,
    kind: row.kind,
    requestId: row.request_id,
    requestHash: parseHash(row.request_hash),
    fees: fees === undefined ? null : fromStoredFees(fees),
    replacement: row.replacement,
    status: row.status,
    refusal: row.refusal,
  };
}
