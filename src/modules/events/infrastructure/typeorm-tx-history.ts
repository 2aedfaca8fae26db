import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { MoreThan, Repository } from 'typeorm';
import { translated } from '../../../platform/database/database-errors.js';
import { READS } from '../../../platform/database/pools.js';
import { type HistoryEntry, type HistoryPage, MAX_HISTORY_PAGE, TxHistory } from '../application/tx-history.js';
import { TxEventEntity } from './tx-event.entity.js';

/** `seq` begins with 1. */
const FIRST_PAGE: HistoryPage = { after: '0', limit: MAX_HISTORY_PAGE };

@Injectable()
export class TypeormTxHistory extends TxHistory {
  constructor(@InjectRepository(TxEventEntity, READS) private readonly events: Repository<TxEventEntity>) {
    super();
  }

  async of(txId: string, { after, limit } = FIRST_PAGE): Promise<HistoryEntry[]> {
    const rows = await translated(
      this.events.find({ where: { txId, seq: MoreThan(after) }, order: { seq: 'ASC' }, take: limit }),
    );
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
