import { Controller, Get, Headers, Query, Req, Res } from '@nestjs/common';
import {
  ApiExtraModels,
  ApiHeader,
  ApiOperation,
  ApiProperty,
  ApiResponse,
  ApiTags,
  getSchemaPath,
} from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { JsonObject } from '../../../../kernel/json.js';
import { EVENT_ID } from '../../../../platform/http/field-formats.js';
import { callerOf, MayLast, Scope } from '../../../../platform/http/scope.js';
import { ListEvents } from '../../application/list-events.js';
import type { EventFilter } from '../../domain/event-filter.js';
import { eventId, type EventPosition } from '../../domain/event-position.js';
import { EVENT_REFERENCE } from '../../domain/event-webhooks.js';
import { bodyOf } from '../../domain/publish.js';
import { EventStreams } from './event-streams.js';
import { EventsQueryDto, filterOf, positionOf } from './events-query.dto.js';

const DEFAULT_LIMIT = 100;
const STREAM = 'text/event-stream';
const PAGE = 'application/json';

class EventPageDto {
  @ApiProperty({
    type: 'array',
    items: EVENT_REFERENCE,
    description: 'In the order of the log',
  })
  items!: JsonObject[];

  @ApiProperty({ example: '1234-56-9', description: 'The next `after`. Also given when there are no items' })
  nextCursor!: string;
}

@ApiTags('events')
@ApiExtraModels(EventPageDto)
@Controller('api/v1/events')
export class EventsController {
  constructor(
    private readonly streams: EventStreams,
    private readonly listEvents: ListEvents,
  ) {}

  @Get()
  @Scope('events:read')
  @MayLast(asksForStream)
  @ApiOperation({
    operationId: 'listEvents',
    summary: 'Follow events as a stream, or read a page of them',
    description:
      'Those of transactions of the account, and of signers. A stream (Server-Sent Events) if `Accept` has `text/event-stream`, or if there is no `after` and `Accept` does not have `application/json`; otherwise ' +
      'a page. Both go on after the event of `Last-Event-ID` or `after` (the header wins), and begin with what happens from now on without either. Events ' +
      'of one transaction come in the order in which they happened. A page without items has a `nextCursor`, too, and a filter that matches little may ' +
      'leave a page empty while there is more: read on until `nextCursor` stays the same.',
  })
  @ApiHeader({
    name: 'Last-Event-ID',
    required: false,
    description: 'The id of the last event that was received; empty like none',
    schema: { type: 'string', pattern: `^$|${EVENT_ID.pattern}` },
  })
  @ApiResponse({
    status: 200,
    description: 'A page, or a stream whose data are events',
    content: { [PAGE]: { schema: { $ref: getSchemaPath(EventPageDto) } }, [STREAM]: { schema: { type: 'string' } } },
  })
  async events(
    @Query() query: EventsQueryDto,
    @Headers('last-event-id') lastEventId: string | undefined,
    @Headers('accept') accept: string | undefined,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const id = idOfPlace(lastEventId, query.after);
    const after = id === undefined ? null : positionOf(id);
    const filter = filterOf(query, callerOf(request));
    if (wantsStream(accept, after !== null)) await this.streams.begin(reply, after, filter);
    else await reply.send(await this.page(after, filter, query.limit ?? DEFAULT_LIMIT));
  }

  private async page(after: EventPosition | null, filter: EventFilter, limit: number): Promise<EventPageDto> {
    const { events, next } = await this.listEvents.execute(after, filter, limit);
    return { items: events.map(bodyOf), nextCursor: eventId(next) };
  }
}

/** Before its place is read: a text that is no place is one here. */
function asksForStream({ headers, query }: FastifyRequest): boolean {
  const { after } = query as { readonly after?: unknown };
  return wantsStream(headers.accept, Boolean(idOfPlace(headers['last-event-id'], after)));
}

/** A browser repeats the URL of its first request, and the header is newer. */
function idOfPlace<Id>(header: Id, after: Id): Id {
  return header || after;
}

function wantsStream(accept = '', hasPlace: boolean): boolean {
  if (accept.includes(STREAM)) return true;
  return !hasPlace && !accept.includes(PAGE);
}
