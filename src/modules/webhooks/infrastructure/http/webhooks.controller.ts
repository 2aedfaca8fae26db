import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Req } from '@nestjs/common';
import { ApiBody, ApiNoContentResponse, ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { AuditLog } from '../../../../kernel/audit-log.js';
import { pageOf } from '../../../../platform/http/page-cursor.js';
import { DEFAULT_PAGE_ITEMS, PageQueryDto } from '../../../../platform/http/page-query.dto.js';
import { callerOf, Scope } from '../../../../platform/http/scope.js';
import { ChangeEndpoint } from '../../application/change-endpoint.js';
import { CreateEndpoint } from '../../application/create-endpoint.js';
import { RotateSecret } from '../../application/rotate-secret.js';
import { TestEndpoint } from '../../application/test-endpoint.js';
import { knownWebhook, unknownWebhook } from '../../application/unknown-webhook.js';
import { WebhookEndpoints } from '../../domain/webhook-endpoints.js';
import { toChange, toSettings, toView } from './to-webhook.js';
import { endpointCursor, endpointIdOf } from './webhook-ids.js';
import {
  ChangeWebhookDto,
  CreateWebhookDto,
  RotateSecretDto,
  TestAnswerDto,
  WebhookDto,
  WebhookPageDto,
  WebhookWithSecretDto,
} from './webhook.dto.js';
import { CHANGE_EXAMPLES, CREATE_EXAMPLES, ROTATE_EXAMPLES } from './webhook.examples.js';

const DEFAULT_KEEP_HOURS = 24;
const HOUR_MS = 3_600_000;

@ApiTags('webhooks')
@Controller('api/v1/webhooks')
export class WebhooksController {
  constructor(
    private readonly endpoints: WebhookEndpoints,
    private readonly createEndpoint: CreateEndpoint,
    private readonly changeEndpoint: ChangeEndpoint,
    private readonly rotateSecret: RotateSecret,
    private readonly testEndpoint: TestEndpoint,
    private readonly audit: AuditLog,
  ) {}

  @Post()
  @Scope('webhooks:admin')
  @ApiOperation({
    operationId: 'createWebhook',
    summary: 'Create a webhook endpoint',
    description:
      'It gets every event that is committed after the answer. Posts are signed as Standard Webhooks says, with the secret that only this answer shows.',
  })
  @ApiBody({ type: CreateWebhookDto, examples: CREATE_EXAMPLES })
  @ApiResponse({ status: 201, type: WebhookWithSecretDto })
  async create(@Body() body: CreateWebhookDto, @Req() request: FastifyRequest): Promise<WebhookWithSecretDto> {
    const { endpoint, secret } = await this.createEndpoint.execute(toSettings(body), callerOf(request));
    return { ...toView(endpoint), secret };
  }

  @Get()
  @Scope('webhooks:admin')
  @ApiOperation({
    operationId: 'listWebhooks',
    summary: 'List webhook endpoints, newest first',
    description: 'Without their secrets. Deleted endpoints are not listed.',
  })
  @ApiResponse({ status: 200, type: WebhookPageDto })
  async list(
    @Query() { cursor, limit = DEFAULT_PAGE_ITEMS }: PageQueryDto,
    @Req() request: FastifyRequest,
  ): Promise<WebhookPageDto> {
    const found = await this.endpoints.list(endpointCursor(cursor), limit + 1, callerOf(request));
    return pageOf(found.map(toView), limit, ({ id }) => id);
  }

  @Get(':id')
  @Scope('webhooks:admin')
  @ApiOperation({
    operationId: 'getWebhook',
    summary: 'Get a webhook endpoint',
    description: 'Without its secret. Says whether it is disabled or failing, and since when.',
  })
  @ApiResponse({ status: 200, type: WebhookDto })
  async find(@Param('id') text: string, @Req() request: FastifyRequest): Promise<WebhookDto> {
    const id = endpointIdOf(text);
    return toView(knownWebhook(id, await this.endpoints.find(id, callerOf(request))));
  }

  @Patch(':id')
  @Scope('webhooks:admin')
  @ApiOperation({
    operationId: 'updateWebhook',
    summary: 'Change a webhook endpoint',
    description: 'What is left out stays as it is.',
  })
  @ApiBody({ type: ChangeWebhookDto, examples: CHANGE_EXAMPLES })
  @ApiResponse({ status: 200, type: WebhookDto })
  async change(
    @Param('id') id: string,
    @Body() body: ChangeWebhookDto,
    @Req() request: FastifyRequest,
  ): Promise<WebhookDto> {
    return toView(await this.changeEndpoint.execute(endpointIdOf(id), toChange(body), callerOf(request)));
  }

  @Delete(':id')
  @Scope('webhooks:admin')
  @HttpCode(204)
  @ApiOperation({
    operationId: 'deleteWebhook',
    summary: 'Delete a webhook endpoint',
    description: 'Nothing is sent to it any more. Its deliveries are deleted, too.',
  })
  @ApiNoContentResponse()
  async remove(@Param('id') text: string, @Req() request: FastifyRequest): Promise<void> {
    const id = endpointIdOf(text);
    if (!(await this.endpoints.remove(id, callerOf(request)))) throw unknownWebhook(id);
  }

  @Post(':id/rotate-secret')
  @Scope('webhooks:admin')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'rotateWebhookSecret',
    summary: 'Make a new secret for a webhook endpoint',
    description:
      'The secret of now signs, too, until `keepOldHours` have passed, and those of earlier rotations, up to five, until their own ends. 0 ends them all at once.',
  })
  @ApiBody({ type: RotateSecretDto, examples: ROTATE_EXAMPLES })
  @ApiResponse({ status: 200, type: WebhookWithSecretDto })
  async rotate(
    @Param('id') id: string,
    @Body() body: RotateSecretDto,
    @Req() request: FastifyRequest,
  ): Promise<WebhookWithSecretDto> {
    const keepMs = (body.keepOldHours ?? DEFAULT_KEEP_HOURS) * HOUR_MS;
    const { endpoint, secret } = await this.rotateSecret.execute(endpointIdOf(id), keepMs, callerOf(request));
    return { ...toView(endpoint), secret };
  }

  @Post(':id/test')
  @Scope('webhooks:admin')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'testWebhook',
    summary: 'Send a test event to a webhook endpoint',
    description:
      'Sends one event of type `webhook.test` now and answers with what the receiver said. It is not repeated.',
  })
  @ApiResponse({ status: 200, type: TestAnswerDto })
  async test(@Param('id') text: string, @Req() request: FastifyRequest): Promise<TestAnswerDto> {
    const [id, by] = [endpointIdOf(text), callerOf(request)];
    const record = () => this.audit.record({ by, action: 'testWebhook', object: `webhook:${id}` });
    const { status, body, error, durationMs } = await this.testEndpoint.execute(id, by, record);
    return { status, body, error, durationMs };
  }
}
