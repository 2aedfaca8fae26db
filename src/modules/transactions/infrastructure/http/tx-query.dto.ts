import { ApiPropertyOptional, ApiProperty } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsIn, IsInt, IsOptional, IsString, Length, Max, Min } from 'class-validator';
import { IsAddressText } from '../../../../platform/http/validators.js';
import { MAX_HISTORY_PAGE } from '../../../events/index.js';
import { IsRequestId } from './request-id.js';
import { TX_KINDS, type TxKind } from '../../domain/managed-tx.js';
import { TX_STATES, type TxState } from '../../domain/tx-state-machine.js';

export class WaitQueryDto {
  @ApiPropertyOptional({
    enum: TX_STATES,
    description: 'Wait until the transaction has reached or passed this state, or is final',
  })
  @IsOptional()
  @IsIn(TX_STATES)
  waitFor?: TxState;

  @ApiPropertyOptional({ description: 'Maximum wait in milliseconds', default: 30000, maximum: 60000 })
  @IsOptional()
  @Type(() => Number)
  @IsInt()
  @Min(0)
  @Max(60_000)
  timeoutMs?: number;
}

export class ByRequestQueryDto {
  @ApiPropertyOptional({ example: 31337 })
  @IsOptional()
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(Number.MAX_SAFE_INTEGER)
  chainId?: number;

  @ApiProperty({ example: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266' })
  @IsAddressText()
  signer!: string;

  @ApiProperty({ example: 'invoice-4711' })
  @IsRequestId()
  requestId!: string;
}

export class ListQueryDto {
  @ApiPropertyOptional({ example: 31337 })
  @IsOptional()
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(Number.MAX_SAFE_INTEGER)
  chainId?: number;

  @ApiPropertyOptional({ example: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266' })
  @IsOptional()
  @IsAddressText()
  signer?: string;

  @ApiPropertyOptional({
    enum: TX_KINDS,
    default: 'payload',
    description: '`fill` lists the no-ops that Lockstep sent to fill nonce gaps',
  })
  @IsOptional()
  @IsIn(TX_KINDS)
  kind?: TxKind;

  @ApiPropertyOptional({ enum: TX_STATES })
  @IsOptional()
  @IsIn(TX_STATES)
  state?: TxState;

  @ApiPropertyOptional({ description: '`nextCursor` of the previous page' })
  @IsOptional()
  @IsString()
  @Length(1, 100)
  cursor?: string;

  @ApiPropertyOptional({ default: 50, minimum: 1, maximum: 200 })
  @IsOptional()
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(200)
  limit?: number;
}

export class HistoryQueryDto {
  @ApiPropertyOptional({ description: '`nextCursor` of the previous page' })
  @IsOptional()
  @IsString()
  @Length(1, 100)
  cursor?: string;

  @ApiPropertyOptional({ default: MAX_HISTORY_PAGE, minimum: 1, maximum: MAX_HISTORY_PAGE })
  @IsOptional()
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(MAX_HISTORY_PAGE)
  limit?: number;
}
