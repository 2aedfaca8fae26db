import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Only for reads: {@link PgEventLog} alone writes the rows. BIGINT columns arrive as strings. */
@Entity('tx_event')
export class TxEventEntity {
  @PrimaryColumn({ type: 'bigint' }) seq!: string;
  @Column({ name: 'tx_id', type: 'uuid' }) txId!: string;
  @Column({ type: 'text' }) reason!: string;
  @Column({ name: 'from_state', type: 'text', nullable: true }) fromState!: string | null;
  @Column({ name: 'to_state', type: 'text' }) toState!: string;
  @Column({ name: 'node_id', type: 'text' }) nodeId!: string;
  @Column({ name: 'fencing_token', type: 'bigint', nullable: true }) fencingToken!: string | null;
  @Column({ name: 'tx_hash', type: 'text', nullable: true }) txHash!: string | null;
  @Column({ name: 'block_number', type: 'bigint', nullable: true }) blockNumber!: string | null;
  @Column({ name: 'block_hash', type: 'text', nullable: true }) blockHash!: string | null;
  @Column({ type: 'text', nullable: true }) error!: string | null;
  @Column({ type: 'jsonb', nullable: true }) detail!: Record<string, unknown> | null;
  @Column({ name: 'created_at', type: 'timestamptz' }) createdAt!: Date;
}
