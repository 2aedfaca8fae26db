import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { translated } from '../../../platform/database/database-errors.js';
import { READS } from '../../../platform/database/pools.js';
import { type HistoryEntry, TxHistory } from '../application/tx-history.js';
import { TxEventEntity } from './tx-event.entity.js';

@Injectable()
export class TypeormTxHistory extends TxHistory {
  constructor(@InjectRepository(TxEventEntity, READS) private readonly events: Repository<TxEventEntity>) {
    super();
  }

  async of(txId: string): Promise<HistoryEntry[]> {
    const rows = await translated(this.events.find({ where: { txId }, order: { seq: 'ASC' } }));
    return rows.map(toEntry);
  }
}

function toEntry(row: TxEventEntity): HistoryEntry {
  const { seq, reason, fromState, toState, nodeId, fencingToken, txHash, blockHash, error, detail } = row;
  return {
    seq,
    time: row.createdAt.toISOString(),
    reason,
    fromState,
    toState,
    nodeId,
    fencingToken,
    txHash,
    blockNumber: row.blockNumber === null ? null : Number(row.blockNumber),
    blockHash,
    error,
    detail,
  };
}
