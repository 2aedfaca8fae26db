import { Controller, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiOperation, ApiProperty, ApiPropertyOptional, ApiResponse, ApiTags } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsIn, IsInt, IsOptional, Max, Min } from 'class-validator';
import { toJsonInteger } from '../../../../kernel/quantities.js';
import { signerOfPath } from '../../../../platform/http/client-address.js';
import { ApiJsonInteger } from '../../../../platform/http/json-integer.js';
import { ApiProblems } from '../../../../platform/http/problem.dto.js';
import { type SyncReport, SyncSigner } from '../../application/sync-signer.js';

const DEFAULT_GAP_NONCES = 1_000;

class SyncQueryDto {
  @ApiPropertyOptional({
    default: DEFAULT_GAP_NONCES,
    minimum: 0,
    maximum: 10_000,
    description:
      'How many nonces of the gap to free. A nonce that no payload takes costs a no-op. Repeat the call for a wider gap.',
  })
  @IsOptional()
  @Type(() => Number)
  @IsInt()
  @Min(0)
  @Max(10_000)
  maxFills?: number;

  @ApiPropertyOptional({
    enum: ['true', 'false'],
    default: 'false',
    description:
      'Confirms that this signer has sent no transaction except those that are found. For a signer that is held because the database lost commits.',
  })
  @IsOptional()
  @IsIn(['true', 'false'])
  vouch?: 'true' | 'false';
}

const nonce = (description: string) => ApiJsonInteger({ example: 7, description });

class AgreedCountDto {
  @nonce('Lowest transaction count of all endpoints that answered') nonce!: number | string;
  @ApiProperty({ example: 4711 }) blockNumber!: number;
  @ApiProperty({ example: `0x${'ab'.repeat(32)}` }) blockHash!: string;
}

class CursorChangeDto {
  @ApiJsonInteger({ nullable: true, example: 7 })
  before!: number | string | null;
  @nonce('Next new nonce') after!: number | string;
}

class GapDto {
  @ApiProperty({ example: 0 }) freed!: number;
  @ApiProperty({ example: 0, description: 'Repeat the call until this is 0' }) remaining!: number;
}

class RecoveredDto {
  @nonce('Nonce of a transaction of this signer') nonce!: number | string;
  @ApiProperty({ example: `0x${'cd'.repeat(32)}` }) txHash!: string;
}

class SyncReportDto {
  @ApiProperty({ example: 31337 }) chainId!: number;
  @ApiProperty({ example: '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266' }) address!: string;
  @ApiProperty({
    type: AgreedCountDto,
    description: 'Evidence: the count and block that the endpoints of the chain agree on',
  })
  chain!: AgreedCountDto;
  @nonce('Next nonce including transactions in the pool, as one endpoint reports it') pending!: number | string;
  @ApiProperty({ type: CursorChangeDto }) cursor!: CursorChangeDto;
  @ApiProperty({ type: GapDto }) gap!: GapDto;
  @ApiProperty({ type: [RecoveredDto], description: 'Transactions of this signer that the database did not know' })
  recovered!: RecoveredDto[];
}

@ApiTags('signers')
@Controller('api/v1/signers/:chainId/:address')
export class SignerNoncesController {
  constructor(private readonly sync: SyncSigner) {}

  @Post('sync')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'syncSigner',
    summary: 'Align the nonces of a signer with its chain',
    description:
      'Raises the cursor to the count that the endpoints of the chain agree on, and frees unused nonces below our lowest one. ' +
      'Never lowers the cursor. Returns the evidence. Changes nothing, and answers 409, when the chain is behind our books.',
  })
  @ApiResponse({ status: 200, type: SyncReportDto })
  @ApiProblems(
    'invalid_chain_id',
    'invalid_address',
    'invalid_checksum',
    'unknown_chain',
    'not_leader',
    'chain_behind_books',
    'signer_held',
    'nonce_not_known',
    'lease_lost',
    'rpc_unavailable',
    'rpc_malformed_answer',
    'rpc_wrong_chain',
  )
  async run(
    @Param('chainId') chainId: string,
    @Param('address') address: string,
    @Query() query: SyncQueryDto,
  ): Promise<SyncReportDto> {
    return toDto(
      await this.sync.execute(
        signerOfPath(chainId, address),
        query.maxFills ?? DEFAULT_GAP_NONCES,
        query.vouch === 'true',
      ),
    );
  }
}

function toDto({ signer, chain, pending, cursor, gap, recovered }: SyncReport): SyncReportDto {
  return {
    ...signer,
    chain: { nonce: toJsonInteger(chain.nonce), blockNumber: chain.block.number, blockHash: chain.block.hash },
    pending: toJsonInteger(pending),
    cursor: {
      before: cursor.before === null ? null : toJsonInteger(cursor.before),
      after: toJsonInteger(cursor.after),
    },
    gap: { ...gap },
    recovered: recovered.map(({ nonce: at, txHash }) => ({ nonce: toJsonInteger(at), txHash })),
  };
}
