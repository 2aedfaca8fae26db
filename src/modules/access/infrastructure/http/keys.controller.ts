import { Body, Controller, Get, HttpCode, Param, Post, Query, Req } from '@nestjs/common';
import { ApiBody, ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { AuthConfig } from '../../../../config/lockstep-config.js';
import { type Caller, limitedTo } from '../../../../kernel/caller.js';
import { Conflict } from '../../../../kernel/errors.js';
import type { SignerId } from '../../../../kernel/signer-id.js';
import { parseTime } from '../../../../kernel/time.js';
import { clientAddress } from '../../../../platform/http/client-address.js';
import { invalidCursor, pageOf } from '../../../../platform/http/page-cursor.js';
import { DEFAULT_PAGE_ITEMS, PageQueryDto } from '../../../../platform/http/page-query.dto.js';
import { operatorOf } from '../../../../platform/http/operator-of.js';
import { callerOf, Scope } from '../../../../platform/http/scope.js';
import { CreateKey, type WithKeyText } from '../../application/create-key.js';
import { keyIdOf, prefixOf, shownOf } from '../../application/key-text.js';
import { RotateKey, unknownKey } from '../../application/rotate-key.js';
import { Accounts } from '../../domain/accounts.js';
import { type ApiKey, assertMayGive, type KeyGrant, managerOf } from '../../domain/api-key.js';
import { ApiKeys } from '../../domain/api-keys.js';
import { KeyRefresh } from '../key-refresh.js';
import { CreateKeyDto, KeyDto, KeyPageDto, KeySignerDto, KeyWithTextDto, RotateKeyDto } from './key.dto.js';
import { CREATE_EXAMPLES, ROTATE_EXAMPLES } from './key.examples.js';

const DEFAULT_OVERLAP_S = 86_400;

@ApiTags('keys')
@Controller('api/v1/keys')
export class KeysController {
  constructor(
    private readonly keys: ApiKeys,
    private readonly accounts: Accounts,
    private readonly createKey: CreateKey,
    private readonly rotateKey: RotateKey,
    private readonly refresh: KeyRefresh,
    private readonly config: AuthConfig,
  ) {}

  @Post()
  @Scope('keys:admin')
  @ApiOperation({
    operationId: 'createKey',
    summary: 'Create a key',
    description:
      'Only this answer shows the key. It belongs to the account of the caller, or to the one that it names. It cannot have scopes, signers or chains that the caller does not have, or end later. With both signers and chainIds, both hold.',
  })
  @ApiBody({ type: CreateKeyDto, examples: CREATE_EXAMPLES })
  @ApiResponse({ status: 201, type: KeyWithTextDto })
  async create(@Body() body: CreateKeyDto, @Req() request: FastifyRequest): Promise<KeyWithTextDto> {
    this.assertInUse();
    const caller = callerOf(request);
    if (body.account != null) operatorOf(request);
    const grant = await this.grantOf(body, caller);
    assertMayGive(caller, grant);
    return this.known(await this.createKey.execute(grant, caller));
  }

  @Get()
  @Scope('keys:admin')
  @ApiOperation({
    operationId: 'listKeys',
    summary: 'List keys, newest first',
    description:
      'Those of the account of the caller, and for the account `default` those of all. Without their secrets. Revoked and expired keys are listed, too. A key that is limited to signers or chains sees only those that are limited to no others.',
  })
  @ApiResponse({ status: 200, type: KeyPageDto })
  async list(
    @Query() { cursor, limit = DEFAULT_PAGE_ITEMS }: PageQueryDto,
    @Req() request: FastifyRequest,
  ): Promise<KeyPageDto> {
    const before = cursor === undefined ? null : keyIdOf(cursor);
    if (cursor !== undefined && before === null) throw invalidCursor();
    const found = await this.keys.list(before, limit + 1, managerOf(callerOf(request)));
    return pageOf(found.map(toView), limit, ({ id }) => id);
  }

  @Get(':id')
  @Scope('keys:admin')
  @ApiOperation({ operationId: 'getKey', summary: 'Get a key', description: 'Without its secret.' })
  @ApiResponse({ status: 200, type: KeyDto })
  async find(@Param('id') text: string, @Req() request: FastifyRequest): Promise<KeyDto> {
    const id = idOf(text);
    const key = await this.keys.find(id, managerOf(callerOf(request)));
    if (key === null) throw unknownKey(id);
    return toView(key);
  }

  @Post(':id/rotate')
  @HttpCode(200)
  @Scope('keys:admin')
  @ApiOperation({
    operationId: 'rotateKey',
    summary: 'Make a key that takes the place of another',
    description:
      'The new key may do the same. The old one can be used until `overlapSeconds` have passed: meanwhile both are good. When the answer is lost, rotate ' +
      'again, and revoke the key that nobody knows.',
  })
  @ApiBody({ type: RotateKeyDto, examples: ROTATE_EXAMPLES })
  @ApiResponse({ status: 200, type: KeyWithTextDto })
  async rotate(
    @Param('id') id: string,
    @Body() { overlapSeconds, expiresAt }: RotateKeyDto,
    @Req() request: FastifyRequest,
  ): Promise<KeyWithTextDto> {
    this.assertInUse();
    const rotation = {
      overlapMs: (overlapSeconds ?? DEFAULT_OVERLAP_S) * 1_000,
      expiresAt: expiresAt == null ? undefined : parseTime(expiresAt),
    };
    return this.known(await this.rotateKey.execute(idOf(id), rotation, callerOf(request)));
  }

  @Post(':id/revoke')
  @HttpCode(200)
  @Scope('keys:admin')
  @ApiOperation({
    operationId: 'revokeKey',
    summary: 'Revoke a key',
    description: 'No node takes it any more within seconds, and its streams and long polls end. It stays in the list.',
  })
  @ApiResponse({ status: 200, type: KeyDto })
  async revoke(@Param('id') text: string, @Req() request: FastifyRequest): Promise<KeyDto> {
    const [id, caller] = [idOf(text), callerOf(request)];
    const key = await this.keys.revoke(id, managerOf(caller), caller);
    if (key === null) throw unknownKey(id);
    await this.refresh.read();
    return toView(key);
  }

  private async grantOf(body: CreateKeyDto, caller: Caller): Promise<KeyGrant> {
    const { name, scopes, signers, chainIds, account, expiresAt } = body;
    return {
      name,
      account: account == null ? caller.account : (await this.accounts.find(account)).id,
      scopes: [...new Set(scopes)],
      only: limitedTo(signers?.map(toSigner) ?? null, chainIds ?? null),
      expiresAt: expiresAt == null ? null : parseTime(expiresAt),
    };
  }

  /** This node takes the key when its answer is there; the others have the news a moment later. */
  private async known({ key, text }: WithKeyText): Promise<KeyWithTextDto> {
    await this.refresh.read();
    return { ...toView(key), key: text };
  }

  /** Else whoever reaches the port while nobody is asked would make a key for later. */
  private assertInUse(): void {
    if (this.config.mode === 'apiKeys') return;
    throw new Conflict(
      'keys_not_in_use',
      `this node takes no keys: auth.mode is ${this.config.mode}`,
      'make keys with `lockstep keys create`, or set auth.mode to apiKeys',
    );
  }
}

/** @throws InvalidInput `invalid_checksum` */
function toSigner({ chainId, address }: KeySignerDto): SignerId {
  return { chainId, address: clientAddress(address, chainId) };
}

/** @throws NotFound `key_not_found` for what cannot be an id */
function idOf(text: string): string {
  const id = keyIdOf(text);
  if (id === null) throw unknownKey(shownOf(text));
  return id;
}

function toView(key: ApiKey): Pick<KeyDto, keyof KeyDto> {
  const { id, name, account, scopes, only } = key;
  const { signers, chainIds } = only;
  return {
    id,
    name,
    prefix: prefixOf(id),
    accountId: account,
    scopes,
    signers,
    chainIds,
    expiresAt: key.expiresAt?.toISOString() ?? null,
    revokedAt: key.revokedAt?.toISOString() ?? null,
    lastUsedAt: key.lastUsedAt?.toISOString() ?? null,
    createdAt: key.createdAt.toISOString(),
  };
}
