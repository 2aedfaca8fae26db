import { Controller, Get, Param } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import { chainOfPath } from '../../../../kernel/signer-id.js';
import { ApiProblems } from '../../../../platform/http/problem.dto.js';
import { QuoteFees } from '../../application/quote-fees.js';
import { ChainFeesDto, toChainFees } from './fees.dto.js';

@ApiTags('operations')
@Controller('api/v1/chains/:chainId')
export class FeesController {
  constructor(private readonly quotes: QuoteFees) {}

  @Get('fees')
  @ApiParam({ name: 'chainId', type: Number, example: 31337 })
  @ApiOperation({
    summary: 'Get the fees that a chain asks for now',
    description:
      'For each speed, the fees that the next transaction without fees of its own would offer. They are read at most once per block.',
  })
  @ApiResponse({ status: 200, type: ChainFeesDto })
  @ApiProblems(
    '/api/v1/chains/31337/fees',
    {
      status: 400,
      code: 'invalid_chain_id',
      detail: 'not a chain id',
      advice: 'send the EIP-155 id of a configured chain',
    },
    {
      status: 422,
      code: 'unknown_chain',
      detail: 'chain 1 is not configured',
      advice: 'use one of: 31337',
    },
    {
      status: 503,
      code: 'rpc_unavailable',
      detail: 'chain 31337, eth_feeHistory: no endpoint answered',
      advice: 'try again; when it lasts, check the RPC endpoints of this chain',
      retryable: true,
    },
  )
  async fees(@Param('chainId') chainId: string): Promise<ChainFeesDto> {
    return toChainFees(await this.quotes.execute(chainOfPath(chainId)));
  }
}
