import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsIn,
  IsInt,
  IsObject,
  IsOptional,
  Length,
  Matches,
  Max,
  MaxLength,
  Min,
  ValidateNested,
} from 'class-validator';
import { CALL_VALUE } from '../../../../platform/http/call-value.js';
import { IsAddressText, IsHexBytes, IsQuantity, IsTime } from '../../../../platform/http/validators.js';
import { BLOB_BYTES, SPEEDS, type Speed } from '../../../chain/index.js';
import { PERMIT_KINDS, type PermitKind } from '../../../ledger/index.js';
import { IsRequestId } from './request-id.js';

/** EIP-3860 limits init code to 49,152 bytes, and nodes refuse transactions over 128 KiB. */
const MAX_DATA_BYTES = 128 * 1024;
/** In blocks. Each number in use costs one database read per block. */
export const MAX_CONFIRMATIONS = 10_000;
/** EIP-7594 allows no more in one transaction. */
const MAX_BLOBS = 6;
/** Each costs 25,000 gas. */
const MAX_AUTHORIZATIONS = 100;
const MAX_FUNCTION_LENGTH = 500;
const MAX_DOMAIN_TEXT = 100;
const FUNCTION = /^[A-Za-z_$][\w$ ]*\(.*\)/;
/** Arguments, and what is in those that are lists. */
export const MAX_CALL_VALUES = 500;
/** Each is signed by the owner of its signer, and its payload waits for all of them. */
const MAX_PERMITS = 4;
const [SHORTEST_PERMIT_S, LONGEST_PERMIT_S] = [60, 30 * 24 * 3_600];
export const USUAL_PERMIT_S = 3_600;
const EXAMPLE_WORD = `0x${'ab'.repeat(32)}`;
const EXAMPLE_SIGNER = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
const EXAMPLE_TOKEN = '0x5FbDB2315678afecb367f032d93F642f64180aa3';
const EXAMPLE_TO = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

export class AccessListEntryDto {
  @ApiProperty({ example: EXAMPLE_TO })
  @IsAddressText()
  address!: string;

  @ApiProperty({
    type: 'array',
    items: { type: 'string', pattern: '^0[xX][0-9a-fA-F]{64}$' },
    example: [`0x${'0'.repeat(64)}`],
  })
  @IsArray()
  @ArrayMaxSize(1000)
  @Matches(/^0x[0-9a-f]{64}$/i, {
    each: true,
    message: 'each storage key must be 32 bytes: 0x followed by 64 hex digits',
  })
  storageKeys!: string[];
}

export class AuthorizationDto {
  @ApiPropertyOptional({
    description: 'The chain of the transaction, or 0 for every chain. Default: the chain of the transaction',
    example: '31337',
  })
  @IsOptional()
  @IsQuantity()
  chainId?: string | number;

  @ApiProperty({ description: 'The code to run; the zero address ends a delegation', example: EXAMPLE_TO })
  @IsAddressText()
  address!: string;

  @ApiPropertyOptional({
    description:
      'A signer of Lockstep on this chain, which signs it: the one of the transaction, or another one. Leave out for a signed authorization',
    example: EXAMPLE_SIGNER,
  })
  @IsOptional()
  @IsAddressText()
  signer?: string;

  @ApiPropertyOptional({ description: 'Nonce of the account that has signed', example: '0' })
  @IsOptional()
  @IsQuantity()
  nonce?: string | number;

  @ApiPropertyOptional({ type: 'integer', minimum: 0, maximum: 1, example: 0 })
  @IsOptional()
  @IsIn([0, 1])
  yParity?: 0 | 1;

  @ApiPropertyOptional({ example: EXAMPLE_WORD })
  @IsOptional()
  @IsHexBytes({ maxBytes: 32 })
  r?: string;

  @ApiPropertyOptional({ example: EXAMPLE_WORD })
  @IsOptional()
  @IsHexBytes({ maxBytes: 32 })
  s?: string;
}

export class CallDto {
  @ApiProperty({
    description: 'Name and types of the function, as Solidity writes them. A tuple is its types in brackets',
    example: 'transfer(address,uint256)',
    pattern: FUNCTION.source,
    maxLength: MAX_FUNCTION_LENGTH,
  })
  @MaxLength(MAX_FUNCTION_LENGTH)
  @Matches(FUNCTION, { message: 'function must be a name and types in brackets' })
  function!: string;

  @ApiPropertyOptional({
    type: 'array',
    items: CALL_VALUE,
    description:
      'A value for each type: numbers as text (or safe integers), bytes as hex, true or false, lists for arrays and tuples, or a part of a permit. At most 500 in all, 6 lists deep and 32 KiB encoded (16 with permits): encode more yourself',
    example: [EXAMPLE_TO, '1000'],
  })
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(MAX_CALL_VALUES)
  args?: unknown[];
}

export class PermitDto {
  @ApiProperty({ enum: PERMIT_KINDS, enumName: 'PermitKind', description: '`eip2612`: a permit of a token' })
  @IsIn(PERMIT_KINDS)
  kind!: PermitKind;

  @ApiProperty({
    description: 'A signer of the chain, which may be another one than the sender',
    example: EXAMPLE_SIGNER,
  })
  @IsAddressText()
  owner!: string;

  @ApiProperty({ description: 'It verifies the signature, and counts the nonces of owners', example: EXAMPLE_TOKEN })
  @IsAddressText()
  token!: string;

  @ApiProperty({ description: 'Name of the EIP-712 domain of the token', example: 'Token' })
  @Length(1, MAX_DOMAIN_TEXT)
  name!: string;

  @ApiPropertyOptional({ description: 'Version of this domain', default: '1', example: '1' })
  @IsOptional()
  @Length(1, MAX_DOMAIN_TEXT)
  version?: string;

  @ApiProperty({ description: 'Who may spend', example: EXAMPLE_TO })
  @IsAddressText()
  spender!: string;

  @ApiProperty({ description: 'What may be spent, as a decimal string', example: '1000' })
  @IsQuantity()
  value!: string | number;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: SHORTEST_PERMIT_S,
    maximum: LONGEST_PERMIT_S,
    default: USUAL_PERMIT_S,
    description:
      'Seconds from its signature until its deadline. It is signed again when less than half of them are left before the transaction is',
    example: 3_600,
  })
  @IsOptional()
  @IsInt()
  @Min(SHORTEST_PERMIT_S)
  @Max(LONGEST_PERMIT_S)
  ttl?: number;
}

export class PayloadDto {
  @ApiPropertyOptional({ description: 'Receiver; leave out to create a contract', example: EXAMPLE_TO })
  @IsOptional()
  @IsAddressText()
  to?: string;

  @ApiPropertyOptional({ description: 'Wei, as a decimal string', example: '1000000000000000', default: '0' })
  @IsOptional()
  @IsQuantity()
  value?: string | number;

  @ApiPropertyOptional({ description: 'Call data, or init code', example: '0x', default: '0x' })
  @IsOptional()
  @IsHexBytes({ maxBytes: MAX_DATA_BYTES })
  data?: string;

  @ApiPropertyOptional({ type: CallDto, description: 'A call of `to`, in place of `data`: Lockstep encodes it' })
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => CallDto)
  call?: CallDto;

  @ApiPropertyOptional({
    type: [PermitDto],
    maxItems: MAX_PERMITS,
    description:
      'Permits that Lockstep signs for the call, whose arguments take their parts: {"$permit": 0, "part": "v"}. Only what a policy of the owner names in `typedData`, and with the scope `typed-data`',
  })
  @IsOptional()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(MAX_PERMITS)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => PermitDto)
  permits?: PermitDto[];

  @ApiPropertyOptional({ description: 'Gas; leave out to let Lockstep estimate it', example: '21000' })
  @IsOptional()
  @IsQuantity()
  gasLimit?: string | number;

  @ApiPropertyOptional({ type: [AccessListEntryDto], description: 'EIP-2930' })
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(1000)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => AccessListEntryDto)
  accessList?: AccessListEntryDto[];

  @ApiPropertyOptional({
    type: 'array',
    items: { type: 'string', pattern: '^0[xX]([0-9a-fA-F]{2})*$', maxLength: 2 + 2 * BLOB_BYTES },
    description:
      'EIP-4844: blobs of up to 131,072 bytes each; zeros are added at the end. Each 32 bytes are a number below the order of BLS12-381',
    example: ['0x00'],
  })
  @IsOptional()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(MAX_BLOBS)
  @IsHexBytes({ maxBytes: BLOB_BYTES }, { each: true })
  blobs?: string[];

  @ApiPropertyOptional({
    type: [AuthorizationDto],
    description: 'EIP-7702: accounts run the code of another address from now on',
  })
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(MAX_AUTHORIZATIONS)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => AuthorizationDto)
  authorizationList?: AuthorizationDto[];
}

export class FeesDto {
  @ApiPropertyOptional({ description: 'Wei per gas', example: '30000000000' })
  @IsOptional()
  @IsQuantity()
  maxFeePerGas?: string | number;

  @ApiPropertyOptional({
    description: 'Wei per gas: makes it a transaction with one price (legacy, or EIP-2930 with an access list)',
    example: '20000000000',
  })
  @IsOptional()
  @IsQuantity()
  gasPrice?: string | number;

  @ApiPropertyOptional({ description: 'Wei per blob gas (EIP-4844)', example: '1000000000' })
  @IsOptional()
  @IsQuantity()
  maxFeePerBlobGas?: string | number;

  @ApiPropertyOptional({ description: 'Wei per gas', example: '1000000000' })
  @IsOptional()
  @IsQuantity()
  maxPriorityFeePerGas?: string | number;
}

export class CreateTxDto {
  @ApiPropertyOptional({
    description: 'EIP-155 chain id; optional when only one chain is configured',
    example: 31337,
  })
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(Number.MAX_SAFE_INTEGER)
  chainId?: number;

  @ApiProperty({
    description: 'Address of the sending account, in one case or with its checksum',
    example: EXAMPLE_SIGNER,
  })
  @IsAddressText()
  signer!: string;

  @ApiPropertyOptional({
    description:
      'Idempotency key, unique per signer; can be sent as the Idempotency-Key header instead. It is free again when the retention of the server (transactions.retention) has deleted the finished transaction',
    example: 'invoice-4711',
  })
  @IsOptional()
  @IsRequestId()
  requestId?: string;

  @ApiProperty({ type: PayloadDto })
  @IsObject()
  @ValidateNested()
  @Type(() => PayloadDto)
  payload!: PayloadDto;

  @ApiPropertyOptional({ type: FeesDto, description: 'Explicit fees, used in place of the market fees' })
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => FeesDto)
  fees?: FeesDto;

  @ApiPropertyOptional({
    enum: SPEEDS,
    enumName: 'Speed',
    default: 'standard',
    description: 'Which percentile of recent tips to pay',
  })
  @IsOptional()
  @IsIn(SPEEDS)
  speed?: Speed;

  @ApiPropertyOptional({
    enum: ['later', 'now'],
    enumName: 'Allocate',
    default: 'later',
    description:
      '`now` waits for the nonce and returns it. `intake.notLeader` sets what a node does that does not own the signer',
  })
  @IsOptional()
  @IsIn(['later', 'now'])
  allocate?: 'later' | 'now';

  @ApiPropertyOptional({ default: 0, description: 'Higher priorities get their nonces first', example: 0 })
  @IsOptional()
  @IsInt()
  @Min(-1000)
  @Max(1000)
  priority?: number;

  @ApiPropertyOptional({
    description:
      "Number of blocks above its own block that make the transaction final, in place of the chain's `confirmations.required`. On a chain with a finality block tag, the tag must also reach its block. Default: the rule of the chain",
    minimum: 0,
    maximum: MAX_CONFIRMATIONS,
    example: 5,
  })
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(MAX_CONFIRMATIONS)
  confirmations?: number;

  @ApiPropertyOptional({
    description: 'The transaction is dropped if it was not sent before this time',
    example: '2030-01-01T00:00:00.000Z',
  })
  @IsOptional()
  @IsTime()
  expiresAt?: string;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    description:
      'Data of the client, stored and returned unchanged, but that numbers are those of JavaScript: send ids above 2^53 as text. At most 16 kB as JSON, without a key __proto__ or constructor.prototype',
    example: { order: '4711' },
  })
  @IsOptional()
  @IsObject()
  metadata?: Record<string, unknown>;

  @ApiPropertyOptional({
    format: 'uuid',
    description: 'Id of a webhook endpoint that gets every event of this transaction, whatever its filters are',
    example: '019aa2f4-7a1c-7c3e-9a52-3f4d5e6f7a8b',
  })
  @IsOptional()
  @Matches(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, { message: 'callback must be the id of a webhook endpoint' })
  callback?: string;
}
