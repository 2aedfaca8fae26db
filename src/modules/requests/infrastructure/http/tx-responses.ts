import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { NODE_ERROR_CLASSES } from '../../../../kernel/node-error-class.js';
import { ApiJsonInteger } from '../../../../platform/http/json-integer.js';
import { SPEEDS } from '../../../chain/index.js';
import {
  ATTEMPT_STATUSES,
  PERMIT_KINDS,
  type PermitKind,
  TX_KINDS,
  TX_STATES,
  TX_SUB_STATES,
  type TxState,
  type TxSubState,
  type TxView,
} from '../../../ledger/index.js';

const TX_ID = '019aa2f4-7a1c-7c3e-9a52-3f4d5e6f7a8b';
const HASH = `0x${'ab'.repeat(32)}`;
const SIGNER = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266';
const TIME = '2026-11-21T08:00:00.000Z';

export class AcceptedTxDto {
  @ApiProperty({ example: TX_ID }) txId!: string;
  @ApiProperty({ example: 31337 }) chainId!: number;
  @ApiProperty({ example: SIGNER }) signer!: string;
  @ApiProperty({ example: 'invoice-4711' }) requestId!: string;
  @ApiProperty({ enum: TX_STATES, enumName: 'TxState', example: 'PENDING' }) state!: TxState;
  @ApiJsonInteger({ nullable: true, example: null })
  nonce!: number | string | null;
  @ApiProperty({ type: String, nullable: true, example: null }) txHash!: string | null;
  @ApiProperty({
    type: String,
    nullable: true,
    example: null,
    description: 'Address of the contract that it creates, as soon as its nonce is known; null otherwise',
  })
  contractAddress!: string | null;
}

export class AccessListEntryViewDto {
  @ApiProperty({ example: SIGNER }) address!: string;
  @ApiProperty({ type: [String], example: [HASH] }) storageKeys!: readonly string[];
}

export class AuthorizationViewDto {
  @ApiProperty({ example: '31337' }) chainId!: string;
  @ApiProperty({ example: SIGNER }) address!: string;
  @ApiPropertyOptional({
    example: SIGNER,
    description: 'Lockstep signs it with the key of this signer. Without a nonce it is not signed yet',
  })
  signer?: string;
  @ApiPropertyOptional({ example: '0' }) nonce?: string;
  @ApiPropertyOptional({ example: 0 }) yParity?: number;
  @ApiPropertyOptional({ example: HASH }) r?: string;
  @ApiPropertyOptional({ example: HASH }) s?: string;
}

export class PermitViewDto {
  @ApiProperty({ enum: PERMIT_KINDS, enumName: 'PermitKind', example: 'eip2612' }) kind!: PermitKind;
  @ApiProperty({ example: '0x5fbdb2315678afecb367f032d93f642f64180aa3' }) contract!: string;
  @ApiProperty({ example: SIGNER }) owner!: string;
  @ApiProperty({ type: 'integer', example: 3_600, description: 'Seconds from its signature until its deadline' })
  ttl!: number;
  @ApiProperty({
    type: String,
    nullable: true,
    example: '0',
    description: 'Of the owner at the contract. Null until the permit is signed',
  })
  permitNonce!: string | null;
  @ApiProperty({ type: String, nullable: true, example: TIME }) deadline!: string | null;
}

export class TxPayloadDto {
  @ApiProperty({ type: String, nullable: true, example: '0x70997970c51812dc3a010c7d01b50e0d17dc79c8' }) to!:
    | string
    | null;
  @ApiProperty({ example: '1000000000000000' }) value!: string;
  @ApiProperty({ example: '0x', description: 'With zeros where parts of permits come' }) data!: string;
  @ApiProperty({ type: String, nullable: true, example: null }) gasLimit!: string | null;
  @ApiProperty({ type: [AccessListEntryViewDto], example: [] }) accessList!: readonly AccessListEntryViewDto[];
  @ApiProperty({ type: [String], example: [], description: 'Versioned hashes of the blobs' }) blobs!: readonly string[];
  @ApiProperty({ type: [AuthorizationViewDto], example: [] }) authorizationList!: readonly AuthorizationViewDto[];
  @ApiProperty({ type: [PermitViewDto], example: [] }) permits!: readonly PermitViewDto[];
}

const NOT_TOLD = 'Null when the RPC endpoint does not tell it';

export class ReceiptDto {
  @ApiProperty({ example: HASH }) txHash!: string;
  @ApiProperty({ example: 1234 }) blockNumber!: number;
  @ApiProperty({ example: HASH }) blockHash!: string;
  @ApiProperty({ type: Number, nullable: true, example: 0, description: NOT_TOLD }) transactionIndex!: number | null;
  @ApiProperty({ enum: ['success', 'reverted'], enumName: 'ReceiptStatus', example: 'success' }) status!:
    | 'success'
    | 'reverted';
  @ApiProperty({ type: String, nullable: true, example: '21000', description: NOT_TOLD }) gasUsed!: string | null;
  @ApiProperty({ type: String, nullable: true, example: '1000000007', description: NOT_TOLD })
  effectiveGasPrice!: string | null;
  @ApiProperty({ type: String, nullable: true, example: null }) contractAddress!: string | null;
}

export class TxDto {
  @ApiProperty({ example: TX_ID }) txId!: string;
  @ApiProperty({
    enum: TX_KINDS,
    enumName: 'TxKind',
    example: 'payload',
    description:
      '`fill`: a no-op that Lockstep sent to fill a nonce gap. `hold`: a nonce of an outside sender, whose payload Lockstep does not know',
  })
  kind!: TxView['kind'];
  @ApiProperty({ example: 31337 }) chainId!: number;
  @ApiProperty({ example: SIGNER }) signer!: string;
  @ApiProperty({ example: 'invoice-4711' }) requestId!: string;
  @ApiProperty({ enum: TX_STATES, enumName: 'TxState', example: 'CONFIRMED' }) state!: TxState;
  @ApiProperty({
    enum: TX_SUB_STATES,
    enumName: 'TxSubState',
    nullable: true,
    example: null,
    description: 'Why the transaction makes no progress; null when it does',
  })
  subState!: TxSubState | null;
  @ApiProperty({
    type: String,
    nullable: true,
    example: null,
    description: 'The error of the last try; null if it succeeded',
  })
  lastError!: string | null;
  @ApiJsonInteger({ nullable: true, example: 7 })
  nonce!: number | string | null;
  @ApiProperty({
    type: String,
    nullable: true,
    example: HASH,
    description: 'Hash of the current attempt, or of the one that was mined',
  })
  txHash!: string | null;
  @ApiProperty({
    type: String,
    nullable: true,
    example: null,
    description: 'The transaction that it competes, or competed, with for its nonce; null unless it is a replacement',
  })
  replaces!: string | null;
  @ApiProperty({
    type: String,
    nullable: true,
    example: null,
    description: 'The replacement that competes for its nonce, or took it',
  })
  replacedBy!: string | null;
  @ApiProperty({ type: TxPayloadDto }) payload!: TxPayloadDto;
  @ApiProperty({
    type: String,
    nullable: true,
    example: null,
    description: 'Address of the contract that it creates, as soon as its nonce is known; null otherwise',
  })
  contractAddress!: string | null;
  @ApiProperty({ enum: SPEEDS, enumName: 'Speed', example: 'standard' }) speed!: string;
  @ApiProperty({ example: 0 }) priority!: number;
  @ApiProperty({
    type: Number,
    nullable: true,
    example: null,
    description: 'The number in the request; null when only the rule of the chain applies',
  })
  confirmations!: number | null;
  @ApiProperty({ type: String, nullable: true, example: null }) expiresAt!: string | null;
  @ApiProperty({ type: 'object', additionalProperties: true, nullable: true, example: { order: '4711' } })
  metadata!: Record<string, unknown> | null;
  @ApiProperty({ type: String, nullable: true, description: 'The webhook endpoint that the request names' })
  callback!: string | null;
  @ApiProperty({ type: String, nullable: true, example: '26250' }) gasLimit!: string | null;
  @ApiProperty({ type: ReceiptDto, nullable: true }) receipt!: ReceiptDto | null;
  @ApiProperty({ type: String, nullable: true, example: null }) failureReason!: string | null;
  @ApiProperty({ type: String, nullable: true, example: TIME }) lastSubmitAt!: string | null;
  @ApiProperty({ type: String, nullable: true, example: null }) nextResubmitAt!: string | null;
  @ApiProperty({ type: String, nullable: true, example: TIME }) confirmedAt!: string | null;
  @ApiProperty({ example: TIME }) createdAt!: string;
  @ApiProperty({ example: TIME }) updatedAt!: string;
}

export class TxPageDto {
  @ApiProperty({ type: [TxDto] }) items!: TxDto[];
  @ApiProperty({
    type: String,
    nullable: true,
    example: null,
    description: 'Pass it as `cursor` to get the next page; null on the last page',
  })
  nextCursor!: string | null;
}

export class AttemptDto {
  @ApiProperty({ example: HASH }) txHash!: string;
  @ApiJsonInteger({ example: 7 }) nonce!: number | string;
  @ApiProperty({ enum: ['payload', 'cancel', 'fill'], enumName: 'AttemptKind', example: 'payload' }) kind!: string;
  @ApiProperty({ enum: ATTEMPT_STATUSES, enumName: 'AttemptStatus', example: 'MINED' })
  status!: string;
  @ApiProperty({ minimum: 0, maximum: 4, example: 2, description: 'EIP-2718' }) type!: number;
  @ApiProperty({ example: '26250' }) gasLimit!: string;
  @ApiProperty({
    type: String,
    nullable: true,
    example: null,
    description: 'Of the types 0 and 1, which have one price',
  })
  gasPrice!: string | null;
  @ApiProperty({ type: String, nullable: true, example: '3000000000' }) maxFeePerGas!: string | null;
  @ApiProperty({ type: String, nullable: true, example: '1000000000' }) maxPriorityFeePerGas!: string | null;
  @ApiProperty({ type: String, nullable: true, example: null, description: 'Of type 3' })
  maxFeePerBlobGas!: string | null;
  @ApiProperty({ enum: NODE_ERROR_CLASSES, enumName: 'NodeErrorClass', nullable: true, example: null }) errorClass!:
    | string
    | null;
  @ApiProperty({ type: String, nullable: true, example: null }) lastError!: string | null;
  @ApiProperty({ example: TIME }) createdAt!: string;
  @ApiProperty({ type: String, nullable: true, example: TIME }) lastSentAt!: string | null;
}

export class AttemptListDto {
  @ApiProperty({ type: [AttemptDto] }) items!: AttemptDto[];
  @ApiProperty({ type: String, nullable: true, example: null }) nextCursor!: null;
}

export class HistoryEntryDto {
  @ApiProperty({ example: '42' }) seq!: string;
  @ApiProperty({ example: TIME }) time!: string;
  @ApiProperty({ example: 'mined' }) reason!: string;
  @ApiProperty({ enum: TX_STATES, enumName: 'TxState', nullable: true, example: 'IN_MEMPOOL' }) fromState!:
    | string
    | null;
  @ApiProperty({ enum: TX_STATES, enumName: 'TxState', example: 'MINED' }) toState!: string;
  @ApiProperty({ example: 'pod-1-3f9a1c' }) nodeId!: string;
  @ApiProperty({
    type: String,
    nullable: true,
    example: 'key:019aa2f4-7a1c-7c3e-9a52-3f4d5e6f7a8b',
    description: 'Whose request it was; null for what Lockstep did by itself',
  })
  actor!: string | null;
  @ApiProperty({ type: String, nullable: true, example: '1' }) fencingToken!: string | null;
  @ApiProperty({ type: String, nullable: true, example: HASH }) txHash!: string | null;
  @ApiProperty({ type: Number, nullable: true, example: 1234 }) blockNumber!: number | null;
  @ApiProperty({ type: String, nullable: true, example: HASH }) blockHash!: string | null;
  @ApiProperty({ type: String, nullable: true, example: null }) error!: string | null;
  @ApiProperty({ type: 'object', additionalProperties: true, nullable: true, example: { status: 'success' } })
  detail!: Record<string, unknown> | null;
}

export class HistoryDto {
  @ApiProperty({ type: [HistoryEntryDto] }) items!: HistoryEntryDto[];
  @ApiProperty({ type: String, nullable: true, example: null }) nextCursor!: string | null;
}
