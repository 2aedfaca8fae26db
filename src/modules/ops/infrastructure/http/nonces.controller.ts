import { Controller, Get, Param, Query, Req } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { toJsonInteger } from '../../../../kernel/quantities.js';
import type { SignerId } from '../../../../kernel/signer-id.js';
import { decodeCursor, encodeCursor } from '../../../../platform/http/page-cursor.js';
import { DEFAULT_PAGE_ITEMS } from '../../../../platform/http/page-query.dto.js';
import { nonceOfPath, signerOfPath } from '../../../../platform/http/path-params.js';
import { callerOf, Scope } from '../../../../platform/http/scope.js';
import { FindNonce } from '../../application/find-nonce.js';
import { ListNonces } from '../../application/list-nonces.js';
import type { SequenceView } from '../../application/nonce-standing.js';
import type { SlotView } from '../../application/slot-queries.js';
import { type NonceDto, NonceListDto, NonceReportDto, NoncesQueryDto } from './nonces.dto.js';

@ApiTags('signers')
@Controller('api/v1/signers/:chainId/:address/nonces')
export class NoncesController {
  constructor(
    private readonly nonces: ListNonces,
    private readonly one: FindNonce,
  ) {}

  @Get()
  @Scope('tx:read')
  @ApiOperation({
    operationId: 'listNonces',
    summary: 'List the nonces of a signer, the highest first',
    description:
      'With the cursor, and what the chain says: what is in flight, what was used, also by foreign transactions, and what is missing. With `status` a page looks ' +
      'through 1,000 nonces, so it may have fewer items than `limit`, even none; `nextCursor` leads on.',
  })
  @ApiResponse({ status: 200, type: NonceListDto })
  async list(
    @Param('chainId') chainId: string,
    @Param('address') address: string,
    @Query() { status, cursor, limit = DEFAULT_PAGE_ITEMS }: NoncesQueryDto,
    @Req() request: FastifyRequest,
  ): Promise<NonceListDto> {
    const caller = callerOf(request);
    const signer = signerOfPath(chainId, address, caller);
    const filter = {
      limit,
      ...(status === undefined ? {} : { status }),
      ...(cursor === undefined ? {} : { below: BigInt(decodeCursor(cursor, /^\d{1,18}$/)) }),
    };
    const { items, nextBelow, ...sequence } = await this.nonces.execute(signer, filter, caller);
    return {
      ...toSequence(signer, sequence),
      items: items.map(toDto),
      nextCursor: nextBelow === null ? null : encodeCursor(nextBelow.toString()),
    };
  }

  @Get(':nonce')
  @Scope('tx:read')
  @ApiOperation({
    operationId: 'getNonce',
    summary: 'Get one nonce of a signer',
    description: 'Who has it, everything that was signed with it, and the transaction on the chain that used it.',
  })
  @ApiResponse({ status: 200, type: NonceReportDto })
  async get(
    @Param('chainId') chainId: string,
    @Param('address') address: string,
    @Param('nonce') text: string,
    @Req() request: FastifyRequest,
  ): Promise<NonceReportDto> {
    const caller = callerOf(request);
    const signer = signerOfPath(chainId, address, caller);
    const nonce = nonceOfPath(text);
    const { slot, attempts, onChain, ...sequence } = await this.one.execute(signer, nonce, caller);
    return {
      ...toSequence(signer, sequence),
      nonce: toJsonInteger(nonce),
      slot: slot && toDto(slot),
      attempts: attempts.map(({ createdAt, lastSentAt, ...rest }) => ({
        ...rest,
        createdAt: createdAt.toISOString(),
        lastSentAt: lastSentAt?.toISOString() ?? null,
      })),
      onChain: onChain && {
        txHash: onChain.txHash,
        blockNumber: onChain.block?.number ?? null,
        blockHash: onChain.block?.hash ?? null,
      },
    };
  }
}

function toSequence(signer: SignerId, { cursor, chain, missing }: SequenceView) {
  return {
    ...signer,
    cursor: cursor === null ? null : toJsonInteger(cursor),
    chain: chain && { latest: toJsonInteger(chain.latest), pending: toJsonInteger(chain.pending) },
    missing: missing && { from: toJsonInteger(missing.from), count: missing.count },
  };
}

function toDto({ nonce, since, status, use, txId, state, txHash }: SlotView): NonceDto {
  return { nonce: toJsonInteger(nonce), status, use, txId, state, txHash, since: since.toISOString() };
}
