import { Controller, Get, Query, Req } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { isUnlimited, outsideLimits } from '../../../../kernel/caller.js';
import { type AuditEntry, AuditLog } from '../../../../kernel/audit-log.js';
import { parseTime } from '../../../../kernel/time.js';
import { decodeCursor, encodeCursor, pageOf } from '../../../../platform/http/page-cursor.js';
import { DEFAULT_PAGE_ITEMS } from '../../../../platform/http/page-query.dto.js';
import { callerOf, Scope } from '../../../../platform/http/scope.js';
import { accountOf } from '../../domain/api-key.js';
import { AuditEntryDto, AuditPageDto, AuditQueryDto } from './audit.dto.js';

const PLACE = /^\d{1,18}$/;

@ApiTags('audit')
@Controller('api/v1/audit')
export class AuditController {
  constructor(private readonly audit: AuditLog) {}

  @Get()
  @Scope('audit:read')
  @ApiOperation({
    operationId: 'listAuditEntries',
    summary: 'List what administrators did, newest first',
    description:
      'One entry for each request that needed a scope `…:admin`, changed something or sent something, and for each such command of the command line. ' +
      'Those of the account of the caller, and for the account `default` those of all. Only for callers without limits: an entry may be about every signer.',
  })
  @ApiResponse({ status: 200, type: AuditPageDto })
  async list(@Query() query: AuditQueryDto, @Req() request: FastifyRequest): Promise<AuditPageDto> {
    const { cursor, limit = DEFAULT_PAGE_ITEMS, actor = null, action = null, object = null, since, until } = query;
    const before = cursor === undefined ? null : decodeCursor(cursor, PLACE);
    const caller = callerOf(request);
    if (!isUnlimited(caller)) throw outsideLimits('the audit log is');
    const filter = {
      account: accountOf(caller),
      actor,
      action,
      object,
      since: since === undefined ? null : parseTime(since),
      until: until === undefined ? null : parseTime(until),
    };
    const found = await this.audit.list(filter, before, limit + 1);
    const { items, nextCursor } = pageOf(
      found,
      limit,
      ({ seq }) => encodeCursor(seq),
      ({ bytes }) => bytes,
    );
    return { items: items.map(toView), nextCursor };
  }
}

function toView({ seq, at, account, actor, action, object, detail }: AuditEntry): AuditEntryDto {
  return { seq, at: at.toISOString(), account, actor, action, object, detail };
}
