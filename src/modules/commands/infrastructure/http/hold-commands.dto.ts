import { ApiProperty } from '@nestjs/swagger';
import { IsUUID } from 'class-validator';
import { HasChars, IsHash } from '../../../../platform/http/validators.js';
import { IsTtl } from '../../../requests/index.js';
import { CancelTxDto } from './commands.dto.js';

const HOLD_ID = '019aa2f4-7a1c-7c3e-9a52-3f4d5e6f7a8b';
const MOST_REASON_CHARS = 500;
const HASH = `0x${'ab'.repeat(32)}`;

export class HoldCommandDto extends CancelTxDto {
  @ApiProperty({
    example: HOLD_ID,
    description:
      'Of the answer that gave the nonce, or `txId` of the list of nonces: so what comes late is not taken for a word about the next hold of the nonce',
  })
  @IsUUID()
  holdId!: string;
}

export class ConsumeNonceDto extends HoldCommandDto {
  @ApiProperty({ example: HASH, description: 'What was sent with the nonce, or is being sent now' })
  @IsHash()
  txHash!: string;
}

export class ExtendNonceDto extends HoldCommandDto {
  @ApiProperty({
    example: 600,
    description: 'Seconds that the hold lasts from now on, up to a day since it was reserved',
  })
  @IsTtl()
  ttl!: number;
}

export class CloseHoldDto extends HoldCommandDto {
  @ApiProperty({
    minLength: 1,
    maxLength: MOST_REASON_CHARS,
    example: 'the relayer was asked: it lost what it signed',
    description: 'What its sender says of it. For the audit log',
  })
  @HasChars({ min: 1, max: MOST_REASON_CHARS })
  reason!: string;
}

/** Example bodies in Swagger. */
export const CONSUME_EXAMPLES = {
  sent: { summary: 'It was sent', value: { holdId: HOLD_ID, txHash: HASH } },
};

export const RELEASE_EXAMPLES = {
  unused: { summary: 'Nothing was sent with it, and nothing will be', value: { holdId: HOLD_ID } },
};

export const EXTEND_EXAMPLES = {
  longer: { summary: 'Ten minutes more', value: { holdId: HOLD_ID, ttl: 600 } },
};

export const CLOSE_EXAMPLES = {
  lost: {
    summary: 'Its sender lost what it signed',
    value: { holdId: HOLD_ID, reason: 'the relayer was asked: it lost what it signed' },
  },
};
