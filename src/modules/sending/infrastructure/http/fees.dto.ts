import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { AttemptFees } from '../../../ledger/index.js';
import type { QuotedFees } from '../../application/quote-fees.js';

const wei = (example: string, description?: string) =>
  ApiProperty({ example, ...(description === undefined ? {} : { description }) });

/** What a first attempt offers: two prices, or one where the chain has no base fee. */
export class SpeedFeesDto {
  @ApiPropertyOptional({ example: '2001500000', description: 'Wei per gas; on chains with a base fee' })
  maxFeePerGas?: string;
  @ApiPropertyOptional({ example: '1500000', description: 'Wei per gas; on chains with a base fee' })
  maxPriorityFeePerGas?: string;
  @ApiPropertyOptional({ example: '3000000000', description: 'Wei per gas; on chains without a base fee' })
  gasPrice?: string;
}

export class SpeedsDto {
  @ApiProperty({ type: SpeedFeesDto }) slow!: SpeedFeesDto;
  @ApiProperty({ type: SpeedFeesDto }) standard!: SpeedFeesDto;
  @ApiProperty({ type: SpeedFeesDto }) fast!: SpeedFeesDto;
  @ApiProperty({ type: SpeedFeesDto }) urgent!: SpeedFeesDto;
}

export class FeeCapsDto {
  @wei('5000000000000', 'Wei per gas; also of a gas price') maxFeePerGas!: string;
  @wei('500000000000', 'Wei per gas') maxPriorityFeePerGas!: string;
  @wei('5000000000000', 'Wei per blob gas') maxFeePerBlobGas!: string;
}

export class ChainFeesDto {
  @ApiProperty({ example: 31337 }) chainId!: number;
  @ApiProperty({ example: 4711, description: 'The block whose fees these are' }) blockNumber!: number;
  @ApiProperty({ example: true, description: 'False on a chain without EIP-1559: its fees are gas prices' })
  hasBaseFee!: boolean;
  @wei('1000000000', 'Of the next block, wei per gas; 0 on a chain without a base fee') baseFeePerGas!: string;
  @ApiProperty({
    type: String,
    nullable: true,
    example: '1',
    description: 'Of the next block, wei per blob gas; null where the chain has no blobs',
  })
  blobBaseFee!: string | null;
  @wei('3000000', '90th percentile of the tips of recent blocks, wei per gas: Lockstep bumps no price that reaches it')
  congestedTip!: string;
  @ApiProperty({ type: SpeedsDto, description: 'What a first attempt would offer now, within the caps of the chain' })
  speeds!: SpeedsDto;
  @ApiProperty({ type: FeeCapsDto, description: '`chains[].fees`; a signer may have lower caps' }) caps!: FeeCapsDto;
}

export function toChainFees({ chainId, quote, caps, speeds }: QuotedFees): ChainFeesDto {
  const { blockNumber, hasBaseFee, baseFeePerGas, blobBaseFee, congestedTip } = quote;
  const shown = (fees: AttemptFees): SpeedFeesDto => toSpeedFees(fees, hasBaseFee);
  return {
    chainId,
    blockNumber,
    hasBaseFee,
    baseFeePerGas: baseFeePerGas.toString(),
    blobBaseFee: blobBaseFee?.toString() ?? null,
    congestedTip: congestedTip.toString(),
    speeds: {
      slow: shown(speeds.slow),
      standard: shown(speeds.standard),
      fast: shown(speeds.fast),
      urgent: shown(speeds.urgent),
    },
    caps: {
      maxFeePerGas: caps.maxFeePerGas.toString(),
      maxPriorityFeePerGas: caps.maxPriorityFeePerGas.toString(),
      maxFeePerBlobGas: caps.maxFeePerBlobGas.toString(),
    },
  };
}

function toSpeedFees({ maxFeePerGas, maxPriorityFeePerGas }: AttemptFees, hasBaseFee: boolean): SpeedFeesDto {
  return hasBaseFee
    ? { maxFeePerGas: maxFeePerGas.toString(), maxPriorityFeePerGas: maxPriorityFeePerGas.toString() }
    : { gasPrice: maxFeePerGas.toString() };
}
