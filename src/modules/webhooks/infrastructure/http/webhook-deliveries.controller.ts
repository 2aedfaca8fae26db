import { Body, Controller, Get, HttpCode, Param, Post, Query, Req } from '@nestjs/common';
import { ApiBody, ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { AuditLog } from '../../../../kernel/audit-log.js';
import type { Caller } from '../../../../kernel/caller.js';
import { InvalidInput, TooMany } from '../../../../kernel/errors.js';
import { parseTime } from '../../../../kernel/time.js';
import { pageOf } from '../../../../platform/http/page-cursor.js';
import { DEFAULT_PAGE_ITEMS } from '../../../../platform/http/page-query.dto.js';
import { callerOf, Scope } from '../../../../platform/http/scope.js';
import { OneEach } from '../../../../platform/scheduling/one-each.js';
import { EventBell, eventId } from '../../../events/index.js';
import { type Replayed, ReplayRange } from '../../application/replay-range.js';
import { enabledWebhook, knownWebhook } from '../../application/unknown-webhook.js';
import { DeliveryLog } from '../../domain/delivery-log.js';
import type { WebhookEndpoint } from '../../domain/webhook-endpoint.js';
import { WebhookEndpoints } from '../../domain/webhook-endpoints.js';
import {
  DeliveryDto,
  DeliveryListQueryDto,
  DeliveryPageDto,
  DeliveryWithBodyDto,
  ReplayDto,
  ReplayedDto,
  deliveryView,
  deliveryViewWithBody,
} from './delivery.dto.js';
import { cursorPosition, endpointIdOf, eventPositionOf, unknownDelivery } from './webhook-ids.js';
import { REPLAY_EXAMPLES } from './webhook.examples.js';

const MOST_REPLAYED = 10_000;
/** At this node: each takes a connection of the database that lanes need, too. */
const MOST_AT_ONCE = 2;

@ApiTags('webhooks')
@Controller('api/v1/webhooks/:id')
export class WebhookDeliveriesController {
  private readonly replays = new OneEach(MOST_AT_ONCE);

  constructor(
    private readonly endpoints: WebhookEndpoints,
    private readonly deliveries: DeliveryLog,
    private readonly replayRange: ReplayRange,
    private readonly bell: EventBell,
    private readonly audit: AuditLog,
  ) {}

  @Get('deliveries')
  @Scope('webhooks:admin')
  @ApiOperation({
    operationId: 'listWebhookDeliveries',
    summary: 'List the deliveries of a webhook endpoint, newest first',
    description:
      'Each with its state, its tries, and what the receiver answered last. Delivered ones are kept for 7 days, dead ones for 30.',
  })
  @ApiResponse({ status: 200, type: DeliveryPageDto })
  async list(
    @Param('id') id: string,
    @Query() query: DeliveryListQueryDto,
    @Req() request: FastifyRequest,
  ): Promise<DeliveryPageDto> {
    const { status = null, cursor, limit = DEFAULT_PAGE_ITEMS } = query;
    const endpoint = await this.endpointOf(id, request);
    const found = await this.deliveries.list(endpoint.id, status, cursorPosition(cursor), limit + 1);
    return pageOf(found.map(deliveryView), limit, ({ eventId }) => eventId);
  }

  @Get('deliveries/:eventId')
  @Scope('webhooks:admin')
  @ApiOperation({
    operationId: 'getWebhookDelivery',
    summary: 'Get a delivery with its body',
    description: 'Shows what is posted, and what the receiver answered last.',
  })
  @ApiResponse({ status: 200, type: DeliveryWithBodyDto })
  async find(
    @Param('id') id: string,
    @Param('eventId') event: string,
    @Req() request: FastifyRequest,
  ): Promise<DeliveryWithBodyDto> {
    const endpoint = await this.endpointOf(id, request);
    const found = await this.deliveries.find(endpoint.id, eventPositionOf(event));
    if (found === null) throw unknownDelivery(event);
    return deliveryViewWithBody(found);
  }

  @Post('deliveries/:eventId/replay')
  @Scope('webhooks:admin')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'replayWebhookDelivery',
    summary: 'Send a delivery again',
    description: 'One that waits is sent now.',
  })
  @ApiResponse({ status: 200, type: DeliveryDto })
  async replayOne(
    @Param('id') id: string,
    @Param('eventId') event: string,
    @Req() request: FastifyRequest,
  ): Promise<DeliveryDto> {
    const endpoint = enabledWebhook(id, await this.endpointOf(id, request));
    const position = eventPositionOf(event);
    if (!(await this.deliveries.replay(endpoint.id, position, callerOf(request)))) throw unknownDelivery(event);
    this.bell.ring();
    return this.find(id, event, request);
  }

  @Post('replay')
  @Scope('webhooks:admin')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'replayWebhookDeliveries',
    summary: 'Send many deliveries again',
    description:
      'All that are dead, or all events of a time that the endpoint wants, also those that it never got because it was disabled: they are read from the ' +
      'event log. About 10,000 at once, of 50,000 rows of the log: while `hasMore` is true, send the request again with `cursor`, even if nothing was replayed.',
  })
  @ApiBody({ type: ReplayDto, examples: REPLAY_EXAMPLES })
  @ApiResponse({ status: 200, type: ReplayedDto })
  async replay(@Param('id') id: string, @Body() body: ReplayDto, @Req() request: FastifyRequest): Promise<ReplayedDto> {
    const endpoint = enabledWebhook(id, await this.endpointOf(id, request));
    const replay = this.replays.run(endpoint.id, () => this.replayMany(endpoint.id, callerOf(request), body));
    if (replay === null) {
      throw new TooMany(
        'too_many_replays',
        `a replay of this endpoint runs, or ${MOST_AT_ONCE} others do at this node`,
        'send one after the other',
      );
    }
    const { replayed, hasMore, next } = await replay;
    if (replayed > 0) this.bell.ring();
    return { replayed, hasMore, nextCursor: next && eventId(next) };
  }

  private async replayMany(id: string, caller: Caller, { status, since, until, cursor }: ReplayDto): Promise<Replayed> {
    if ((status == null) === (since == null)) {
      throw new InvalidInput(
        'invalid_replay',
        'a replay needs either status or since',
        'send {"status":"dead"} or since',
      );
    }
    if (since == null) {
      const replayed = await this.deliveries.replayDead(id, MOST_REPLAYED, caller);
      return { replayed, hasMore: replayed === MOST_REPLAYED, next: null };
    }
    const range = { since: parseTime(since), until: until == null ? new Date() : parseTime(until) };
    const position = cursorPosition(cursor ?? undefined);
    const action = 'replayWebhookDeliveries';
    // It takes several transactions, so before them.
    await this.audit.record({ by: caller, action, object: `webhook:${id}`, detail: { since, until: range.until } });
    return this.replayRange.execute(id, caller, range, position, MOST_REPLAYED);
  }

  private async endpointOf(text: string, request: FastifyRequest): Promise<WebhookEndpoint> {
    const id = endpointIdOf(text);
    return knownWebhook(id, await this.endpoints.find(id, callerOf(request)));
  }
}
