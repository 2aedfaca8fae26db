import { Controller, Get, Param, Req } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiProperty, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { type ChainInForce, ORIGINS } from '../../../../config/index.js';
import { mayUseChain } from '../../../../kernel/caller.js';
import type { ChainId } from '../../../../kernel/signer-id.js';
import { chainOfPath, unknownChain } from '../../../../platform/http/path-params.js';
import { callerOf, Scope } from '../../../../platform/http/scope.js';
import { ChainProbes } from '../../../chain/index.js';

class OriginDto {
  @ApiProperty({
    enum: ORIGINS,
    enumName: 'ValueOrigin',
    example: 'profile',
    description:
      'The first of these that has a value: the config, the profile of a known chain, its endpoint, the default',
  })
  from!: (typeof ORIGINS)[number];
  @ApiProperty({
    type: String,
    nullable: true,
    example: 'viem/chains 2.57.20',
    description: 'Of a profile: where the value was read, or why it was chosen',
  })
  source!: string | null;
}

class TextInForceDto extends OriginDto {
  @ApiProperty({ type: String, nullable: true, minLength: 1, example: 'Base' }) value!: string | null;
}

class NumberInForceDto extends OriginDto {
  @ApiProperty({ type: Number, nullable: true, example: 2000 }) value!: number | null;
}

class FlagInForceDto extends OriginDto {
  @ApiProperty({ type: Boolean, nullable: true, example: false }) value!: boolean | null;
}

const text = (description: string): PropertyDecorator => ApiProperty({ type: TextInForceDto, description });
const number = (description: string): PropertyDecorator => ApiProperty({ type: NumberInForceDto, description });
const flag = (description: string): PropertyDecorator => ApiProperty({ type: FlagInForceDto, description });

class ChainDto {
  @ApiProperty({ example: 8453 }) chainId!: number;
  @text('For people') name!: TextInForceDto;
  @text('The coin that pays for gas') nativeSymbol!: TextInForceDto;
  @text('A block explorer') explorer!: TextInForceDto;
  @number('Milliseconds between two blocks') blockTimeMs!: NumberInForceDto;
  @number('`chains[].pollInterval`, milliseconds') pollIntervalMs!: NumberInForceDto;
  @number('`chains[].maxLag`, blocks') maxLag!: NumberInForceDto;
  @text('`depth`, or the block tag that makes a transaction final: `safe` or `finalized`') finality!: TextInForceDto;
  @number('With finality `depth`: blocks on top that make a transaction final') confirmations!: NumberInForceDto;
  @text('The least tip of a quote, wei per gas') minPriorityFeePerGas!: TextInForceDto;
  @text('`eip1559`: blocks have a base fee; `legacy`: they have none') feeType!: TextInForceDto;
  @text('`chains[].l1DataFee`: who tells the fee for L1 data, `none` or `optimism`') l1DataFee!: TextInForceDto;
  @number('`chains[].transactionGasCap`: the most gas of one transaction; 0 for no such cap, null when it is not known')
  transactionGasCap!: NumberInForceDto;
  @number(
    '`execution.inFlightStart`: transactions that a signer may have in flight at first, before more or less is learnt',
  )
  inFlightStart!: NumberInForceDto;
  @flag('Whether the chain takes blobs (EIP-4844); null when that is not known') blobs!: FlagInForceDto;
  @flag('Whether the chain takes authorizations (EIP-7702); null when that is not known')
  authorizations!: FlagInForceDto;
}

class ChainListDto {
  @ApiProperty({ type: [ChainDto] }) items!: ChainDto[];
  @ApiProperty({ type: String, nullable: true, example: null, description: 'Always null: all chains are on one page' })
  nextCursor!: null;
}

const ORIGIN =
  'Each value says where it comes from: the config wins over the profile of a known chain, and that over what its endpoint shows.';

@ApiTags('chains')
@Controller('api/v1/chains')
export class ChainsController {
  constructor(private readonly probes: ChainProbes) {}

  @Get()
  @Scope('tx:read')
  @ApiOperation({
    operationId: 'listChains',
    summary: 'List the chains with the values in force',
    description: `Those that the caller may use. ${ORIGIN}`,
  })
  @ApiResponse({ status: 200, type: ChainListDto })
  list(@Req() request: FastifyRequest): ChainListDto {
    const caller = callerOf(request);
    const chains = this.probes.inForce().filter(([chainId]) => mayUseChain(caller, chainId));
    return { items: chains.map(([chainId, chain]) => toDto(chainId, chain)), nextCursor: null };
  }

  @Get(':chainId')
  @Scope('tx:read')
  @ApiParam({ name: 'chainId', type: Number, example: 8453 })
  @ApiOperation({
    operationId: 'getChain',
    summary: 'Get the values in force of one chain',
    description: ORIGIN,
  })
  @ApiResponse({ status: 200, type: ChainDto })
  get(@Param('chainId') path: string, @Req() request: FastifyRequest): ChainDto {
    const chainId = chainOfPath(path, callerOf(request));
    const found = this.probes.inForce().find(([id]) => id === chainId);
    if (found !== undefined) return toDto(...found);
    throw unknownChain(chainId);
  }
}

function toDto(chainId: ChainId, { pollInterval, minPriorityFeePerGas, ...same }: ChainInForce): ChainDto {
  return {
    chainId,
    ...same,
    pollIntervalMs: pollInterval,
    minPriorityFeePerGas: { ...minPriorityFeePerGas, value: minPriorityFeePerGas.value.toString() },
  };
}
