import { ApiPropertyOptional, ApiProperty } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsIn, IsInt, IsOptional, Max, Min } from 'class-validator';
import { IsChainIdQuery, IsCursor, IsPageLimit, PageQueryDto } from '../../../../platform/http/page-query.dto.js';
import { IsAddressText } from '../../../../platform/http/validators.js';
import { MAX_HISTORY_PAGE } from '../../../events/index.js';
import { IsRequestId } from './request-id.js';
import { TX_KINDS, TX_STATES, type TxState, type TxView } from '../../../ledger/index.js';

export const DEFAULT_WAIT_MS = 30_000;

export class WaitQueryDto {
  @ApiPropertyOptional({
    enum: TX_STATES,
    enumName: 'TxState',
    description: 'Wait until the transaction has reached or passed this state, or is final',
  })
  @IsOptional()
  @IsIn(TX_STATES)
  waitFor?: TxState;

  @ApiPropertyOptional({ description: 'Maximum wait in milliseconds', default: DEFAULT_WAIT_MS, maximum: 60000 })
  @IsOptional()
  @Type(() => Number)
  @IsInt()
  @Min(0)
  @Max(60_000)
  timeoutMs?: number;
}

export class ByRequestQueryDto {
  @IsChainIdQuery()
  chainId?: number;

  @ApiProperty({ example: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266' })
  @IsAddressText()
  signer!: string;

  @ApiProperty({ example: 'invoice-4711' })
  @IsRequestId()
  requestId!: string;
}

export class ListQueryDto extends PageQueryDto {
  @IsChainIdQuery()
  chainId?: number;

  @ApiPropertyOptional({ example: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266' })
  @IsOptional()
  @IsAddressText()
  signer?: string;

  @ApiPropertyOptional({
    enum: TX_KINDS,
    enumName: 'TxKind',
    default: 'payload',
    description: '`fill` lists the no-ops that Lockstep sent to fill nonce gaps, `hold` the nonces of outside senders',
  })
  @IsOptional()
  @IsIn(TX_KINDS)
  kind?: TxView['kind'];

  @ApiPropertyOptional({ enum: TX_STATES, enumName: 'TxState' })
  @IsOptional()
  @IsIn(TX_STATES)
  state?: TxState;
}

/** The sequence number of an entry, as a place in a history. */
export const HISTORY_PLACE = /^\d{1,18}$/;

export class HistoryQueryDto {
  @IsCursor()
  cursor?: string;

  @IsPageLimit(MAX_HISTORY_PAGE, MAX_HISTORY_PAGE)
  limit?: number;
}
