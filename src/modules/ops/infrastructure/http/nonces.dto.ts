import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsOptional } from 'class-validator';
import { ApiJsonInteger } from '../../../../platform/http/json-integer.js';
import { PageQueryDto } from '../../../../platform/http/page-query.dto.js';
import { ATTEMPT_STATUSES, TX_STATES } from '../../../ledger/index.js';
import { NONCE_USES, SLOT_STATUSES, type SlotStatus, type SlotUse } from '../../application/slot-queries.js';

const TX_ID = '019aa2f4-7a1c-7c3e-9a52-3f4d5e6f7a8b';
const HASH = `0x${'ab'.repeat(32)}`;
const TIME = '2026-11-21T08:00:00.000Z';

export class NoncesQueryDto extends PageQueryDto {
  @ApiPropertyOptional({ enum: SLOT_STATUSES, enumName: 'NonceStatus' })
  @IsOptional()
  @IsIn(SLOT_STATUSES)
  status?: SlotStatus;
}

class ChainNoncesDto {
  @ApiJsonInteger({ example: 7, description: 'The next nonce by the newest block' }) latest!: number | string;
  @ApiJsonInteger({ example: 9, description: 'The same with what is in the pool of the endpoint' })
  pending!: number | string;
}

class MissingNoncesDto {
  @ApiJsonInteger({ example: 7 }) from!: number | string;
  @ApiProperty({ example: 2 }) count!: number;
}

class SequenceDto {
  @ApiProperty({ example: 31337 }) chainId!: number;
  @ApiProperty({ example: '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266' }) address!: string;
  @ApiJsonInteger({ nullable: true, example: 9, description: 'The next new nonce. Null before the first one' })
  cursor!: number | string | null;
  @ApiProperty({
    type: ChainNoncesDto,
    nullable: true,
    description: 'What one endpoint of the chain says; null when none answers within 2 s',
  })
  chain!: ChainNoncesDto | null;
  @ApiProperty({
    type: MissingNoncesDto,
    nullable: true,
    example: null,
    description:
      'Nonces that the chain waits for, and that Lockstep never gave out. They are freed in time; `sync` does it at once',
  })
  missing!: MissingNoncesDto | null;
}

export class NonceDto {
  @ApiJsonInteger({ example: 7 }) nonce!: number | string;
  @ApiProperty({
    enum: SLOT_STATUSES,
    enumName: 'NonceStatus',
    example: 'HELD',
    description: '`HELD`: given out. `CONSUMED`: used in a final block. `RELEASED`: given back unused',
  })
  status!: SlotStatus;
  @ApiProperty({
    enum: NONCE_USES,
    enumName: 'NonceUse',
    example: 'payload',
    description:
      'Of a transaction (`fill`: a no-op of Lockstep; `hold`: an outside sender has it), or `authorization`: signed for a transaction of another signer. `foreign`: a transaction that Lockstep did not send used ' +
      'it. Nobody has it: `gap`, nonces above it wait for it, or `free`',
  })
  use!: SlotUse;
  @ApiProperty({
    type: String,
    nullable: true,
    example: TX_ID,
    description:
      'The transaction that has it; null for one of another account, or of a signer that the key may not use. Callers with `signers:admin` are told the hold of any account',
  })
  txId!: string | null;
  @ApiProperty({ enum: TX_STATES, enumName: 'TxState', nullable: true, example: 'IN_MEMPOOL' }) state!: string | null;
  @ApiProperty({
    type: String,
    nullable: true,
    example: HASH,
    description: 'Of the mined transaction; before that, of the newest attempt',
  })
  txHash!: string | null;
  @ApiProperty({ example: TIME, description: 'When the status changed, or who has it' }) since!: string;
}

export class NonceListDto extends SequenceDto {
  @ApiProperty({ type: [NonceDto] }) items!: NonceDto[];
  @ApiProperty({ type: String, nullable: true, example: null }) nextCursor!: string | null;
}

class NonceAttemptDto {
  @ApiProperty({ example: HASH }) txHash!: string;
  @ApiProperty({ example: TX_ID }) txId!: string;
  @ApiProperty({ enum: ['payload', 'cancel', 'fill'], enumName: 'AttemptKind', example: 'payload' }) kind!: string;
  @ApiProperty({ enum: ATTEMPT_STATUSES, enumName: 'AttemptStatus', example: 'ACCEPTED' }) status!: string;
  @ApiProperty({ example: TIME }) createdAt!: string;
  @ApiProperty({ type: String, nullable: true, example: TIME }) lastSentAt!: string | null;
}

class ChainUseDto {
  @ApiProperty({ type: String, nullable: true, example: HASH, description: 'Null when no endpoint can name it' })
  txHash!: string | null;
  @ApiProperty({ type: Number, nullable: true, example: 1234 }) blockNumber!: number | null;
  @ApiProperty({ type: String, nullable: true, example: HASH }) blockHash!: string | null;
}

export class NonceReportDto extends SequenceDto {
  @ApiJsonInteger({ example: 7 }) nonce!: number | string;
  @ApiProperty({
    type: NonceDto,
    nullable: true,
    description: 'Null: it was not given out yet, or Lockstep has no record of it',
  })
  slot!: NonceDto | null;
  @ApiProperty({
    type: [NonceAttemptDto],
    description: 'What was signed with it for transactions of the account, oldest first',
  })
  attempts!: NonceAttemptDto[];
  @ApiProperty({
    type: ChainUseDto,
    nullable: true,
    example: null,
    description: 'The transaction that used it; null while none did, or the chain does not answer within 2 s',
  })
  onChain!: ChainUseDto | null;
}
