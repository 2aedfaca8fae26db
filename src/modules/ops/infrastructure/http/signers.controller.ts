import { Controller, Get, Query } from '@nestjs/common';
import { ApiOperation, ApiProperty, ApiPropertyOptional, ApiResponse, ApiTags } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsInt, IsOptional, IsString, Length, Max, Min } from 'class-validator';
import { InvalidInput } from '../../../../kernel/errors.js';
import { ApiProblems } from '../../../../platform/http/problem.dto.js';
import { PauseDto } from './pause.dto.js';
import { SignerOverview, type SignerPage, type SignerView } from '../../application/signer-overview.js';

const DEFAULT_PAGE_SIGNERS = 50;

class SignerQueryDto {
  @ApiPropertyOptional({ description: '`nextCursor` of the previous page' })
  @IsOptional()
  @IsString()
  @Length(1, 100)
  cursor?: string;

  @ApiPropertyOptional({ default: DEFAULT_PAGE_SIGNERS, minimum: 1, maximum: 200 })
  @IsOptional()
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(200)
  limit?: number;
}

class InFlightLimitDto {
  @ApiProperty({ example: 64, description: '`execution.maxInFlight`' }) configured!: number;
  @ApiProperty({
    type: Number,
    nullable: true,
    example: 16,
    description:
      'What the pools of the chain take of this signer, as learnt from their refusals, or 1 while it delegates; null while nothing less was ' +
      'learnt, and on every node but the owner of the lease',
  })
  learnt!: number | null;
  @ApiProperty({
    example: false,
    description: 'Its account runs the code of a contract (EIP-7702); false on every node but the owner of the lease',
  })
  delegated!: boolean;
}

class SignerDto {
  @ApiProperty({ example: 31337 }) chainId!: number;
  @ApiProperty({ example: '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266' }) address!: string;
  @ApiProperty({ type: 'object', additionalProperties: true, example: { type: 'mnemonic', path: "m/44'/60'/0'/0/0" } })
  custody!: Record<string, unknown>;
  @ApiProperty({
    type: String,
    nullable: true,
    example: 'pod-1-3f9a1c',
    description: 'The node that owns the lease now; null when none does',
  })
  leaseOwner!: string | null;
  @ApiProperty({ type: String, nullable: true, example: '1' }) fencingToken!: string | null;
  @ApiProperty({ type: String, nullable: true, example: '2026-11-21T08:00:00.000Z' }) leaseExpiresAt!: string | null;
  @ApiProperty({
    type: Number,
    nullable: true,
    example: 8,
    description: 'Next new nonce; a decimal string above 2^53',
  })
  cursor!: number | string | null;
  @ApiProperty({ type: PauseDto, nullable: true, example: null, description: 'Null when it is not paused' })
  paused!: PauseDto | null;
  @ApiProperty({ example: 0 }) pending!: number;
  @ApiProperty({ example: 1 }) inFlight!: number;
  @ApiProperty({ example: 1, description: 'pending + inFlight' }) backlog!: number;
  @ApiProperty({ type: InFlightLimitDto }) inFlightLimit!: InFlightLimitDto;
}

class SignerPageDto {
  @ApiProperty({ type: [SignerDto] }) items!: SignerDto[];
  @ApiProperty({ type: String, nullable: true, example: null }) nextCursor!: string | null;
}

@ApiTags('operations')
@Controller('api/v1/signers')
export class SignersController {
  constructor(private readonly overview: SignerOverview) {}

  @Get()
  @ApiOperation({ summary: 'List signers with their owner and backlog' })
  @ApiResponse({ status: 200, type: SignerPageDto })
  @ApiProblems(
    '/api/v1/signers',
    {
      status: 400,
      code: 'invalid_cursor',
      detail: 'not a cursor of this API',
      advice: 'send the nextCursor of the previous page, unchanged',
    },
    {
      status: 503,
      code: 'database_unavailable',
      detail: 'the database did not answer in time',
      advice: 'try again',
      retryable: true,
    },
  )
  async list(@Query() query: SignerQueryDto): Promise<SignerPage> {
    const limit = query.limit ?? DEFAULT_PAGE_SIGNERS;
    const found = await this.overview.list(query.cursor === undefined ? null : decode(query.cursor), limit + 1);
    const items = found.slice(0, limit);
    const last = items.at(-1);
    return { items, nextCursor: found.length > limit && last ? encode(last) : null };
  }
}

function encode({ chainId, address }: SignerView): string {
  return Buffer.from(`${chainId}:${address}`).toString('base64url');
}

function decode(cursor: string): { chainId: number; address: string } {
  const [, chainId, address] =
    /^(\d{1,15}):(0x[0-9a-f]{40})$/.exec(Buffer.from(cursor, 'base64url').toString('utf8')) ?? [];
  if (chainId === undefined || address === undefined)
    throw new InvalidInput(
      'invalid_cursor',
      'not a cursor of this API',
      'send the nextCursor of the previous page, unchanged',
    );
  return { chainId: Number(chainId), address };
}
