import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray } from 'class-validator';
import { ProblemDto } from '../../../../platform/http/problem.dto.js';
import { CreateTxDto } from './create-tx.dto.js';
import { AcceptedTxDto } from './tx-responses.js';

export const MAX_BATCH_ITEMS = 1_000;

/** Checks only the list. Each item is parsed by itself, so that a bad item does not affect the others. */
export class TxBatchDto {
  @ApiProperty({
    type: [CreateTxDto],
    minItems: 1,
    maxItems: MAX_BATCH_ITEMS,
    description: 'Bodies as for POST /api/v1/tx, each with its own requestId and without `allocate: "now"`',
  })
  @IsArray()
  @ArrayMaxSize(MAX_BATCH_ITEMS)
  items!: unknown[];
}

export class TxBatchItemDto {
  @ApiProperty({ example: 0, description: 'Position in the request' }) index!: number;
  @ApiProperty({ example: 202, description: 'The status that POST /api/v1/tx would have returned' }) status!: number;
  @ApiPropertyOptional({ type: AcceptedTxDto, description: 'Present with status 202 and 200' }) tx?: AcceptedTxDto;
  @ApiPropertyOptional({ type: ProblemDto, description: 'Present with any other status' }) problem?: ProblemDto;
}

export class TxBatchResultDto {
  @ApiProperty({ type: [TxBatchItemDto], description: 'In the order of the request' }) items!: TxBatchItemDto[];
}
