import { ApiPropertyOptional } from '@nestjs/swagger';
import { Transform, Type } from 'class-transformer';
import { IsIn, IsInt, IsOptional, IsString, IsUUID, Max, Min } from 'class-validator';
import { IsAddressText } from '../../../../platform/http/validators.js';
import { parseAddress } from '../../../../kernel/hex.js';
import { MAX_LISTED_EVENTS } from '../../application/list-events.js';
import type { EventFilter } from '../../domain/event-filter.js';
import { PUBLIC_EVENT_TYPES, type PublicEventType } from '../../domain/public-event.js';

export class EventsQueryDto {
  @ApiPropertyOptional({
    example: '1234-56-0',
    description:
      'The id of an event, or a `nextCursor`: go on after it. `0-0-0` is before the oldest event that is kept',
  })
  @IsOptional()
  @IsString()
  after?: string;

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

  @ApiPropertyOptional({ example: '01900000-0000-7000-8000-000000000001' })
  @IsOptional()
  @IsUUID()
  txId?: string;

  @ApiPropertyOptional({
    type: String,
    example: 'tx.confirmed,tx.failed',
    description: `Event types, separated by commas: ${PUBLIC_EVENT_TYPES.join(', ')}`,
  })
  @IsOptional()
  @Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? value.split(',') : value))
  @IsIn(PUBLIC_EVENT_TYPES, {
    each: true,
    context: { code: 'unknown_event_type' },
    message: `types must be of ${PUBLIC_EVENT_TYPES.join(', ')}; separate several by commas`,
  })
  types?: PublicEventType[];

  @ApiPropertyOptional({ default: 100, minimum: 1, maximum: MAX_LISTED_EVENTS, description: 'Of a page' })
  @IsOptional()
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(MAX_LISTED_EVENTS)
  limit?: number;
}

export function filterOf({ chainId, signer, txId, types }: EventsQueryDto): EventFilter {
  return {
    chainId: chainId ?? null,
    signer: signer === undefined ? null : parseAddress(signer),
    txId: txId?.toLowerCase() ?? null,
    types: types === undefined ? null : new Set(types),
  };
}
