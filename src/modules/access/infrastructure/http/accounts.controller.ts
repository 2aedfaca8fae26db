import { Body, Controller, Get, HttpCode, Param, Post, Put, Query, Req } from '@nestjs/common';
import { ApiBody, ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { IdGenerator } from '../../../../kernel/id-generator.js';
import { OPERATORS_ONLY, operatorOf } from '../../../../platform/http/operator-of.js';
import { decodeCursor, encodeCursor, pageOf } from '../../../../platform/http/page-cursor.js';
import { DEFAULT_PAGE_ITEMS, PageQueryDto } from '../../../../platform/http/page-query.dto.js';
import { callerOf, Scope } from '../../../../platform/http/scope.js';
import { type Account, ACCOUNT_NAME, type StoredLimits, unknownAccount } from '../../domain/account.js';
import { Accounts } from '../../domain/accounts.js';
import { accountOf } from '../../domain/api-key.js';
import { KeyRefresh } from '../key-refresh.js';
import {
  AccountDto,
  AccountLimitsDto,
  AccountPageDto,
  CREATE_ACCOUNT_EXAMPLES,
  CreateAccountDto,
  LIMITS_EXAMPLES,
} from './account.dto.js';

@ApiTags('accounts')
@Controller('api/v1/accounts')
export class AccountsController {
  constructor(
    private readonly accounts: Accounts,
    private readonly ids: IdGenerator,
    private readonly refresh: KeyRefresh,
  ) {}

  @Post()
  @Scope('keys:admin')
  @ApiOperation({
    operationId: 'createAccount',
    summary: 'Create an account',
    description: `It owns keys, and what is made with them. ${OPERATORS_ONLY}`,
  })
  @ApiBody({ type: CreateAccountDto, examples: CREATE_ACCOUNT_EXAMPLES })
  @ApiResponse({ status: 201, type: AccountDto })
  async create(@Body() body: CreateAccountDto, @Req() request: FastifyRequest): Promise<AccountDto> {
    const { name, limits = null } = body;
    const account = { id: this.ids.next(), name, limits: storedOf(limits) };
    return this.changed(await this.accounts.add(account, operatorOf(request)));
  }

  @Get()
  @Scope('keys:admin')
  @ApiOperation({
    operationId: 'listAccounts',
    summary: 'List accounts, by name',
    description: 'For the account `default` all of them; another one sees itself.',
  })
  @ApiResponse({ status: 200, type: AccountPageDto })
  async list(
    @Query() { cursor, limit = DEFAULT_PAGE_ITEMS }: PageQueryDto,
    @Req() request: FastifyRequest,
  ): Promise<AccountPageDto> {
    const after = cursor === undefined ? null : decodeCursor(cursor, ACCOUNT_NAME);
    const found = await this.accounts.list(after, limit + 1, accountOf(callerOf(request)));
    return pageOf(found.map(toView), limit, ({ name }) => encodeCursor(name));
  }

  @Get(':name')
  @Scope('keys:admin')
  @ApiOperation({
    operationId: 'getAccount',
    summary: 'Get an account',
    description: 'For another account than `default` there is no account but itself.',
  })
  @ApiResponse({ status: 200, type: AccountDto })
  async find(@Param('name') name: string, @Req() request: FastifyRequest): Promise<AccountDto> {
    const account = await this.accounts.find(nameOf(name));
    const visible = accountOf(callerOf(request));
    if (visible !== null && visible !== account.id) throw unknownAccount(name);
    return toView(account);
  }

  @Put(':name/limits')
  @Scope('keys:admin')
  @ApiOperation({
    operationId: 'setAccountLimits',
    summary: 'Set the limits of an account',
    description:
      'In place of those that it has had: what is left out is as the config has it, and null is no limit. In force on every node within seconds. ' +
      OPERATORS_ONLY,
  })
  @ApiBody({ type: AccountLimitsDto, examples: LIMITS_EXAMPLES })
  @ApiResponse({ status: 200, type: AccountDto })
  async setLimits(
    @Param('name') name: string,
    @Body() body: AccountLimitsDto,
    @Req() request: FastifyRequest,
  ): Promise<AccountDto> {
    const account = operatorsAt(name, request);
    return this.changed(await this.accounts.setLimits(account, storedOf(body), callerOf(request)));
  }

  @Post(':name/disable')
  @Scope('keys:admin')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'disableAccount',
    summary: 'Disable an account',
    description:
      'No node takes its keys, or tokens that name it, any more within seconds, and its webhooks get no new events. What was sent goes on. ' +
      OPERATORS_ONLY,
  })
  @ApiResponse({ status: 200, type: AccountDto })
  async disable(@Param('name') name: string, @Req() request: FastifyRequest): Promise<AccountDto> {
    return this.changed(await this.accounts.setDisabled(operatorsAt(name, request), true, callerOf(request)));
  }

  @Post(':name/enable')
  @Scope('keys:admin')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'enableAccount',
    summary: 'Enable an account',
    description: `Its keys can be used again. ${OPERATORS_ONLY}`,
  })
  @ApiResponse({ status: 200, type: AccountDto })
  async enable(@Param('name') name: string, @Req() request: FastifyRequest): Promise<AccountDto> {
    return this.changed(await this.accounts.setDisabled(operatorsAt(name, request), false, callerOf(request)));
  }

  /** It holds at this node when the answer is there; the others have the news a moment later. */
  private async changed(account: Account): Promise<AccountDto> {
    await this.refresh.read();
    return toView(account);
  }
}

/** The name of the account that an operator manages. */
function operatorsAt(name: string, request: FastifyRequest): string {
  operatorOf(request);
  return nameOf(name);
}

/** @throws NotFound `account_not_found` for what cannot be a name */
function nameOf(text: string): string {
  if (!ACCOUNT_NAME.test(text)) throw unknownAccount(text.slice(0, 100));
  return text;
}

/** @returns null for those of the config alone */
function storedOf(limits: AccountLimitsDto | null): StoredLimits | null {
  if (limits === null || Object.keys(limits).length === 0) return null;
  return Object.assign<Record<string, number | null>, AccountLimitsDto>({}, limits);
}

function toView({ id, name, limits, disabledAt, createdAt }: Account): AccountDto {
  return {
    id,
    name,
    limits,
    disabledAt: disabledAt?.toISOString() ?? null,
    createdAt: createdAt.toISOString(),
  };
}
