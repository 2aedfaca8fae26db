import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional, IsString } from 'class-validator';
import { PageQueryDto } from '../../../../platform/http/page-query.dto.js';
import { HasChars, IsTime } from '../../../../platform/http/validators.js';
import { ACCOUNT_NAME } from '../../domain/account.js';

const MAX_CHARS = 300;
const ACTOR = {
  example: 'key:01a21973-e4a2-749a-93eb-ccf47cdff4c7',
  description: '`key:<id>`, `token:<subject>`, `anyone` with `auth.mode: none`, or `command-line`',
};
const ACTION = { example: 'createKey', description: 'An operationId of this document, also for the command line' };
const OBJECT = {
  example: 'key:019aa2f4-7a1c-7c3e-9a52-3f4d5e6f7a8b',
  description:
    '`key:<id>`, `account:<name>`, `webhook:<id>`, `signer:<chainId>:<address>`, `address:<address>`, `chain:<chainId>`, or `all`',
};
const TIME = '2026-11-21T08:00:00.000Z';

export class AuditQueryDto extends PageQueryDto {
  @ApiPropertyOptional(ACTOR)
  @IsOptional()
  @IsString()
  @HasChars({ max: MAX_CHARS })
  actor?: string;

  @ApiPropertyOptional(ACTION)
  @IsOptional()
  @IsString()
  @HasChars({ max: MAX_CHARS })
  action?: string;

  @ApiPropertyOptional(OBJECT)
  @IsOptional()
  @IsString()
  @HasChars({ max: MAX_CHARS })
  object?: string;

  @ApiPropertyOptional({ example: TIME, description: 'Of this time or later' })
  @IsOptional()
  @IsTime()
  since?: string;

  @ApiPropertyOptional({ example: TIME, description: 'Before this time' })
  @IsOptional()
  @IsTime()
  until?: string;
}

export class AuditEntryDto {
  @ApiProperty({ example: '4711', description: 'Of two entries the later one has the greater number' }) seq!: string;
  @ApiProperty({ example: TIME }) at!: string;
  @ApiProperty({ example: 'default', pattern: ACCOUNT_NAME.source, description: 'The account of the actor' })
  account!: string;
  @ApiProperty(ACTOR) actor!: string;
  @ApiProperty({ ...ACTION, pattern: '^[a-z]+([A-Z][a-z]+)+$' }) action!: string;
  @ApiProperty(OBJECT) object!: string;
  @ApiProperty({
    type: Object,
    additionalProperties: true,
    example: { name: 'payouts', scopes: ['tx:read'] },
    description: 'What belongs to the action. Its fields may change',
  })
  detail!: Readonly<Record<string, unknown>>;
}

export class AuditPageDto {
  @ApiProperty({ type: [AuditEntryDto] }) items!: AuditEntryDto[];
  @ApiProperty({ type: String, nullable: true }) nextCursor!: string | null;
}
