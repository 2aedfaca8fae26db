import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional, IsString } from 'class-validator';
import type { FastifyRequest } from 'fastify';
import { callerOf } from '../../../../platform/http/scope.js';
import { ACCOUNT_NAME } from '../../../access/index.js';
import { HasChars } from '../../../../platform/http/validators.js';
import type { PauseOrder } from '../../application/store-pauses.js';

const MAX_REASON_CHARS = 500;

/** A pause that is in force. */
export class PauseDto {
  @ApiProperty({ type: Number, nullable: true, example: 31337, description: 'Null: of every chain' })
  chainId!: number | null;
  @ApiProperty({
    type: String,
    nullable: true,
    example: '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
    description: 'Null: every signer',
  })
  signer!: string | null;
  @ApiProperty({
    type: String,
    nullable: true,
    pattern: ACCOUNT_NAME.source,
    example: null,
    description: 'The account that is stopped, whichever signer its transactions have; null for a stop of signers',
  })
  account!: string | null;
  @ApiProperty({ example: '2026-11-21T08:00:00.000Z' }) since!: string;
  @ApiProperty({
    type: String,
    nullable: true,
    example: 'key:01a21973-e4a2-749a-93eb-ccf47cdff4c7',
    description:
      'Who asked for it. Null for a caller of another account, unless it is of the account `default` and has `signers:admin`',
  })
  by!: string | null;
  @ApiProperty({ type: String, nullable: true, example: 'key rotation' }) reason!: string | null;
}

export class PauseRequestDto {
  @ApiPropertyOptional({ maxLength: MAX_REASON_CHARS, example: 'key rotation', description: 'For the audit log' })
  @IsOptional()
  @IsString()
  @HasChars({ max: MAX_REASON_CHARS })
  reason?: string;
}

/** What to store of a request for a pause, or for its end. */
export function pauseOrderOf(action: string, request: FastifyRequest, { reason }: PauseRequestDto): PauseOrder {
  return { by: callerOf(request), action, reason: reason ?? null };
}
