import { Body, Controller, Get, HttpCode, Post, Query, Req } from '@nestjs/common';
import { ApiBody, ApiOperation, ApiProperty, ApiPropertyOptional, ApiResponse, ApiTags } from '@nestjs/swagger';
import { IsInt, IsOptional, Matches, Max, Min } from 'class-validator';
import type { FastifyRequest } from 'fastify';
import { type Caller, isWithin, limitedTo, NO_LIMITS, outsideLimits } from '../../../../kernel/caller.js';
import { InvalidInput } from '../../../../kernel/errors.js';
import { clientAddress } from '../../../../platform/http/client-address.js';
import { OPERATORS_ONLY, operatorOf } from '../../../../platform/http/operator-of.js';
import { decodeCursor, encodeCursor, type Page, pageOf } from '../../../../platform/http/page-cursor.js';
import { DEFAULT_PAGE_ITEMS, PageQueryDto } from '../../../../platform/http/page-query.dto.js';
import { callerOf, Scope } from '../../../../platform/http/scope.js';
import { IsAddressText } from '../../../../platform/http/validators.js';
import { ACCOUNT_NAME, Accounts } from '../../../access/index.js';
import { type PausePlace, type PauseScope, SignerPauses } from '../../../signers/index.js';
import { PauseSigner } from '../../application/pause-signer.js';
import { ResumeSigner } from '../../application/resume-signer.js';
import { pauseView, stopsSeenBy } from '../../domain/pause-view.js';
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

  @ApiPropertyOptional({
    pattern: ACCOUNT_NAME.source,
    maxLength: 100,
    example: 'shop',
    description:
      'The name of an account: all of its transactions, whichever signer they have. Without chainId and signer',
  })
  @IsOptional()
  @Matches(ACCOUNT_NAME)
  account?: string;
}

const EXAMPLES = {
  all: { summary: 'Everything', value: { reason: 'a key may be stolen' } },
  chain: { summary: 'One chain', value: { chainId: 31337, reason: 'its bridge was attacked' } },
  signer: {
    summary: 'One signer',
    value: { chainId: 31337, signer: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266', reason: 'key rotation' },
  },
  account: { summary: 'One account', value: { account: 'shop', reason: 'its key was stolen' } },
};

/** Of a chain, an address and an account; 0 and nothing stand for every one. */
const CURSOR = /^\d{1,15}:(0x[0-9a-f]{40})?:([A-Za-z0-9][A-Za-z0-9._-]{0,99})?$/;

interface ScopeText {
  readonly chainId?: number | null;
  readonly signer?: string | null;
  readonly account?: string | null;
}

class StopPageDto {
  @ApiProperty({ type: [PauseDto] }) items!: readonly PauseDto[];
  @ApiProperty({ type: String, nullable: true, example: null }) nextCursor!: string | null;
}

@ApiTags('signers')
@Controller('api/v1')
export class StopsController {
  constructor(
    private readonly pauseSigner: PauseSigner,
    private readonly resumeSigner: ResumeSigner,
    private readonly pauses: SignerPauses,
    private readonly accounts: Accounts,
  ) {}

  @Post('stop')
  @Scope('signers:admin')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'stopSigners',
    summary: 'Stop a signer, an account, a chain or everything',
    description:
      'After the answer no node gives a new nonce: what is PENDING waits with subState SIGNER_PAUSED, and requests are still stored. What was sent is ' +
      'watched, sent again as it is, and can be cancelled; higher prices, replaces and speed-ups wait. A second stop of the same changes nothing. Any node can answer. A key that is limited to signers or chains stops only these. ' +
      `Of a stopped account they wait with subState ACCOUNT_STOPPED, and other accounts that use the same signers go on. For an account: ${OPERATORS_ONLY}`,
  })
  @ApiBody({ type: StopRequestDto, examples: EXAMPLES })
  @ApiResponse({ status: 200, type: PauseDto })
  async stop(@Body() body: StopRequestDto, @Req() request: FastifyRequest): Promise<PauseDto> {
    const scope = await this.scopeOf(body, request);
    const order = pauseOrderOf('stopSigners', request, body);
    return pauseView(await this.pauseSigner.execute(scope, order), callerOf(request));
  }

  @Post('go')
  @Scope('signers:admin')
  @HttpCode(204)
  @ApiOperation({
    operationId: 'endStop',
    summary: 'End a stop',
    description:
      'Name the same chainId and signer, or account, as the stop. Stops are counted one by one: a signer goes on when the last one that holds for it has ended.',
  })
  @ApiBody({ type: StopRequestDto, examples: EXAMPLES })
  @ApiResponse({ status: 204, description: 'It is ended, or there was none' })
  async go(@Body() body: StopRequestDto, @Req() request: FastifyRequest): Promise<void> {
    await this.resumeSigner.execute(await this.scopeOf(body, request), pauseOrderOf('endStop', request, body));
  }

  @Get('stops')
  @Scope('tx:read')
  @ApiOperation({
    operationId: 'listStops',
    summary: 'List stops and pauses that are in force',
    description:
      'Those of every chain first. A pause of one signer is a stop, too. Only those that hold for a signer that the caller may use, and of stops of accounts that of its own; ' +
      'callers of the account `default` with `signers:admin` see all of these.',
  })
  @ApiResponse({ status: 200, type: StopPageDto })
  async list(@Query() query: PageQueryDto, @Req() request: FastifyRequest): Promise<Page<PauseDto>> {
    const caller = callerOf(request);
    const limit = query.limit ?? DEFAULT_PAGE_ITEMS;
    const after = query.cursor === undefined ? null : placeOf(query.cursor);
    const found = await this.pauses.list(after, limit + 1, caller.only, stopsSeenBy(caller));
    return pageOf(
      found.map((pause) => pauseView(pause, caller)),
      limit,
      ({ chainId, signer, account }) => encodeCursor(`${chainId ?? 0}:${signer ?? ''}:${account ?? ''}`),
    );
  }

  /** @throws Forbidden `operators_only` for an account */
  private async scopeOf(body: ScopeText, request: FastifyRequest): Promise<PauseScope> {
    if (body.account == null) return signersOf(body, callerOf(request));
    operatorOf(request);
    if (body.chainId != null || body.signer != null)
      throw new InvalidInput('account_or_signers', 'a stop is of an account or of signers', 'send two stops');
    const { id, name } = await this.accounts.find(body.account);
    return { chainId: null, address: null, account: { id, name } };
  }
}

/** @throws Forbidden `outside_limits` for more than the caller may use: a stop of all, or of an address on all chains, is for callers without limits */
function signersOf({ chainId = null, signer }: ScopeText, { only }: Caller): PauseScope {
  const address = signer == null ? null : clientAddress(signer, chainId);
  const stopped = chainId === null ? NO_LIMITS : limitedTo(address === null ? null : [{ chainId, address }], [chainId]);
  if (!isWithin(stopped, only)) throw outsideLimits('the stop is');
  return { chainId, address };
}

function placeOf(cursor: string): PausePlace {
  const [chainId, address = '', account = ''] = decodeCursor(cursor, CURSOR).split(':');
  return { chainId: Number(chainId), address: address === '' ? null : clientAddress(address), account };
}
