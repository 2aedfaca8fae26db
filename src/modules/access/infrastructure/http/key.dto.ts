import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Max,
  Min,
  ValidateNested,
} from 'class-validator';
import { SCOPES, type Scope } from '../../../../kernel/caller.js';
import { IsChainIds } from '../../../../platform/http/page-query.dto.js';
import { HasChars, IsAddressText, IsTime } from '../../../../platform/http/validators.js';
import { MAX_NAME_CHARS } from '../../domain/api-key.js';

const MAX_OVERLAP_S = 30 * 86_400;
const EXAMPLE_ID = '019aa2f4-7a1c-7c3e-9a52-3f4d5e6f7a8b';
const EXAMPLE_PREFIX = 'ls_019aa2f47a1c7c3e9a523f4d5e6f7a8b';
/** So many, because they travel in a header from node to node. */
const MAX_LIMIT = 100;
const SIGNERS = { description: 'It may use, and see, only these. Null stands for all' };
const CHAINS = 'It may use, and see, only signers of these chains. Null stands for all';
const EXPIRES = { example: '2030-01-01T00:00:00.000Z', description: 'It cannot be used from then on' };

export class KeySignerDto {
  @ApiProperty({ minimum: 1, example: 31337 })
  @IsInt()
  @Min(1)
  @Max(Number.MAX_SAFE_INTEGER)
  chainId!: number;

  @ApiProperty({ example: '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266' })
  @IsAddressText()
  address!: string;
}

export class CreateKeyDto {
  @ApiProperty({ example: 'payouts', description: 'For people: what uses the key' })
  @IsString()
  @HasChars({ min: 1, max: MAX_NAME_CHARS })
  name!: string;

  @ApiProperty({ enum: SCOPES, enumName: 'Scope', isArray: true, example: ['tx:read', 'tx:write'] })
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(SCOPES.length)
  @IsIn(SCOPES, { each: true })
  scopes!: Scope[];

  @ApiPropertyOptional({ type: [KeySignerDto], nullable: true, minItems: 1, maxItems: MAX_LIMIT, ...SIGNERS })
  @IsOptional()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(MAX_LIMIT)
  @ValidateNested({ each: true })
  @Type(() => KeySignerDto)
  signers?: KeySignerDto[] | null;

  @IsChainIds(MAX_LIMIT, CHAINS)
  chainIds?: number[] | null;

  @ApiPropertyOptional({
    type: String,
    nullable: true,
    example: 'shop',
    description:
      'Whom it belongs to, where that is not the account of the caller. Only for callers of the account `default`',
  })
  @IsOptional()
  @IsString()
  @HasChars({ min: 1, max: MAX_NAME_CHARS })
  account?: string | null;

  @ApiPropertyOptional({ type: String, nullable: true, ...EXPIRES })
  @IsOptional()
  @IsTime()
  expiresAt?: string | null;
}

export class RotateKeyDto {
  @ApiPropertyOptional({
    type: Number,
    default: 86_400,
    minimum: 0,
    maximum: MAX_OVERLAP_S,
    description: 'So long the old key can still be used. 0 ends it at once',
  })
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(MAX_OVERLAP_S)
  overlapSeconds?: number | null;

  @ApiPropertyOptional({ ...EXPIRES, type: String, description: 'Of the new key; without it, as of the old one' })
  @IsOptional()
  @IsTime()
  expiresAt?: string | null;
}

export class KeyDto {
  @ApiProperty({ example: EXAMPLE_ID }) id!: string;
  @ApiProperty({ example: 'payouts' }) name!: string;
  @ApiProperty({ example: EXAMPLE_PREFIX, description: 'The key begins with it' }) prefix!: string;
  @ApiProperty({ example: '00000000-0000-0000-0000-000000000000', description: 'The account that it belongs to' })
  accountId!: string;
  @ApiProperty({ enum: SCOPES, enumName: 'Scope', isArray: true }) scopes!: readonly Scope[];
  @ApiProperty({ type: [KeySignerDto], nullable: true, ...SIGNERS }) signers!: readonly KeySignerDto[] | null;
  @ApiProperty({ type: [Number], nullable: true, example: [31337], description: CHAINS }) chainIds!:
    | readonly number[]
    | null;
  @ApiProperty({ type: String, nullable: true, example: null }) expiresAt!: string | null;
  @ApiProperty({
    type: String,
    nullable: true,
    example: null,
    description: 'It cannot be used from then on. After a rotation the end of its overlap, which may be to come',
  })
  revokedAt!: string | null;
  @ApiProperty({ type: String, nullable: true, example: null, description: 'To the minute' }) lastUsedAt!:
    | string
    | null;
  @ApiProperty({ example: '2026-11-21T08:00:00.000Z' }) createdAt!: string;
}

export class KeyWithTextDto extends KeyDto {
  @ApiProperty({
    example: `${EXAMPLE_PREFIX}_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYq`,
    description: 'Shown only here',
  })
  key!: string;
}

export class KeyPageDto {
  @ApiProperty({ type: [KeyDto] }) items!: KeyDto[];
  @ApiProperty({ type: String, nullable: true }) nextCursor!: string | null;
}
