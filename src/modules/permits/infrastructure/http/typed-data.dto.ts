import { ApiProperty } from '@nestjs/swagger';
import { IsObject, Matches } from 'class-validator';
import type { TypedData } from '../../../../platform/crypto/typed-data.js';

const TYPE_NAME = /^[A-Za-z_$][\w$]{0,99}$/;
const TOKEN = '0x5fbdb2315678afecb367f032d93f642f64180aa3';
const OWNER = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266';
const SPENDER = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8';

const DOMAIN = { name: 'Token', version: '1', chainId: 31337, verifyingContract: TOKEN };
const TYPES = {
  Permit: [
    { name: 'owner', type: 'address' },
    { name: 'spender', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'nonce', type: 'uint256' },
    { name: 'deadline', type: 'uint256' },
  ],
};
const MESSAGE = { owner: OWNER, spender: SPENDER, value: '1000', nonce: 0, deadline: 1_800_000_000 };

export class SignTypedDataDto {
  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    example: DOMAIN,
    description: 'With the chainId of the signer',
  })
  @IsObject()
  domain!: TypedData['domain'];

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    example: TYPES,
    description: 'Fields by type, at most 8 types; EIP712Domain may be left out',
  })
  @IsObject()
  types!: TypedData['types'];

  @ApiProperty({ example: 'Permit', pattern: TYPE_NAME.source })
  @Matches(TYPE_NAME, { message: 'primaryType must be the name of a type' })
  primaryType!: string;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    example: MESSAGE,
    description: 'The fields of the types, and no others. Numbers above 2^53 as text',
  })
  @IsObject()
  message!: Record<string, unknown>;
}

export const SIGN_TYPED_DATA_EXAMPLES = {
  permit: {
    summary: 'A permit of a token (EIP-2612)',
    value: { domain: DOMAIN, types: TYPES, primaryType: 'Permit', message: MESSAGE },
  },
};

export class SignedTypedDataDto {
  @ApiProperty({ example: `0x${'ab'.repeat(32)}`, description: 'What was signed' }) digest!: string;
  @ApiProperty({ example: `0x${'cd'.repeat(64)}1b`, description: '65 bytes: r, s and v' }) signature!: string;
  @ApiProperty({ example: `0x${'cd'.repeat(32)}` }) r!: string;
  @ApiProperty({ example: `0x${'cd'.repeat(32)}` }) s!: string;
  @ApiProperty({ type: 'integer', minimum: 27, maximum: 28, example: 27 }) v!: number;
}
