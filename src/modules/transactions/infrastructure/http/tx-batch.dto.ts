import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsArray } from 'class-validator';
import { ProblemDto } from '../../../../platform/http/problem.dto.js';
import { CreateTxDto } from './create-tx.dto.js';
import { AcceptedTxDto } from './tx-responses.js';

/** A batch is read in one go, at some 20 µs an item: nothing else of this process gets its turn meanwhile. */
export const MAX_BATCH_ITEMS = 1_000;

/** Only what holds the items: each is read by itself, so that a bad one spoils no other. */
export class TxBatchDto {
  @ApiProperty({
    type: [CreateTxDto],
    minItems: 1,
    maxItems: MAX_BATCH_ITEMS,
    description: 'Each as for POST /api/v1/tx, with a requestId of its own and without `allocate: "now"`',
  })
  @IsArray()
  items!: unknown[];
}

export class TxBatchItemDto {
  @ApiProperty({ example: 0, description: 'Position in the request' }) index!: number;
  @ApiProperty({ example: 202, description: 'What POST /api/v1/tx would have answered' }) status!: number;
  @ApiPropertyOptional({ type: AcceptedTxDto, description: 'With status 202 and 200' }) tx?: AcceptedTxDto;
  @ApiPropertyOptional({ type: ProblemDto, description: 'With any other status' }) problem?: ProblemDto;
}

export class TxBatchResultDto {
  @ApiProperty({ type: [TxBatchItemDto], description: 'In the order of the request' }) items!: TxBatchItemDto[];
}
