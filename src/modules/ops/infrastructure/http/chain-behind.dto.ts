import { ApiProperty } from '@nestjs/swagger';
import { ApiJsonInteger } from '../../../../platform/http/json-integer.js';

export const CHAIN_BEHIND =
  'Why nothing of the signer is sent: the chain was reset, or says that fewer nonces are used than were seen final';

class HeadThenDto {
  @ApiProperty({ example: 4711 }) number!: number;
  @ApiProperty({ example: `0x${'ab'.repeat(32)}` }) hash!: string;
}

export class ChainBehindDto {
  @ApiProperty({
    enum: ['CHAIN_RESET', 'LOWER_NONCE'],
    enumName: 'ChainBehindCause',
    example: 'CHAIN_RESET',
    description: 'CHAIN_RESET: the first blocks of the chain are others. LOWER_NONCE: they are the same',
  })
  cause!: string;
  @ApiJsonInteger({ nullable: true, example: 0, description: 'The lowest next nonce that an RPC endpoint told' })
  chainNonce!: number | string | null;
  @ApiJsonInteger({ example: 20, description: 'All nonces below it were seen used in final blocks' })
  usedBelow!: number | string;
  @ApiProperty({ type: HeadThenDto, nullable: true, description: 'The head when the nonce was told' })
  block!: HeadThenDto | null;
  @ApiProperty({ example: '2026-11-26T08:00:00.000Z' }) since!: string;
}
