import { Controller, Get, Param, Req } from '@nestjs/common';
import { ApiOperation, ApiProperty, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { signerOfPath } from '../../../../platform/http/path-params.js';
import { callerOf, Scope } from '../../../../platform/http/scope.js';
import { type BalanceReport, SignerBalance } from '../../application/signer-balance.js';

class InFlightDto {
  @ApiProperty({ example: 2 }) count!: number;
  @ApiProperty({
    example: '420000000000000',
    description: 'Values, and all gas and blobs at the highest price that was signed',
  })
  wei!: string;
}

class QueuedDto {
  @ApiProperty({ example: 3 }) count!: number;
  @ApiProperty({ example: '1260000000000000', description: 'Values, and gas and blobs at the present price' })
  wei!: string;
  @ApiProperty({ example: true, description: 'Gas that was not requested counts as the least that is needed' })
  estimated!: true;
  @ApiProperty({ example: false, description: 'Whether only the first 10,000 transactions were counted' })
  cut!: boolean;
}

class SignerBalanceDto {
  @ApiProperty({ example: 31337 }) chainId!: number;
  @ApiProperty({ example: '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266' }) address!: string;
  @ApiProperty({ example: '1000000000000000000', description: 'Wei' }) balance!: string;
  @ApiProperty({ type: InFlightDto }) inFlight!: InFlightDto;
  @ApiProperty({ type: QueuedDto }) queued!: QueuedDto;
  @ApiProperty({ example: '999580000000000000', description: 'What the transactions in flight leave' })
  available!: string;
  @ApiProperty({ example: '0', description: 'What the balance lacks for flight and queue together' }) missing!: string;
  @ApiProperty({ example: '2026-11-21T08:00:00.000Z' }) asOf!: string;
}

@ApiTags('signers')
@Controller('api/v1/signers/:chainId/:address')
export class SignerBalanceController {
  constructor(private readonly balance: SignerBalance) {}

  @Get('balance')
  @Scope('tx:read')
  @ApiOperation({
    operationId: 'getSignerBalance',
    summary: 'Compare the balance of a signer with what its transactions may cost',
    description: 'Asks the chain for the balance now. What the queue may cost is computed at the present price.',
  })
  @ApiResponse({ status: 200, type: SignerBalanceDto })
  async get(
    @Param('chainId') chainId: string,
    @Param('address') address: string,
    @Req() request: FastifyRequest,
  ): Promise<SignerBalanceDto> {
    return toDto(await this.balance.execute(signerOfPath(chainId, address, callerOf(request))));
  }
}

function toDto({
  signer,
  balance,
  inFlight,
  inFlightCount,
  queued,
  available,
  missing,
  at,
}: BalanceReport): SignerBalanceDto {
  return {
    ...signer,
    balance: balance.toString(),
    inFlight: { count: inFlightCount, wei: inFlight.toString() },
    queued: { count: queued.count, wei: queued.wei.toString(), estimated: true, cut: queued.isCut },
    available: available.toString(),
    missing: missing.toString(),
    asOf: at.toISOString(),
  };
}
