import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Column, Entity, MoreThan, PrimaryColumn, Repository } from 'typeorm';
import { translated } from '../../../platform/database/database-errors.js';
import { READS } from '../../../platform/database/pools.js';
import { type HistoryEntry, type HistoryPage, MAX_HISTORY_PAGE, TxHistory } from '../application/tx-history.js';

/** Only for reads: {@link PgEventLog} alone writes the rows. BIGINT columns arrive as strings. */
@Entity('tx_event')
export class TxEventEntity {
  @PrimaryColumn({ type: 'bigint' }) seq!: string;
  @Column({ name: 'tx_id', type: 'uuid' }) txId!: string;
  @Column({ type: 'text' }) reason!: string;
  @Column({ name: 'from_state', type: 'text', nullable: true }) fromState!: string | null;
  @Column({ name: 'to_state', type: 'text' }) toState!: string;
  @Column({ name: 'node_id', type: 'text' }) nodeId!: string;
  @Column({ type: 'text', nullable: true }) actor!: string | null;
  @Column({ name: 'fencing_token', type: 'bigint', nullable: true }) fencingToken!: string | null;
  @Column({ name: 'tx_hash', type: 'text', nullable: true }) txHash!: string | null;
  @Column({ name: 'block_number', type: 'bigint', nullable: true }) blockNumber!: string | null;
  @Column({ name: 'block_hash', type: 'text', nullable: true }) blockHash!: string | null;
  @Column({ type: 'text', nullable: true }) error!: string | null;
  @Column({ type: 'jsonb', nullable: true }) detail!: Record<string, unknown> | null;
  @Column({ name: 'created_at', type: 'timestamptz' }) createdAt!: Date;
}

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
  const { seq, reason, fromState, toState, nodeId, actor, fencingToken, txHash, blockHash, error, detail } = row;
  return {
    seq,
    time: row.createdAt.toISOString(),
    reason,
    fromState,
    toState,
    nodeId,
    actor,
    fencingToken,
    txHash,
    blockNumber: row.blockNumber === null ? null : Number(row.blockNumber),
    blockHash,
    error,
    detail,
  };
}
