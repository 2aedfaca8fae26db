import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsInt, IsObject, IsOptional, IsString, Matches, Max, Min, ValidateNested } from 'class-validator';
import { MOST_WAITING_TXS } from '../../../../config/lockstep-config.js';
import { ACCOUNT_NAME } from '../../domain/account.js';

function IsLimit(description: string, maximum = Number.MAX_SAFE_INTEGER): PropertyDecorator {
  const stacked = [
    ApiPropertyOptional({ type: Number, nullable: true, minimum: 1, maximum, description }),
    IsOptional(),
    IsInt(),
    Min(1),
    Max(maximum),
  ];
  return (target, name) => {
    for (const decorator of stacked.reverse()) decorator(target, name);
  };
}

/** Each is at all nodes together. Null: no limit. Left out: what the config says. */
export class AccountLimitsDto {
  @IsLimit('Requests per second; each item of a batch is one')
  requestsPerSecond?: number | null;

  @IsLimit('Of the bodies of requests')
  bytesPerSecond?: number | null;

  @IsLimit('Streams and long polls that are open')
  streams?: number | null;

  @IsLimit(
    'Transactions that wait for a nonce. Not of the account of the operators, `default`: limit its signers',
    MOST_WAITING_TXS,
  )
  waitingTxs?: number | null;

  @IsLimit('Webhook endpoints that it has')
  webhookEndpoints?: number | null;
}

export class CreateAccountDto {
  @ApiProperty({
    example: 'shop',
    description: 'For people, config and tokens. Never changes',
    pattern: ACCOUNT_NAME.source,
  })
  @IsString()
  @Matches(ACCOUNT_NAME)
  name!: string;

  @ApiPropertyOptional({ type: AccountLimitsDto, nullable: true, description: 'Null: what the config says' })
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => AccountLimitsDto)
  limits?: AccountLimitsDto | null;
}

export class AccountDto {
  @ApiProperty({ example: '019aa2f4-7a1c-7c3e-9a52-3f4d5e6f7a8b' }) id!: string;
  @ApiProperty({ example: 'shop' }) name!: string;
  @ApiProperty({
    type: AccountLimitsDto,
    nullable: true,
    description: 'What it has in place of the limits in the config; null of a limit: none',
  })
  limits!: AccountLimitsDto | null;
  @ApiProperty({ type: String, nullable: true, example: null, description: 'No node takes its keys while it is' })
  disabledAt!: string | null;
  @ApiProperty({ example: '2026-11-21T08:00:00.000Z' }) createdAt!: string;
}

export class AccountPageDto {
  @ApiProperty({ type: [AccountDto] }) items!: AccountDto[];
  @ApiProperty({ type: String, nullable: true }) nextCursor!: string | null;
}

export const CREATE_ACCOUNT_EXAMPLES = {
  plain: { summary: 'With the limits of the config', value: { name: 'shop' } },
  limited: {
    summary: 'With limits of its own',
    value: { name: 'shop', limits: { requestsPerSecond: 100, streams: 10 } },
  },
};

export const LIMITS_EXAMPLES = {
  limited: {
    summary: '100 requests per second, any number of streams',
    value: { requestsPerSecond: 100, streams: null },
  },
  none: { summary: 'As the config has it', value: {} },
};
