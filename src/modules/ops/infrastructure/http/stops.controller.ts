import { Body, Controller, Get, HttpCode, Post, Query, Req } from '@nestjs/common';
import { ApiBody, ApiOperation, ApiProperty, ApiPropertyOptional, ApiResponse, ApiTags } from '@nestjs/swagger';
import { IsInt, IsOptional, Max, Min } from 'class-validator';
import type { FastifyRequest } from 'fastify';
import { type Caller, isWithin, limitedTo, NO_LIMITS, outsideLimits } from '../../../../kernel/caller.js';
import { clientAddress } from '../../../../platform/http/client-address.js';
import { decodeCursor, encodeCursor, type Page, pageOf } from '../../../../platform/http/page-cursor.js';
import { DEFAULT_PAGE_ITEMS, PageQueryDto } from '../../../../platform/http/page-query.dto.js';
import { callerOf, Scope } from '../../../../platform/http/scope.js';
import { IsAddressText } from '../../../../platform/http/validators.js';
import { type PauseScope, SignerPauses } from '../../../signers/index.js';
import { PauseSigner } from '../../application/pause-signer.js';
import { ResumeSigner } from '../../application/resume-signer.js';
import { pauseView } from '../../domain/pause-view.js';
import { PauseDto, pauseOrderOf, PauseRequestDto } from './pauses.dto.js';

class StopRequestDto extends PauseRequestDto {
  @ApiPropertyOptional({ type: Number, minimum: 1, example: 31337, description: 'Without it: every chain' })
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(Number.MAX_SAFE_INTEGER)
  chainId?: number;

  @ApiPropertyOptional({
    example: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
    description: 'Without it: every signer. Without a chainId: this address on every chain',
  })
  @IsOptional()
  @IsAddressText()
  signer?: string;
}

const EXAMPLES = {
  all: { summary: 'Everything', value: { reason: 'a key may be stolen' } },
  chain: { summary: 'One chain', value: { chainId: 31337, reason: 'its bridge was attacked' } },
  signer: {
    summary: 'One signer',
    value: { chainId: 31337, signer: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266', reason: 'key rotation' },
  },
};

class StopPageDto {
  @ApiProperty({ type: [PauseDto] }) items!: readonly PauseDto[];
  @ApiProperty({ type: String, nullable: true, example: null }) nextCursor!: string | null;
}

interface ScopeText {
  readonly chainId?: number | null;
  readonly signer?: string | null;
}

@ApiTags('signers')
@Controller('api/v1')
export class StopsController {
  constructor(
    private readonly pauseSigner: PauseSigner,
    private readonly resumeSigner: ResumeSigner,
    private readonly pauses: SignerPauses,
  ) {}

  @Post('stop')
  @Scope('signers:admin')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'stopSigners',
    summary: 'Stop a signer, a chain or everything',
    description:
      'After the answer no node gives a new nonce: what is PENDING waits with subState SIGNER_PAUSED, and requests are still stored. What was sent is ' +
      'watched, sent again as it is, and can be cancelled; higher prices, replaces and speed-ups wait. A second stop of the same changes nothing. Any node can answer. A key that is limited to signers or chains stops only these.',
  })
  @ApiBody({ type: StopRequestDto, examples: EXAMPLES })
  @ApiResponse({ status: 200, type: PauseDto })
  async stop(@Body() body: StopRequestDto, @Req() request: FastifyRequest): Promise<PauseDto> {
    const caller = callerOf(request);
    const order = pauseOrderOf('stopSigners', request, body);
    return pauseView(await this.pauseSigner.execute(scopeOf(body, caller), order), caller);
  }

  @Post('go')
  @Scope('signers:admin')
  @HttpCode(204)
  @ApiOperation({
    operationId: 'endStop',
    summary: 'End a stop',
    description:
      'Name the same chainId and signer as the stop. Stops are counted one by one: a signer goes on when the last one that holds for it has ended.',
  })
  @ApiBody({ type: StopRequestDto, examples: EXAMPLES })
  @ApiResponse({ status: 204, description: 'It is ended, or there was none' })
  async go(@Body() body: StopRequestDto, @Req() request: FastifyRequest): Promise<void> {
    await this.resumeSigner.execute(scopeOf(body, callerOf(request)), pauseOrderOf('endStop', request, body));
  }

  @Get('stops')
  @Scope('tx:read')
  @ApiOperation({
    operationId: 'listStops',
    summary: 'List stops and pauses that are in force',
    description:
      'Those of every chain first. A pause of one signer is a stop, too. Only those that hold for a signer that the caller may use.',
  })
  @ApiResponse({ status: 200, type: StopPageDto })
  async list(@Query() query: PageQueryDto, @Req() request: FastifyRequest): Promise<Page<PauseDto>> {
    const caller = callerOf(request);
    const limit = query.limit ?? DEFAULT_PAGE_ITEMS;
    const after = query.cursor === undefined ? null : placeOf(query.cursor);
    const found = await this.pauses.list(after, limit + 1, caller.only);
    return pageOf(
      found.map((pause) => pauseView(pause, caller)),
      limit,
      ({ chainId, signer }) => encodeCursor(`${chainId ?? 0}:${signer ?? ''}`),
    );
  }
}

/** @throws Forbidden `outside_limits` for more than the caller may use: a stop of all, or of an address on all chains, is for callers without limits */
function scopeOf({ chainId = null, signer }: ScopeText, { only }: Caller): PauseScope {
  const address = signer == null ? null : clientAddress(signer, chainId);
  const stopped = chainId === null ? NO_LIMITS : limitedTo(address === null ? null : [{ chainId, address }], [chainId]);
  if (!isWithin(stopped, only)) throw outsideLimits('the stop is');
  return { chainId, address };
}

function placeOf(cursor: string): PauseScope {
  const [chainId, address = ''] = decodeCursor(cursor, /^\d{1,15}:(0x[0-9a-f]{40})?$/).split(':');
  return { chainId: Number(chainId), address: address === '' ? null : clientAddress(address) };
}
