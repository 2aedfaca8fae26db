import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsOptional } from 'class-validator';
import { IsCursor, PageQueryDto } from '../../../../platform/http/page-query.dto.js';
import { IsTime } from '../../../../platform/http/validators.js';
import { EVENT_REFERENCE, PUBLIC_EVENT_TYPES } from '../../../events/index.js';
import { DELIVERY_STATUSES, type DeliveryStatus, type DeliveryView } from '../../domain/delivery.js';
import type { DeliveryWithBody } from '../../domain/delivery-log.js';

const EXAMPLE_TIME = '2026-11-21T08:00:00.000Z';
const EXAMPLE_ID = '7312-4711-0';

export class DeliveryListQueryDto extends PageQueryDto {
  @ApiPropertyOptional({ enum: DELIVERY_STATUSES, enumName: 'DeliveryStatus' })
  @IsOptional()
  @IsIn(DELIVERY_STATUSES)
  status?: DeliveryStatus;
}

export class ReplayDto {
  @ApiPropertyOptional({
    enum: ['dead'],
    enumName: 'ReplayStatus',
    description: 'All that were given up; not together with since',
  })
  @IsOptional()
  @IsIn(['dead'])
  status?: 'dead';

  @ApiPropertyOptional({ example: EXAMPLE_TIME, description: 'Events from this time on' })
  @IsOptional()
  @IsTime()
  since?: string;

  @ApiPropertyOptional({ example: EXAMPLE_TIME, description: 'Events up to this time. Default: now' })
  @IsOptional()
  @IsTime()
  until?: string;

  @IsCursor('`nextCursor` of the previous answer, with the same since and until')
  cursor?: string;
}

export class ReplayedDto {
  @ApiProperty({ example: 120, description: 'Deliveries that are due now' }) replayed!: number;
  @ApiProperty({ example: false, description: 'Repeat the call for the rest, with nextCursor when there is one' })
  hasMore!: boolean;
  @ApiProperty({ type: String, nullable: true, example: null }) nextCursor!: string | null;
}

export class DeliveryDto {
  @ApiProperty({ example: EXAMPLE_ID, description: 'The webhook-id header, the same in each try and replay' })
  eventId!: string;
  @ApiProperty({ enum: PUBLIC_EVENT_TYPES, enumName: 'PublicEventType', example: 'tx.confirmed' }) type!: string;
  @ApiProperty({ type: String, nullable: true, description: 'Null for events of signers' }) txId!: string | null;
  @ApiProperty({ enum: DELIVERY_STATUSES, enumName: 'DeliveryStatus', description: '`dead`: given up' })
  status!: DeliveryStatus;
  @ApiProperty({ example: 1 }) tries!: number;
  @ApiProperty({ type: String, nullable: true, description: 'When it is sent next' }) dueAt!: string | null;
  @ApiProperty({ type: Number, nullable: true, example: 200, description: 'Of the last try; null when no answer came' })
  answerStatus!: number | null;
  @ApiProperty({ type: String, nullable: true, description: 'The first kilobyte of the answer' })
  answerBody!: string | null;
  @ApiProperty({ type: String, nullable: true, example: 'timeout: no complete answer within 15 s' })
  error!: string | null;
  @ApiProperty({ type: String, nullable: true, example: EXAMPLE_TIME }) triedAt!: string | null;
  @ApiProperty({ example: EXAMPLE_TIME }) eventAt!: string;
}

export class DeliveryWithBodyDto extends DeliveryDto {
  @ApiProperty({ allOf: [EVENT_REFERENCE], description: 'What is sent' })
  body!: Record<string, unknown>;
}

export class DeliveryPageDto {
  @ApiProperty({ type: [DeliveryDto] }) items!: DeliveryDto[];
  @ApiProperty({ type: String, nullable: true }) nextCursor!: string | null;
}

export function deliveryView(view: DeliveryView): Pick<DeliveryDto, keyof DeliveryDto> {
  const { eventId, type, txId, status, tries, answerStatus, answerBody, error } = view;
  return {
    eventId,
    type,
    txId,
    status,
    tries,
    dueAt: view.dueAt?.toISOString() ?? null,
    answerStatus,
    answerBody,
    error,
    triedAt: view.triedAt?.toISOString() ?? null,
    eventAt: view.eventAt.toISOString(),
  };
}

export function deliveryViewWithBody(view: DeliveryWithBody): DeliveryWithBodyDto {
  return { ...deliveryView(view), body: JSON.parse(view.body) as Record<string, unknown> };
}
