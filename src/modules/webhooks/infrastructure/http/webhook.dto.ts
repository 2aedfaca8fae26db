import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Max,
  Min,
} from 'class-validator';
import { ADDRESS_PATTERN } from '../../../../platform/http/describe-rules.js';
import { IsChainIds } from '../../../../platform/http/page-query.dto.js';
import { HasChars, IsAddressText } from '../../../../platform/http/validators.js';
import { PUBLIC_EVENT_TYPES, type PublicEventType } from '../../../events/index.js';

const MAX_URL_CHARS = 2_000;
const MAX_DESCRIPTION_CHARS = 500;
const MAX_FILTER = 1_000;
const MAX_VALID_HOURS = 24 * 30;
const EXAMPLE_URL = 'https://example.com/lockstep';
const EXAMPLE_SIGNER = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266';
const ALL = 'Null stands for all.';

class WebhookSettingsDto {
  @ApiPropertyOptional({ type: String, nullable: true, maxLength: MAX_DESCRIPTION_CHARS, example: 'ledger' })
  @IsOptional()
  @IsString()
  @HasChars({ max: MAX_DESCRIPTION_CHARS })
  description?: string | null;

  @ApiPropertyOptional({
    enum: PUBLIC_EVENT_TYPES,
    enumName: 'PublicEventType',
    isArray: true,
    nullable: true,
    description: ALL,
  })
  @IsOptional()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(PUBLIC_EVENT_TYPES.length)
  @IsIn(PUBLIC_EVENT_TYPES, { each: true })
  types?: PublicEventType[] | null;

  @IsChainIds(MAX_FILTER, ALL)
  chainIds?: number[] | null;

  @ApiPropertyOptional({
    type: 'array',
    items: { type: 'string', pattern: ADDRESS_PATTERN },
    example: [EXAMPLE_SIGNER],
    description: ALL,
  })
  @IsOptional()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(MAX_FILTER)
  @IsAddressText({ each: true })
  signers?: string[] | null;

  @ApiPropertyOptional({
    default: false,
    description: 'It gets only events of requests that name it as their `callback`',
  })
  @IsOptional()
  @IsBoolean()
  callbackOnly?: boolean;
}

export class CreateWebhookDto extends WebhookSettingsDto {
  @ApiProperty({ example: EXAMPLE_URL, description: 'https; plain http only to targets in `webhooks.allow`' })
  @IsString()
  @HasChars({ min: 1, max: MAX_URL_CHARS })
  url!: string;
}

export class ChangeWebhookDto extends WebhookSettingsDto {
  @ApiPropertyOptional({ example: EXAMPLE_URL })
  @IsOptional()
  @IsString()
  @HasChars({ min: 1, max: MAX_URL_CHARS })
  url?: string;

  @ApiPropertyOptional({
    description:
      'A disabled endpoint gets no new deliveries, and its waiting ones become dead within a minute. A replay covers the time',
  })
  @IsOptional()
  @IsBoolean()
  enabled?: boolean;
}

export class RotateSecretDto {
  @ApiPropertyOptional({
    default: 24,
    minimum: 0,
    maximum: MAX_VALID_HOURS,
    description: 'So long the secret of now signs, too. 0 ends it at once, and all before it',
  })
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(MAX_VALID_HOURS)
  keepOldHours?: number;
}

class DisabledDto {
  @ApiProperty({ example: '2026-11-21T08:00:00.000Z' }) since!: string;
  @ApiProperty({ example: 'the receiver answered 410' }) reason!: string;
}

export class WebhookDto {
  @ApiProperty({ example: '019aa2f4-7a1c-7c3e-9a52-3f4d5e6f7a8b' }) id!: string;
  @ApiProperty({ example: EXAMPLE_URL }) url!: string;
  @ApiProperty({ type: String, nullable: true, example: 'ledger' }) description!: string | null;
  @ApiProperty({
    enum: PUBLIC_EVENT_TYPES,
    enumName: 'PublicEventType',
    isArray: true,
    nullable: true,
    description: ALL,
  })
  types!: readonly PublicEventType[] | null;
  @ApiProperty({ type: [Number], nullable: true, example: [31337], description: ALL })
  chainIds!: readonly number[] | null;
  @ApiProperty({ type: [String], nullable: true, example: [EXAMPLE_SIGNER], description: ALL })
  signers!: readonly string[] | null;
  @ApiProperty({ example: false }) callbackOnly!: boolean;
  @ApiProperty({ example: true }) enabled!: boolean;
  @ApiProperty({ type: DisabledDto, nullable: true }) disabled!: DisabledDto | null;
  @ApiProperty({ type: String, nullable: true, example: null, description: 'Since when no delivery has succeeded' })
  failingSince!: string | null;
  @ApiProperty({
    type: String,
    nullable: true,
    example: null,
    description: 'Until then a previous secret signs, too; null when there is none',
  })
  previousSecretUntil!: string | null;
  @ApiProperty({ example: '2026-11-21T08:00:00.000Z' }) createdAt!: string;
  @ApiProperty({ example: '2026-11-21T08:00:00.000Z' }) updatedAt!: string;
}

export class WebhookWithSecretDto extends WebhookDto {
  @ApiProperty({ example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', description: 'Shown only here' }) secret!: string;
}

export class WebhookPageDto {
  @ApiProperty({ type: [WebhookDto] }) items!: WebhookDto[];
  @ApiProperty({ type: String, nullable: true }) nextCursor!: string | null;
}

export class TestAnswerDto {
  @ApiProperty({ type: Number, nullable: true, example: 204, description: 'Null when no answer came' })
  status!: number | null;
  @ApiProperty({ example: '', description: 'The first kilobyte of the answer' }) body!: string;
  @ApiProperty({ type: String, nullable: true, example: 'timeout: no complete answer within 15 s' })
  error!: string | null;
  @ApiProperty({ example: 120 }) durationMs!: number;
}
