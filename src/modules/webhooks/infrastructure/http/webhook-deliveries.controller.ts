import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiBody, ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { InvalidInput } from '../../../../kernel/errors.js';
import { ApiProblems } from '../../../../platform/http/problem.dto.js';
import { EventBell, eventId } from '../../../events/index.js';
import { ReplayRange, type Replayed } from '../../application/replay-range.js';
import { enabledWebhook, knownWebhook } from '../../application/unknown-webhook.js';
import type { WebhookEndpoint } from '../../domain/webhook-endpoint.js';
import { DeliveryLog } from '../../domain/delivery-log.js';
import { WebhookEndpoints } from '../../domain/webhook-endpoints.js';
import {
  DeliveryDto,
  DeliveryListQueryDto,
  DeliveryPageDto,
  DeliveryWithBodyDto,
  ReplayDto,
  ReplayedDto,
} from './delivery.dto.js';
import { deliveryView, deliveryViewWithBody } from './to-delivery.js';
import { cursorPosition, endpointIdOf, eventPositionOf, unknownDelivery } from './webhook-ids.js';
import * as problem from './webhook-problems.js';
import { REPLAY_EXAMPLES } from './webhook.examples.js';

const PATH = '/api/v1/webhooks/019aa2f4-7a1c-7c3e-9a52-3f4d5e6f7a8b';
const DEFAULT_PAGE = 50;
const MOST_REPLAYED = 10_000;

@ApiTags('webhooks')
@Controller('api/v1/webhooks/:id')
export class WebhookDeliveriesController {
  constructor(
    private readonly endpoints: WebhookEndpoints,
    private readonly deliveries: DeliveryLog,
    private readonly replayRange: ReplayRange,
    private readonly bell: EventBell,
  ) {}

  @Get('deliveries')
  @ApiOperation({ summary: 'List the deliveries of a webhook endpoint, newest first' })
  @ApiResponse({ status: 200, type: DeliveryPageDto })
  @ApiProblems(`${PATH}/deliveries`, problem.INVALID_CURSOR, problem.UNKNOWN_WEBHOOK, problem.UNAVAILABLE)
  async list(@Param('id') id: string, @Query() query: DeliveryListQueryDto): Promise<DeliveryPageDto> {
    const { status = null, cursor, limit = DEFAULT_PAGE } = query;
    const endpoint = await this.endpointOf(id);
    const found = await this.deliveries.list(endpoint.id, status, cursorPosition(cursor), limit + 1);
    const items = found.slice(0, limit).map(deliveryView);
    return { items, nextCursor: found.length > limit ? (items.at(-1)?.eventId ?? null) : null };
  }

  @Get('deliveries/:eventId')
  @ApiOperation({ summary: 'Get a delivery with its body' })
  @ApiResponse({ status: 200, type: DeliveryWithBodyDto })
  @ApiProblems(`${PATH}/deliveries/7-1-0`, problem.UNKNOWN_WEBHOOK, problem.UNKNOWN_DELIVERY, problem.UNAVAILABLE)
  async find(@Param('id') id: string, @Param('eventId') event: string): Promise<DeliveryWithBodyDto> {
    const endpoint = await this.endpointOf(id);
    const found = await this.deliveries.find(endpoint.id, eventPositionOf(event));
    if (found === null) throw unknownDelivery(event);
    return deliveryViewWithBody(found);
  }

  @Post('deliveries/:eventId/replay')
  @HttpCode(200)
  @ApiOperation({ summary: 'Send a delivery again', description: 'One that waits is sent now.' })
  @ApiBody({ required: false, examples: { plain: { summary: 'No body', value: {} } }, schema: { type: 'object' } })
  @ApiResponse({ status: 200, type: DeliveryDto })
  @ApiProblems(
    `${PATH}/deliveries/7-1-0/replay`,
    problem.UNKNOWN_WEBHOOK,
    problem.UNKNOWN_DELIVERY,
    problem.DISABLED,
    problem.UNAVAILABLE,
  )
  async replayOne(@Param('id') id: string, @Param('eventId') event: string): Promise<DeliveryDto> {
    const endpoint = enabledWebhook(id, await this.endpointOf(id));
    const position = eventPositionOf(event);
    if (!(await this.deliveries.replay(endpoint.id, position))) throw unknownDelivery(event);
    this.bell.ring();
    return this.find(id, event);
  }

  @Post('replay')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Send many deliveries again',
    description:
      'All that are dead, or all events of a time that the endpoint wants, also those that it never got because it was disabled: they are read from the ' +
      'event log. About 10,000 at once.',
  })
  @ApiBody({ type: ReplayDto, examples: REPLAY_EXAMPLES })
  @ApiResponse({ status: 200, type: ReplayedDto })
  @ApiProblems(
    `${PATH}/replay`,
    problem.INVALID_REPLAY,
    problem.INVALID_CURSOR,
    problem.UNKNOWN_WEBHOOK,
    problem.DISABLED,
    problem.UNAVAILABLE,
  )
  async replay(@Param('id') id: string, @Body() body: ReplayDto): Promise<ReplayedDto> {
    const endpoint = enabledWebhook(id, await this.endpointOf(id));
    const { replayed, hasMore, next } = await this.replayMany(endpoint.id, body);
    if (replayed > 0) this.bell.ring();
    return { replayed, hasMore, nextCursor: next && eventId(next) };
  }

  private async replayMany(id: string, { status, since, until, cursor }: ReplayDto): Promise<Replayed> {
    if ((status == null) === (since == null)) {
      throw new InvalidInput(
        'invalid_replay',
        'a replay needs either status or since',
        'send {"status":"dead"} or since',
      );
    }
    if (since == null) {
      const replayed = await this.deliveries.replayDead(id, MOST_REPLAYED);
      return { replayed, hasMore: replayed === MOST_REPLAYED, next: null };
    }
    const range = { since: new Date(since), until: until == null ? new Date() : new Date(until) };
    return this.replayRange.execute(id, range, cursorPosition(cursor ?? undefined), MOST_REPLAYED);
  }

  private async endpointOf(text: string): Promise<WebhookEndpoint> {
    const id = endpointIdOf(text);
    return knownWebhook(id, await this.endpoints.find(id));
  }
}
