import { ApiProperty, ApiPropertyOptional, OmitType } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsObject, IsOptional, ValidateNested } from 'class-validator';
import { CreateTxDto, FeesDto, IsRequestId, TxDto } from '../../../requests/index.js';
import { COMMAND_KINDS, COMMAND_STATUSES, type CommandKind, type CommandStatus } from '../../domain/tx-command.js';

const TX_ID = '019aa2f4-7a1c-7c3e-9a52-3f4d5e6f7a8b';

export class CancelTxDto {
  @ApiPropertyOptional({
    description:
      'Idempotency key, unique per account and signer among commands; can be sent as the Idempotency-Key header instead. Without one each call is a command of its own',
    example: 'cancel-invoice-4711',
  })
  @IsOptional()
  @IsRequestId()
  requestId?: string;
}

export class SpeedUpTxDto extends CancelTxDto {
  @ApiPropertyOptional({
    type: FeesDto,
    description:
      'Fees to pay at least, within the caps; what is left out is up to the market. Each is raised by an eighth or more in any case, with blobs to twice or more',
  })
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => FeesDto)
  fees?: FeesDto;
}

/** The new request. Nothing is taken over from the original but its signer and its priority. */
export class ReplaceTxDto extends OmitType(CreateTxDto, ['chainId', 'signer', 'allocate', 'priority'] as const) {}

export class CommandDto {
  @ApiProperty({ example: TX_ID }) commandId!: string;
  @ApiProperty({ example: 'cancel-invoice-4711' }) requestId!: string;
  @ApiProperty({ enum: COMMAND_KINDS, enumName: 'CommandKind', example: 'cancel' }) kind!: CommandKind;
  @ApiProperty({
    enum: COMMAND_STATUSES,
    enumName: 'CommandStatus',
    example: 'QUEUED',
    description: '`QUEUED`: the owner of the signer carries it out within about a second',
  })
  status!: CommandStatus;
  @ApiProperty({
    type: String,
    nullable: true,
    example: null,
    description:
      'Why it was refused, such as a price that is above the caps, or that the balance does not cover where gas is free; else null',
  })
  refusal!: string | null;
  @ApiProperty({ example: TX_ID }) txId!: string;
  @ApiProperty({
    type: String,
    nullable: true,
    example: null,
    description:
      'Of a replace: the transaction with the new payload. It is the same one when that was still PENDING, else a second one',
  })
  replacement!: string | null;
}

export class CommandAnswerDto extends CommandDto {
  @ApiProperty({ type: TxDto, description: 'The transaction, or its replacement, as it is now' }) tx!: TxDto;
}

export class CommandPageDto {
  @ApiProperty({ type: [CommandDto] }) items!: CommandDto[];
  @ApiProperty({ type: String, nullable: true }) nextCursor!: string | null;
}

/** Example bodies in Swagger. */
export const CANCEL_EXAMPLES = {
  once: { summary: 'With an idempotency key', value: { requestId: 'cancel-invoice-4711' } },
  plain: { summary: 'Without one', value: {} },
};

export const SPEED_UP_EXAMPLES = {
  market: { summary: 'The market decides', value: { requestId: 'speed-up-invoice-4711' } },
  fees: {
    summary: 'With fees to pay at least',
    value: { fees: { maxFeePerGas: '60000000000', maxPriorityFeePerGas: '3000000000' } },
  },
};

export const REPLACE_EXAMPLES = {
  transfer: {
    summary: 'Another amount',
    value: {
      requestId: 'invoice-4711-corrected',
      payload: { to: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8', value: '2000000000000000' },
    },
  },
};
