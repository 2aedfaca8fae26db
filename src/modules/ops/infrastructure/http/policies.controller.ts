import { Body, Controller, Delete, Get, Param, Put, Query, Req } from '@nestjs/common';
import { ApiBody, ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { signerKey } from '../../../../kernel/signer-id.js';
import { clientAddress } from '../../../../platform/http/client-address.js';
import { OPERATORS_ONLY, operatorOf } from '../../../../platform/http/operator-of.js';
import { decodeCursor, decodeSigner, encodeCursor, pageOf } from '../../../../platform/http/page-cursor.js';
import { DEFAULT_PAGE_ITEMS, PageQueryDto } from '../../../../platform/http/page-query.dto.js';
import { signerOfPath } from '../../../../platform/http/path-params.js';
import { Scope } from '../../../../platform/http/scope.js';
import { toPolicy } from '../../../policies/index.js';
import { ChangePolicy } from '../../application/change-policy.js';
import { ReadPolicies } from '../../application/read-policies.js';
import {
  PolicyVersionPageDto,
  policyBytes,
  policyView,
  SeenVersionQueryDto,
  SET_POLICY_EXAMPLES,
  SetPolicyDto,
  SignerPolicyDto,
  SignerPolicyPageDto,
  versionView,
} from './policies.dto.js';

const VERSION = /^\d{1,9}$/;

@ApiTags('policies')
@Controller('api/v1/policies')
export class PoliciesController {
  constructor(
    private readonly read: ReadPolicies,
    private readonly change: ChangePolicy,
  ) {}

  @Get()
  @Scope('policies:admin')
  @ApiOperation({
    operationId: 'listPolicies',
    summary: 'List the policies of signers',
    description: `Of all signers that have one in the config of this node, or had one of the API. ${OPERATORS_ONLY}`,
  })
  @ApiResponse({ status: 200, type: SignerPolicyPageDto })
  async list(
    @Query() { cursor, limit = DEFAULT_PAGE_ITEMS }: PageQueryDto,
    @Req() request: FastifyRequest,
  ): Promise<SignerPolicyPageDto> {
    operatorOf(request);
    const after = cursor === undefined ? null : decodeSigner(cursor);
    const found = await this.read.list(after, limit + 1);
    const page = pageOf(found, limit, ({ signer }) => encodeCursor(signerKey(signer)), policyBytes);
    return { ...page, items: page.items.map(policyView) };
  }

  @Get(':chainId/:address')
  @Scope('policies:admin')
  @ApiOperation({
    operationId: 'getPolicy',
    summary: 'Get the policy of a signer',
    description: `What the config of this node says, and what was set by the API. ${OPERATORS_ONLY}`,
  })
  @ApiResponse({ status: 200, type: SignerPolicyDto })
  async find(
    @Param('chainId') chainId: string,
    @Param('address') address: string,
    @Req() request: FastifyRequest,
  ): Promise<SignerPolicyDto> {
    return policyView(await this.read.find(signerOfPath(chainId, address, operatorOf(request))));
  }

  @Get(':chainId/:address/versions')
  @Scope('policies:admin')
  @ApiOperation({
    operationId: 'listPolicyVersions',
    summary: 'List all that was set by the API for a signer, newest first',
    description: OPERATORS_ONLY,
  })
  @ApiResponse({ status: 200, type: PolicyVersionPageDto })
  async versions(
    @Param('chainId') chainId: string,
    @Param('address') address: string,
    @Query() { cursor, limit = DEFAULT_PAGE_ITEMS }: PageQueryDto,
    @Req() request: FastifyRequest,
  ): Promise<PolicyVersionPageDto> {
    const signer = signerOfPath(chainId, address, operatorOf(request));
    const before = cursor === undefined ? null : Number(decodeCursor(cursor, VERSION));
    const found = await this.read.versions(signer, before, limit + 1);
    const page = pageOf(
      found,
      limit,
      ({ version }) => encodeCursor(`${version}`),
      ({ bytes }) => bytes,
    );
    return { ...page, items: page.items.map(versionView) };
  }

  @Put(':chainId/:address')
  @Scope('policies:admin')
  @ApiOperation({
    operationId: 'setPolicy',
    summary: 'Set the policy of a signer',
    description:
      'In place of what was set before; where the config has a policy too, each must allow a transaction. After the answer no node gives a nonce to what it refuses: ' +
      'that ends FAILED. What has a nonce goes on, and what waits as POLICY_HELD is judged again. Other nodes refuse requests a second later. ' +
      `409 \`policy_changed\` when the version is not the newest. ${OPERATORS_ONLY}`,
  })
  @ApiBody({ type: SetPolicyDto, examples: SET_POLICY_EXAMPLES })
  @ApiResponse({ status: 200, type: SignerPolicyDto })
  async set(
    @Param('chainId') chainId: string,
    @Param('address') address: string,
    @Body() { version, rules }: SetPolicyDto,
    @Req() request: FastifyRequest,
  ): Promise<SignerPolicyDto> {
    const by = operatorOf(request);
    const signer = signerOfPath(chainId, address, by);
    for (const allowed of rules.to ?? []) clientAddress(allowed.address, signer.chainId);
    for (const allowed of rules.typedData ?? [])
      if (allowed.startsWith('0x')) clientAddress(allowed.slice(0, allowed.indexOf('/')), signer.chainId);
    return policyView(await this.change.execute({ signer, policy: toPolicy(rules), version, by }));
  }

  @Delete(':chainId/:address')
  @Scope('policies:admin')
  @ApiOperation({
    operationId: 'withdrawPolicy',
    summary: 'Withdraw the policy of a signer that was set by the API',
    description: `What the config says remains. ${OPERATORS_ONLY}`,
  })
  @ApiResponse({ status: 200, type: SignerPolicyDto })
  async withdraw(
    @Param('chainId') chainId: string,
    @Param('address') address: string,
    @Query() { version }: SeenVersionQueryDto,
    @Req() request: FastifyRequest,
  ): Promise<SignerPolicyDto> {
    const by = operatorOf(request);
    const signer = signerOfPath(chainId, address, by);
    return policyView(await this.change.execute({ signer, policy: null, version, by }));
  }
}
