import { Controller, Get, Param, Req } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { chainOfPath } from '../../../../platform/http/path-params.js';
import { callerOf, Scope } from '../../../../platform/http/scope.js';
import { QuoteFees } from '../../application/quote-fees.js';
import { ChainFeesDto, toChainFees } from './fees.dto.js';

@ApiTags('chains')
@Controller('api/v1/chains/:chainId')
export class FeesController {
  constructor(private readonly quotes: QuoteFees) {}

  @Get('fees')
  @Scope('tx:read')
  @ApiParam({ name: 'chainId', type: Number, example: 31337 })
  @ApiOperation({
    operationId: 'getChainFees',
    summary: 'Get the fees that a chain asks for now',
    description:
      'For each speed, the fees that the next transaction without fees of its own would offer. They are read at most once per block.',
  })
  @ApiResponse({ status: 200, type: ChainFeesDto })
  async fees(@Param('chainId') chainId: string, @Req() request: FastifyRequest): Promise<ChainFeesDto> {
    return toChainFees(await this.quotes.execute(chainOfPath(chainId, callerOf(request))));
  }
}
