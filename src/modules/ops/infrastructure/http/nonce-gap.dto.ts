import { ApiProperty } from '@nestjs/swagger';
import { ApiJsonInteger } from '../../../../platform/http/json-integer.js';

export const NONCE_GAP =
  'Of a signer whose custody is `external`: the lowest nonce that nobody has and that higher ones wait for. Nothing fills it; the next reserve gets it';

export class NonceGapDto {
  @ApiJsonInteger({ example: 8 }) nonce!: number | string;
  @ApiProperty({ example: '2026-11-26T08:00:00.000Z' }) since!: string;
}
