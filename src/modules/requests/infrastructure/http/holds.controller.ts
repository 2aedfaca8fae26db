import { Body, Controller, Headers, HttpStatus, Param, Post, Req, Res } from '@nestjs/common';
import { ApiBody, ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { InvalidInput } from '../../../../kernel/errors.js';
import type { JsonObject } from '../../../../kernel/json.js';
import { leaveSignal } from '../../../../platform/http/leave-signal.js';
import { signerOfPath } from '../../../../platform/http/path-params.js';
import { callerOf, MayLast, Scope } from '../../../../platform/http/scope.js';
import { toJsonInteger } from '../../../../kernel/quantities.js';
import type { RequestedTx } from '../../../ledger/index.js';
import { ReserveNonces } from '../../application/reserve-nonces.js';
import { DEFAULT_TTL_SECONDS, RESERVE_EXAMPLES, ReservedNoncesDto, ReserveNoncesDto } from './holds.dto.js';
import { ApiIdempotencyKey } from './request-id.js';
import { requestIdOf } from './to-request.js';

/** Of an idempotency key, beside the number of a hold of a batch. */
const MOST_KEY_CHARACTERS = 190;

@ApiTags('nonces')
@Controller('api/v1/signers/:chainId/:address/nonces')
export class HoldsController {
  constructor(private readonly reserve: ReserveNonces) {}

  @Post()
  @Scope('nonces')
  @MayLast(() => true)
  @ApiOperation({
    operationId: 'reserveNonces',
    summary: 'Reserve nonces for a system that signs and sends itself',
    description:
      'They are of the same sequence as those of the transactions that Lockstep sends. It waits up to 5 s for them, and stores the request in any case: a repeated request ' +
      'with the same requestId gets the same nonces. Lockstep signs and sends nothing with them, and finds what was sent by itself; what is behind a nonce waits until ' +
      'it is used or given back.',
  })
  @ApiIdempotencyKey()
  @ApiBody({ type: ReserveNoncesDto, examples: RESERVE_EXAMPLES })
  @ApiResponse({ status: 202, type: ReservedNoncesDto, description: 'Reserved' })
  @ApiResponse({ status: 200, type: ReservedNoncesDto, description: 'The same request was stored before' })
  async run(
    @Param('chainId') chainId: string,
    @Param('address') address: string,
    @Body() body: ReserveNoncesDto,
    @Headers('idempotency-key') key: string | undefined,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ReservedNoncesDto> {
    const left = leaveSignal(reply);
    const sender = callerOf(request);
    const signer = signerOfPath(chainId, address, sender);
    const count = body.count ?? 1;
    const requestId = requestIdOf(body.requestId, key);
    assertFits(requestId, count);
    const input = {
      signer,
      sender,
      requestId,
      count,
      ttl: ttlOf(body),
      metadata: (body.metadata ?? null) as JsonObject | null,
    };
    const { holds, isNew } = await this.reserve.execute(input, left);
    void reply.status(isNew ? HttpStatus.ACCEPTED : HttpStatus.OK);
    return { ...signer, holds: holds.map(toDto) };
  }
}

function assertFits(requestId: string, count: number): void {
  if (count === 1 || requestId.length <= MOST_KEY_CHARACTERS) return;
  throw new InvalidInput(
    'invalid_request_id',
    'requestId has more than 190 characters, and stands for more than one nonce',
    'send up to 190 characters',
  );
}

function ttlOf({ private: isPrivate = false, ttl }: ReserveNoncesDto): number | null {
  if (!isPrivate) return ttl ?? DEFAULT_TTL_SECONDS;
  if (ttl == null) return null;
  throw new InvalidInput(
    'ttl_of_private',
    'a private hold has no end by time, and ttl is there',
    'leave ttl out, or private',
  );
}

function toDto({ tx, request }: RequestedTx): ReservedNoncesDto['holds'][number] {
  const { nonce, txHash } = tx.progress;
  return {
    holdId: tx.id,
    requestId: request.requestId,
    nonce: nonce === null ? null : toJsonInteger(nonce),
    state: tx.state,
    txHash,
    expiresAt: request.expiresAt?.toISOString() ?? null,
  };
}
