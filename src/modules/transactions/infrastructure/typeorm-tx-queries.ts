import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, LessThan, Repository } from 'typeorm';
import { toJsonInteger } from '../../../kernel/quantities.js';
import { READS } from '../../../platform/database/pools.js';
import { type AttemptView, type TxFilter, TxQueries, type TxView } from '../application/tx-views.js';
import type { TxState } from '../domain/tx-state-machine.js';
import { ManagedTxEntity } from './managed-tx.entity.js';
import { TxAttemptEntity } from './tx-attempt.entity.js';

@Injectable()
export class TypeormTxQueries extends TxQueries {
  constructor(
    @InjectRepository(ManagedTxEntity, READS) private readonly txs: Repository<ManagedTxEntity>,
    @InjectRepository(TxAttemptEntity, READS) private readonly sent: Repository<TxAttemptEntity>,
  ) {
    super();
  }

  async find(txId: string): Promise<TxView | null> {
    const row = await this.txs.findOne({ where: { txId } });
    return row && toView(row);
  }

  async findByRequest(chainId: number, signer: string, requestId: string): Promise<TxView | null> {
    const row = await this.txs.findOne({ where: { chainId: String(chainId), signer, requestId } });
    return row && toView(row);
  }

  async list({ chainId, signer, state, before, limit }: TxFilter): Promise<TxView[]> {
    const rows = await this.txs.find({
      where: {
        ...(chainId === undefined ? {} : { chainId: String(chainId) }),
        ...(signer === undefined ? {} : { signer }),
        ...(state === undefined ? {} : { state }),
        ...(before === undefined ? {} : { txId: LessThan(before) }),
      },
      // Ids sort by time of creation (UUIDv7).
      order: { txId: 'DESC' },
      take: limit,
    });
    return rows.map(toView);
  }

  async attempts(txId: string): Promise<AttemptView[]> {
    const rows = await this.sent.find({ where: { txId }, order: { createdAt: 'ASC', txHash: 'ASC' } });
    return rows.map(toAttemptView);
  }

  async states(txIds: readonly string[]): Promise<ReadonlyMap<string, TxState>> {
    const rows = await this.txs.find({ select: { txId: true, state: true }, where: { txId: In([...txIds]) } });
    return new Map(rows.map(({ txId, state }) => [txId, state]));
  }
}

function toView(row: ManagedTxEntity): TxView {
  const {
    txId,
    signer,
    requestId,
    state,
    subState,
    txHash,
    priority,
    confirmations,
    metadata,
    gasLimit,
    receipt,
    failureReason,
    lastError,
    options,
  } = row;
  return {
    txId,
    chainId: Number(row.chainId),
    signer,
    requestId,
    state,
    subState,
    lastError,
    nonce: row.nonce === null ? null : toJsonInteger(BigInt(row.nonce)),
    txHash,
    payload: {
      to: row.to,
      value: row.value,
      data: `0x${row.data.toString('hex')}`,
      gasLimit: options.gasLimit ?? null,
    },
    speed: options.speed,
    priority,
    confirmations,
    expiresAt: time(row.expiresAt),
    metadata,
    gasLimit,
    receipt,
    failureReason,
    lastSubmitAt: time(row.lastSubmitAt),
    nextResubmitAt: time(row.nextResubmitAt),
    confirmedAt: time(row.confirmedAt),
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

function toAttemptView(row: TxAttemptEntity): AttemptView {
  const { txHash, kind, status, gasLimit, maxFeePerGas, maxPriorityFeePerGas, errorClass, lastError } = row;
  return {
    txHash,
    nonce: toJsonInteger(BigInt(row.nonce)),
    kind,
    status,
    gasLimit,
    maxFeePerGas,
    maxPriorityFeePerGas,
    errorClass,
    lastError,
    createdAt: row.createdAt.toISOString(),
    lastSentAt: time(row.lastSentAt),
  };
}

function time(date: Date | null): string | null {
  return date?.toISOString() ?? null;
}
