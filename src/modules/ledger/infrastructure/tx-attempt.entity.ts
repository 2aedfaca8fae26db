import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { AttemptKind, AttemptStatus, TxType } from '../domain/attempt.js';

/** Only for reads of the API: {@link PgAttemptRepository} alone writes the rows. */
@Entity('tx_attempt')
export class TxAttemptEntity {
  @PrimaryColumn({ name: 'chain_id', type: 'bigint' }) chainId!: string;
  @PrimaryColumn({ name: 'tx_hash', type: 'text' }) txHash!: string;
  @Column({ name: 'tx_id', type: 'uuid', nullable: true }) txId!: string | null;
  @Column({ type: 'bigint' }) nonce!: string;
  @Column({ type: 'text' }) kind!: AttemptKind;
  @Column({ name: 'gas_limit', type: 'bigint' }) gasLimit!: string;
  @Column({ name: 'max_fee_per_gas', type: 'numeric' }) maxFeePerGas!: string;
  @Column({ name: 'max_priority_fee_per_gas', type: 'numeric' }) maxPriorityFeePerGas!: string;
  @Column({ name: 'max_fee_per_blob_gas', type: 'numeric', nullable: true }) maxFeePerBlobGas!: string | null;
  @Column({ name: 'tx_type', type: 'smallint' }) type!: TxType;
  @Column({ type: 'text' }) status!: AttemptStatus;
  @Column({ name: 'error_class', type: 'text', nullable: true }) errorClass!: string | null;
  @Column({ name: 'last_error', type: 'text', nullable: true }) lastError!: string | null;
  @Column({ name: 'created_at', type: 'timestamptz' }) createdAt!: Date;
  @Column({ name: 'last_sent_at', type: 'timestamptz', nullable: true }) lastSentAt!: Date | null;
}
