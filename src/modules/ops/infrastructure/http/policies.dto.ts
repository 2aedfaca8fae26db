import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsBoolean,
  IsInt,
  IsObject,
  IsOptional,
  Matches,
  Max,
  Min,
  ValidateNested,
} from 'class-validator';
import { SELECTOR } from '../../../../kernel/hex.js';
import { TYPED_DATA } from '../../../../kernel/signing.js';
import { asStacked } from '../../../../platform/http/page-query.dto.js';
import { IsAddressText, IsQuantity } from '../../../../platform/http/validators.js';
import { toRules, type Policy, type SignerPolicy, type StoredPolicy } from '../../../policies/index.js';

const MAX_RECEIVERS = 1_000;
const MAX_SELECTORS = 100;
const MAX_TYPED_DATA = 100;
const MAX_VERSION = 2 ** 31 - 2;
const EXAMPLE_TO = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const TRANSFER = '0xa9059cbb';

const IsAmount = (description: string): PropertyDecorator =>
  asStacked(
    ApiPropertyOptional({ nullable: true, example: '1000000000000000000', description }),
    IsOptional(),
    IsQuantity(),
  );

const IsFlag = (description: string): PropertyDecorator =>
  asStacked(ApiPropertyOptional({ default: false, description }), IsOptional(), IsBoolean());

class AllowedReceiverDto {
  @ApiProperty({ example: EXAMPLE_TO })
  @IsAddressText()
  address!: string;

  @ApiPropertyOptional({
    type: 'array',
    nullable: true,
    items: { type: 'string', pattern: SELECTOR.source },
    example: [TRANSFER],
    description: 'The first four bytes of the data, or 0x for none. Left out: any data',
  })
  @IsOptional()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(MAX_SELECTORS)
  @Matches(SELECTOR, { each: true, message: 'each selector must be 0x and 8 hex digits, or 0x' })
  selectors?: string[] | null;
}

/** The same rules as those of a policy in the config. */
class PolicyRulesDto {
  @ApiPropertyOptional({
    type: [AllowedReceiverDto],
    nullable: true,
    description: 'Allowed receivers. Left out: any',
  })
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(MAX_RECEIVERS)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => AllowedReceiverDto)
  to?: AllowedReceiverDto[] | null;

  @IsAmount('Wei that one transaction may send. Left out: any')
  maxValue?: string | number | null;

  @IsAmount('Wei that the gas and blobs of one transaction may cost. Left out: what the caps on prices allow')
  maxFee?: string | number | null;

  @IsAmount('Wei that may be sent within 24 hours. Left out: any')
  dailyValue?: string | number | null;

  @IsAmount('Wei of fees within 24 hours. Left out: any')
  dailyFees?: string | number | null;

  @IsFlag('It may create contracts')
  contractCreation?: boolean;

  @IsFlag('It may send blobs (EIP-4844)')
  blobs?: boolean;

  @IsFlag('It may send and sign authorizations (EIP-7702)')
  authorizations?: boolean;

  @ApiPropertyOptional({
    type: 'array',
    nullable: true,
    items: { type: 'string', pattern: TYPED_DATA.source },
    example: [`${EXAMPLE_TO}/Permit`],
    description:
      'Typed data (EIP-712) that it may sign: the verifying contract of the domain, or the name of a domain without one, then / and the primary type. Left out: none',
  })
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(MAX_TYPED_DATA)
  @Matches(TYPED_DATA, { each: true, message: 'each entry must be an address or a name, then / and a type' })
  typedData?: string[] | null;

  @IsFlag('It only reports')
  dryRun?: boolean;
}

const IsSeenVersion = (): PropertyDecorator =>
  asStacked(
    ApiProperty({ type: 'integer', example: 0, description: 'That you have seen; 0 before the first' }),
    Type(() => Number),
    IsInt(),
    Min(0),
    Max(MAX_VERSION),
  );

export class SetPolicyDto {
  @IsSeenVersion()
  version!: number;

  @ApiProperty({ type: PolicyRulesDto })
  @IsObject()
  @ValidateNested()
  @Type(() => PolicyRulesDto)
  rules!: PolicyRulesDto;
}

export class SeenVersionQueryDto {
  @IsSeenVersion()
  version!: number;
}

export const SET_POLICY_EXAMPLES = {
  first: {
    summary: 'One ether a day, to one receiver',
    value: { version: 0, rules: { to: [{ address: EXAMPLE_TO }], dailyValue: '1000000000000000000' } },
  },
  trial: {
    summary: 'Only report what it would refuse',
    value: { version: 1, rules: { to: [{ address: EXAMPLE_TO, selectors: [TRANSFER] }], dryRun: true } },
  },
};

class ReceiverDto {
  @ApiProperty({ example: EXAMPLE_TO.toLowerCase() }) address!: string;
  @ApiProperty({ type: [String], nullable: true, example: [TRANSFER], description: 'Null: any data' })
  selectors!: string[] | null;
}

/** Wei; null where there is no limit. */
class PolicyDto {
  @ApiProperty({ type: [ReceiverDto], nullable: true, description: 'Null: any receiver' }) to!: ReceiverDto[] | null;
  @ApiProperty({ type: String, nullable: true, example: null }) maxValue!: string | null;
  @ApiProperty({ type: String, nullable: true, example: null }) maxFee!: string | null;
  @ApiProperty({ type: String, nullable: true, example: '1000000000000000000' }) dailyValue!: string | null;
  @ApiProperty({ type: String, nullable: true, example: null }) dailyFees!: string | null;
  @ApiProperty({ example: false }) contractCreation!: boolean;
  @ApiProperty({ example: false }) blobs!: boolean;
  @ApiProperty({ example: false }) authorizations!: boolean;
  @ApiProperty({
    type: 'array',
    items: { type: 'string', pattern: TYPED_DATA.source },
    example: [],
    description: 'That it may sign; else it signs no typed data',
  })
  typedData!: string[];
  @ApiProperty({ example: false, description: 'It only reports' }) dryRun!: boolean;
}

export class SignerPolicyDto {
  @ApiProperty({ example: 31337 }) chainId!: number;
  @ApiProperty({ example: '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266' }) address!: string;
  @ApiProperty({
    type: PolicyDto,
    nullable: true,
    description: 'Of the config. Where there is one too, each must allow it',
  })
  config!: PolicyDto | null;
  @ApiProperty({
    type: PolicyDto,
    nullable: true,
    description: 'Set by the API; null without one, or after it was withdrawn',
  })
  api!: PolicyDto | null;
  @ApiProperty({ example: 1, description: 'Of what was set by the API; 0 before the first' }) version!: number;
  @ApiProperty({ type: String, nullable: true, example: 'key:01a21973-e4a2-749a-93eb-ccf47cdff4c7' })
  changedBy!: string | null;
  @ApiProperty({ type: String, nullable: true, example: '2026-11-21T08:00:00.000Z' }) changedAt!: string | null;
}

export class SignerPolicyPageDto {
  @ApiProperty({ type: [SignerPolicyDto] }) items!: SignerPolicyDto[];
  @ApiProperty({ type: String, nullable: true, example: null }) nextCursor!: string | null;
}

export class PolicyVersionDto {
  @ApiProperty({ example: 1 }) version!: number;
  @ApiProperty({ type: PolicyDto, nullable: true, description: 'Null: it was withdrawn' }) api!: PolicyDto | null;
  @ApiProperty({ example: 'key:01a21973-e4a2-749a-93eb-ccf47cdff4c7' }) changedBy!: string;
  @ApiProperty({ example: '2026-11-21T08:00:00.000Z' }) changedAt!: string;
}

export class PolicyVersionPageDto {
  @ApiProperty({ type: [PolicyVersionDto] }) items!: PolicyVersionDto[];
  @ApiProperty({ type: String, nullable: true, example: null }) nextCursor!: string | null;
}

export function policyView({ signer, config, stored }: SignerPolicy): SignerPolicyDto {
  return {
    ...signer,
    config: rulesView(config),
    api: rulesView(stored?.policy ?? null),
    version: stored?.version ?? 0,
    changedBy: stored?.changedBy ?? null,
    changedAt: stored?.changedAt.toISOString() ?? null,
  };
}

/** About what it takes in an answer. */
export function policyBytes({ config, stored }: SignerPolicy): number {
  return JSON.stringify([rulesView(config), rulesView(stored?.policy ?? null)]).length;
}

export function versionView({ version, policy, changedBy, changedAt }: StoredPolicy): PolicyVersionDto {
  return { version, api: rulesView(policy), changedBy, changedAt: changedAt.toISOString() };
}

function rulesView(policy: Policy | null): PolicyDto | null {
  return policy && toRules(policy);
}
