import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional, IsString } from 'class-validator';
import type { FastifyRequest } from 'fastify';
import { callerOf } from '../../../../platform/http/scope.js';
import { HasChars } from '../../../../platform/http/validators.js';
import type { PauseRequest } from '../../../signers/index.js';

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
  @ApiProperty({ example: '2026-11-21T08:00:00.000Z' }) since!: string;
  @ApiProperty({ example: 'key:01a21973-e4a2-749a-93eb-ccf47cdff4c7', description: 'Who asked for it' }) by!: string;
  @ApiProperty({ type: String, nullable: true, example: 'key rotation' }) reason!: string | null;
}

export class PauseRequestDto {
  @ApiPropertyOptional({ maxLength: MAX_REASON_CHARS, example: 'key rotation', description: 'For the audit trail' })
  @IsOptional()
  @IsString()
  @HasChars({ max: MAX_REASON_CHARS })
  reason?: string;
}

/** What to store of a request for a pause, or for its end. */
export function pauseRequestOf(request: FastifyRequest, { reason }: PauseRequestDto): PauseRequest {
  return { by: callerOf(request).name, reason: reason ?? null };
}
