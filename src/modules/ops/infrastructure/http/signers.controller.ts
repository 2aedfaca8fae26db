import { Controller, Get, Query, Req } from '@nestjs/common';
import { ApiOperation, ApiProperty, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { ApiJsonInteger } from '../../../../platform/http/json-integer.js';
import { decodeSigner, encodeCursor, pageOf } from '../../../../platform/http/page-cursor.js';
import { DEFAULT_PAGE_ITEMS, PageQueryDto } from '../../../../platform/http/page-query.dto.js';
import { callerOf, Scope } from '../../../../platform/http/scope.js';
import { CHAIN_BEHIND, ChainBehindDto } from './chain-behind.dto.js';
import { NONCE_GAP, NonceGapDto } from './nonce-gap.dto.js';
import { PauseDto } from './pauses.dto.js';
import { SignerOverview, type SignerPage } from '../../application/signer-overview.js';

class InFlightLimitDto {
  @ApiProperty({ example: 1000, description: '`execution.maxInFlight`' }) configured!: number;
  @ApiProperty({
    type: Number,
    nullable: true,
    example: 64,
    description:
      'How many transactions of this signer may be in flight now, as learnt from blocks and pools; 1 while it delegates. Null on every node but ' +
      'the owner of the lease',
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
  @ApiJsonInteger({ nullable: true, example: 8, description: 'Next new nonce' })
  cursor!: number | string | null;
  @ApiProperty({
    type: PauseDto,
    nullable: true,
    example: null,
    description: 'The oldest pause that holds for it; null when it is not paused',
  })
  paused!: PauseDto | null;
  @ApiProperty({ type: ChainBehindDto, nullable: true, example: null, description: CHAIN_BEHIND })
  behind!: ChainBehindDto | null;
  @ApiProperty({ type: NonceGapDto, nullable: true, example: null, description: NONCE_GAP })
  nonceGap!: NonceGapDto | null;
  @ApiProperty({
    example: 0,
    description: 'Counted up to 100,000 divided by the number of signers of the page, or 1,000, like inFlight',
  })
  pending!: number;
  @ApiProperty({ example: 1 }) inFlight!: number;
  @ApiProperty({ example: 1, description: 'pending + inFlight' }) backlog!: number;
  @ApiProperty({ type: InFlightLimitDto }) inFlightLimit!: InFlightLimitDto;
}

class SignerPageDto {
  @ApiProperty({ type: [SignerDto] }) items!: SignerDto[];
  @ApiProperty({ type: String, nullable: true, example: null }) nextCursor!: string | null;
}

@ApiTags('signers')
@Controller('api/v1/signers')
export class SignersController {
  constructor(private readonly overview: SignerOverview) {}

  @Get()
  @Scope('tx:read')
  @ApiOperation({
    operationId: 'listSigners',
    summary: 'List signers with their owner and backlog',
    description:
      'Each with the node that owns its lease, its pause, how many of its transactions wait, and how many may be in flight. Only those that the caller may use.',
  })
  @ApiResponse({ status: 200, type: SignerPageDto })
  async list(@Query() query: PageQueryDto, @Req() request: FastifyRequest): Promise<SignerPage> {
    const limit = query.limit ?? DEFAULT_PAGE_ITEMS;
    const after = query.cursor === undefined ? null : decodeSigner(query.cursor);
    const found = await this.overview.list(after, limit + 1, callerOf(request));
    return pageOf(found, limit, ({ chainId, address }) => encodeCursor(`${chainId}:${address}`));
  }
}
