import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, IsInt, IsObject, IsOptional, Max, Min } from 'class-validator';
import { ApiJsonInteger } from '../../../../platform/http/json-integer.js';
import { TX_STATES, type TxState } from '../../../ledger/index.js';
import { IsRequestId } from './request-id.js';

export const DEFAULT_TTL_SECONDS = 300;
const [LEAST_TTL_SECONDS, MOST_TTL_SECONDS] = [10, 86_400];
export const MOST_NONCES = 100;

/** Seconds for which a hold lasts. */
export function IsTtl(): PropertyDecorator {
  return applyDecorators(IsInt(), Min(LEAST_TTL_SECONDS), Max(MOST_TTL_SECONDS));
}

export class ReserveNoncesDto {
  @ApiPropertyOptional({
    description:
      'Idempotency key, unique per account and signer among transactions and holds; can be sent as the Idempotency-Key header instead. A repeated request gets ' +
      'the same nonces',
    example: 'relayer-batch-17',
  })
  @IsOptional()
  @IsRequestId()
  requestId?: string;

  @ApiPropertyOptional({ default: 1, description: 'How many nonces' })
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(MOST_NONCES)
  count?: number;

  @ApiPropertyOptional({
    default: DEFAULT_TTL_SECONDS,
    example: 600,
    description:
      'Seconds until a nonce that was not used is given back. It is given back only when the chain waits for just this nonce, and no endpoint and no pool has a transaction with it',
  })
  @IsOptional()
  @IsTtl()
  ttl?: number;

  @ApiPropertyOptional({
    default: false,
    description:
      'The transactions go through pools that Lockstep cannot see. Then there is no end by time: only `consume`, `release` or the chain end the hold. Not together with `ttl`',
  })
  @IsOptional()
  @IsBoolean()
  private?: boolean;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    example: { service: 'relayer' },
    description: 'Stored with each hold, and returned with it',
  })
  @IsOptional()
  @IsObject()
  metadata?: object;
}

class HoldDto {
  @ApiProperty({
    example: '019aa2f4-7a1c-7c3e-9a52-3f4d5e6f7a8b',
    description:
      'Names it in `consume`, `release` and `extend`. It is the id of a transaction of kind `hold`, which GET /api/v1/tx/{txId} shows',
  })
  holdId!: string;
  @ApiProperty({
    example: 'relayer-batch-17',
    description: 'Of those after the first of several: with the character U+001F and a number behind it',
  })
  requestId!: string;
  @ApiJsonInteger({
    nullable: true,
    example: 7,
    description:
      'Null while it has none and is PENDING: its signer is paused, has as much in flight as it may, or half of that for outside senders. Repeat the request. It stays null when it ended without one',
  })
  nonce!: number | string | null;
  @ApiProperty({
    enum: TX_STATES,
    enumName: 'TxState',
    example: 'ALLOCATED',
    description:
      'Final are CONFIRMED and FAILED (used; FAILED: reverted), CANCELLED (given back, over and unused, or closed by an operator, and a no-op used the nonce) and DROPPED (over, or refused by a policy, before it had a nonce; ' +
      'or used by what no endpoint names). A repeated request is answered with it, and reserves no other nonce',
  })
  state!: TxState;
  @ApiProperty({
    type: String,
    nullable: true,
    example: null,
    description: 'What was sent with it, as far as is known',
  })
  txHash!: string | null;
  @ApiProperty({
    type: String,
    nullable: true,
    example: '2026-11-21T08:00:00.000Z',
    description: 'Null: it has no end by time',
  })
  expiresAt!: string | null;
}

export class ReservedNoncesDto {
  @ApiProperty({ example: 31337 }) chainId!: number;
  @ApiProperty({ example: '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266' }) address!: string;
  @ApiProperty({
    type: [HoldDto],
    description:
      'As many as were asked for; fewer when something refuses the rest after some were stored: repeat the request. Their nonces are not always in a row',
  })
  holds!: HoldDto[];
}

/** Example bodies in Swagger. */
export const RESERVE_EXAMPLES = {
  one: { summary: 'One nonce for five minutes', value: { requestId: 'relayer-4711' } },
  many: {
    summary: 'Twenty nonces for ten minutes',
    value: { requestId: 'relayer-batch-17', count: 20, ttl: 600, metadata: { service: 'relayer' } },
  },
  private: { summary: 'For a private pool', value: { requestId: 'bundle-9', private: true } },
};
