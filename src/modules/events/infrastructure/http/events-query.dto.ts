import { ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { ArrayMaxSize, IsIn, IsOptional, IsString, IsUUID } from 'class-validator';
import { clientAddress } from '../../../../platform/http/client-address.js';
import { EVENT_ID } from '../../../../platform/http/field-formats.js';
import { IsChainIdQuery, IsPageLimit } from '../../../../platform/http/page-query.dto.js';
import { IsAddressText } from '../../../../platform/http/validators.js';
import type { Viewer } from '../../../../kernel/caller.js';
import { InvalidInput } from '../../../../kernel/errors.js';
import { MAX_LISTED_EVENTS } from '../../application/list-events.js';
import type { EventFilter } from '../../domain/event-filter.js';
import { type EventPosition, parseEventId } from '../../domain/event-position.js';
import { PUBLIC_EVENT_TYPES, type PublicEventType } from '../../domain/public-event.js';

const TYPES = PUBLIC_EVENT_TYPES.join('|').replaceAll('.', '\\.');

export class EventsQueryDto {
  @ApiPropertyOptional({
    ...EVENT_ID,
    example: '1234-56-0',
    description:
      'The id of an event, or a `nextCursor`: go on after it. `0-0-0` is before the oldest event that is kept',
  })
  @IsOptional()
  @IsString()
  after?: string;

  @IsChainIdQuery()
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
    pattern: `^(${TYPES})(,(${TYPES}))*$`,
    example: 'tx.confirmed,tx.failed',
    description: `Event types, separated by commas: ${PUBLIC_EVENT_TYPES.join(', ')}`,
  })
  @IsOptional()
  @Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? [...new Set(value.split(','))] : value))
  // A type that is named twice counts once: the pattern says all that is taken.
  @ArrayMaxSize(PUBLIC_EVENT_TYPES.length)
  @IsIn(PUBLIC_EVENT_TYPES, {
    each: true,
    context: { code: 'unknown_event_type' },
    message: `types must be of ${PUBLIC_EVENT_TYPES.join(', ')}; separate several by commas`,
  })
  types?: PublicEventType[];

  @IsPageLimit(100, MAX_LISTED_EVENTS, 'Of a page')
  limit?: number;
}

/** @throws InvalidInput `invalid_event_id` */
export function positionOf(id: string): EventPosition {
  const position = parseEventId(id);
  if (position !== null) return position;
  throw new InvalidInput(
    'invalid_event_id',
    'not the id of an event',
    'send the id of an event or a nextCursor, unchanged; 0-0-0 is before the oldest event',
  );
}

export function filterOf({ chainId, signer, txId, types }: EventsQueryDto, viewer: Viewer): EventFilter {
  return {
    chainId: chainId ?? null,
    signer: signer === undefined ? null : clientAddress(signer, chainId),
    txId: txId?.toLowerCase() ?? null,
    types: types === undefined ? null : new Set(types),
    viewer,
  };
}
