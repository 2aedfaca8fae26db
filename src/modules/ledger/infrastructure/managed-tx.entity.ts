import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { TxKind } from '../domain/managed-tx.js';
import type { TxState, TxSubState } from '../domain/tx-state-machine.js';
import type { StoredOptions, StoredReceipt } from './managed-tx.rows.js';

/** Only for reads of the API: the adapters write the rows. BIGINT and NUMERIC arrive as strings. */
@Entity('managed_tx')
export class ManagedTxEntity {
  @PrimaryColumn({ name: 'tx_id', type: 'uuid' }) txId!: string;
  @Column({ type: 'text' }) kind!: TxKind;
  @Column({ name: 'account_id', type: 'uuid' }) accountId!: string;
  @Column({ name: 'chain_id', type: 'bigint' }) chainId!: string;
  @Column({ type: 'text' }) signer!: string;
  @Column({ name: 'request_id', type: 'text' }) requestId!: string;
  @Column({ name: 'to_address', type: 'text', nullable: true }) to!: string | null;
  @Column({ type: 'numeric' }) value!: string;
  @Column({ type: 'bytea' }) data!: Buffer;
  @Column({ type: 'jsonb' }) options!: StoredOptions;
  @Column({ type: 'int' }) priority!: number;
  @Column({ type: 'int', nullable: true }) confirmations!: number | null;
  @Column({ name: 'expires_at', type: 'timestamptz', nullable: true }) expiresAt!: Date | null;
  @Column({ type: 'jsonb', nullable: true }) metadata!: Record<string, unknown> | null;
  @Column({ type: 'text' }) state!: TxState;
  @Column({ name: 'sub_state', type: 'text', nullable: true }) subState!: TxSubState | null;
  @Column({ name: 'last_error', type: 'text', nullable: true }) lastError!: string | null;
  @Column({ type: 'bigint', nullable: true }) nonce!: string | null;
  @Column({ name: 'gas_limit', type: 'bigint', nullable: true }) gasLimit!: string | null;
  @Column({ name: 'tx_hash', type: 'text', nullable: true }) txHash!: string | null;
  @Column({ type: 'uuid', nullable: true }) replaces!: string | null;
  @Column({ name: 'replaced_by', type: 'uuid', nullable: true }) replacedBy!: string | null;
  @Column({ name: 'last_submit_at', type: 'timestamptz', nullable: true }) lastSubmitAt!: Date | null;
  @Column({ name: 'next_resubmit_at', type: 'timestamptz', nullable: true }) nextResubmitAt!: Date | number | null;
  @Column({ type: 'jsonb', nullable: true }) receipt!: StoredReceipt | null;
  @Column({ name: 'block_number', type: 'bigint', nullable: true }) blockNumber!: string | null;
  @Column({ name: 'block_hash', type: 'text', nullable: true }) blockHash!: string | null;
  @Column({ name: 'confirmed_at', type: 'timestamptz', nullable: true }) confirmedAt!: Date | null;
  @Column({ name: 'failure_reason', type: 'text', nullable: true }) failureReason!: string | null;
  @Column({ name: 'created_at', type: 'timestamptz' }) createdAt!: Date;
  @Column({ name: 'updated_at', type: 'timestamptz' }) updatedAt!: Date;
}
