import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional, IsString, MaxLength } from 'class-validator';

/** Until callers have keys. */
export const BY = 'api';
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
  @ApiProperty({ example: 'api' }) by!: string;
  @ApiProperty({ type: String, nullable: true, example: 'key rotation' }) reason!: string | null;
}

export class PauseRequestDto {
  @ApiPropertyOptional({ maxLength: MAX_REASON_CHARS, example: 'key rotation', description: 'For the audit trail' })
  @IsOptional()
  @IsString()
  @MaxLength(MAX_REASON_CHARS)
  reason?: string;
}
