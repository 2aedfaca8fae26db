import { Injectable } from '@nestjs/common';
import { Conflict } from '../../../kernel/errors.js';
import { parseHash } from '../../../kernel/hex.js';
import { toDecimals } from '../../../kernel/quantities.js';
import { type ChainId, parseSigner, type SignerId } from '../../../kernel/signer-id.js';
import type { Tx } from '../../../kernel/unit-of-work.js';
import { Database } from '../../../platform/database/database.js';
import { PgTx, type SqlValue } from '../../../platform/database/pg-tx.js';
import {
  type CommandKind,
  type CommandStatus,
  CommandStore,
  type Decision,
  feesFrom,
  type Later,
  type SameCommand,
  type TxCommand,
} from '../domain/tx-command.js';
import * as sql from './command.statements.js';

interface CommandRow {
  command_id: string;
  chain_id: string;
  signer: string;
  tx_id: string;
  kind: CommandKind;
  request_id: string;
  request_hash: string;
  options: { readonly fees?: Readonly<Record<string, string>>; readonly txHash?: string; readonly ttl?: number };
  replacement: string | null;
  status: CommandStatus;
  refusal: string | null;
  tries: number;
}

@Injectable()
export class PgCommandStore extends CommandStore {
  constructor(private readonly database: Database) {
    super();
  }

  async find({ chainId, address }: SignerId, requestId: string, account: string, tx?: Tx): Promise<TxCommand | null> {
    const connection = tx ? PgTx.of(tx) : this.database;
    const { rows } = await connection.query<CommandRow>(sql.FIND, [chainId, address, account, requestId]);
    return rows[0] ? toCommand(rows[0]) : null;
  }

  async hasQueued(txId: string, kind: CommandKind, tx?: Tx): Promise<boolean> {
    const connection = tx ? PgTx.of(tx) : this.database;
    const { rowCount } = await connection.query(sql.HAS_QUEUED, [txId, kind]);
    return rowCount === 1;
  }

  async same(
    tx: Tx,
    { txId, kind, requestHash }: SameCommand,
    statuses: readonly CommandStatus[],
    account: string,
  ): Promise<TxCommand | null> {
    const { rows } = await PgTx.of(tx).query<CommandRow>(sql.SAME, [txId, kind, statuses, requestHash, account]);
    return rows[0] ? toCommand(rows[0]) : null;
  }

  async insert(tx: Tx, command: TxCommand, account: string): Promise<void> {
    const { commandId, signer, txId, kind, requestId, requestHash, fees, txHash, ttl, replacement, status } = command;
    const { rowCount } = await PgTx.of(tx).query(sql.INSERT, [
      commandId,
      signer.chainId,
      signer.address,
      txId,
      kind,
      requestId,
      requestHash,
      JSON.stringify({
        ...(fees && { fees: toDecimals(fees) }),
        ...(txHash && { txHash }),
        ...(ttl !== null && { ttl }),
      }),
      replacement,
      status,
      account,
    ]);
    if (rowCount !== 1) throw takenKey(requestId);
  }

  async queued(chainId: ChainId, signers: readonly string[], perSigner: number): Promise<TxCommand[]> {
    const { rows } = await this.database.query<CommandRow>(sql.QUEUED, [chainId, signers, perSigner]);
    return rows.map(toCommand);
  }

  async postpone(later: readonly Later[]): Promise<void> {
    if (later.length > 0) await this.database.query(sql.POSTPONE, laterColumns(later));
  }

  async get(commandId: string): Promise<TxCommand | null> {
    const { rows } = await this.database.query<CommandRow>(sql.GET, [commandId]);
    return rows[0] ? toCommand(rows[0]) : null;
  }

  async decide(decisions: readonly Decision[], tx?: Tx): Promise<void> {
    const connection = tx ? PgTx.of(tx) : this.database;
    await connection.query(sql.DECIDE, [
      decisions.map(({ commandId }) => commandId),
      decisions.map(({ refusal }) => refusal),
    ]);
  }

  async ofTx(txId: string, afterId: string | null, limit: number): Promise<TxCommand[]> {
    const { rows } = await this.database.query<CommandRow>(sql.OF_TX, [txId, afterId, limit]);
    return rows.map(toCommand);
  }
}

function laterColumns(later: readonly Later[]): SqlValue[] {
  return [later.map(({ id }) => id), later.map(({ inMs }) => inMs)];
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
  const { fees, txHash, ttl = null } = row.options;
  return {
    commandId: row.command_id,
    signer: parseSigner(row.chain_id, row.signer),
    txId: row.tx_id,
    kind: row.kind,
    requestId: row.request_id,
    requestHash: parseHash(row.request_hash),
    fees: fees === undefined ? null : feesFrom(fees),
    txHash: txHash === undefined ? null : parseHash(txHash),
    ttl,
    replacement: row.replacement,
    status: row.status,
    refusal: row.refusal,
    tries: row.tries,
  };
}
