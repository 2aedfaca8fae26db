import { Controller, HttpCode, Param, Post, Query, Req } from '@nestjs/common';
import { ApiOperation, ApiProperty, ApiPropertyOptional, ApiResponse, ApiTags } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsIn, IsInt, IsOptional, Max, Min } from 'class-validator';
import type { FastifyRequest } from 'fastify';
import { AuditLog } from '../../../../kernel/audit-log.js';
import { type Caller, DEFAULT_ACCOUNT } from '../../../../kernel/caller.js';
import { toJsonInteger } from '../../../../kernel/quantities.js';
import { ApiJsonInteger } from '../../../../platform/http/json-integer.js';
import { signerOfPath } from '../../../../platform/http/path-params.js';
import { callerOf, Scope } from '../../../../platform/http/scope.js';
import { TxQueries } from '../../../ledger/index.js';
import { type SyncReport, SyncSigner } from '../../application/sync-signer.js';

const DEFAULT_GAP_NONCES = 1_000;

class SyncQueryDto {
  @ApiPropertyOptional({
    default: DEFAULT_GAP_NONCES,
    minimum: 0,
    maximum: 10_000,
    description:
      'How many nonces of the gap to free, or to fill. A nonce that no payload takes costs a no-op. Repeat the call for a wider gap.',
  })
  @IsOptional()
  @Type(() => Number)
  @IsInt()
  @Min(0)
  @Max(10_000)
  maxFills?: number;

  @ApiPropertyOptional({
    type: Boolean,
    default: false,
    description:
      'Confirms that this signer has sent no transaction except those that are found. For a signer that is held because the database lost commits.',
  })
  @IsOptional()
  @IsIn(['true', 'false'])
  vouch?: 'true' | 'false';

  @ApiPropertyOptional({
    type: Boolean,
    default: false,
    description: 'Changes nothing, and says what the call would do. Any node answers.',
  })
  @IsOptional()
  @IsIn(['true', 'false'])
  dryRun?: 'true' | 'false';
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

class LeftFreeDto {
  @nonce('A nonce that the chain left free, although it put a transaction with it into a block') nonce!:
    | number
    | string;
  @ApiProperty({
    type: String,
    nullable: true,
    example: '018f3b3a-0000-7000-8000-000000000001',
    description:
      'The transaction, which failed. Null for a caller of another account than its, unless that is `default`',
  })
  txId!: string | null;
  @ApiProperty({ example: `0x${'cd'.repeat(32)}` }) txHash!: string;
}

class SyncReportDto {
  @ApiProperty({ example: false, description: 'Nothing was changed: this is what the call would do' }) dryRun!: boolean;
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
  @ApiProperty({
    nullable: true,
    enum: ['CHAIN_RESET', 'LOWER_NONCE'],
    enumName: 'ChainBehindCause',
    example: null,
    description: 'Why the signer is held: its chain is behind our books; null while it is not',
  })
  behind!: string | null;
  @ApiProperty({
    type: [LeftFreeDto],
    description:
      'Nonces that failed transactions left free: a no-op gets each of them, unless the custody of the signer is `external`. Then their senders use them again',
  })
  leftFree!: LeftFreeDto[];
  @ApiProperty({
    type: String,
    nullable: true,
    example: null,
    description: 'Of a dry run: why the call would be refused, and what to do; else null',
  })
  refusal!: string | null;
}

@ApiTags('signers')
@Controller('api/v1/signers/:chainId/:address')
export class SignerNoncesController {
  constructor(
    private readonly sync: SyncSigner,
    private readonly audit: AuditLog,
    private readonly txs: TxQueries,
  ) {}

  @Post('sync')
  @Scope('signers:admin')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'syncSigner',
    summary: 'Align the nonces of a signer with its chain',
    description:
      'Raises the cursor to the count that the endpoints of the chain agree on, and frees unused nonces below our lowest one. ' +
      'Never lowers the cursor. Returns the evidence. When the chain is behind our books because failed transactions left their nonces free, it ' +
      'fills these with no-ops, unless outside senders have the key, and does nothing else; when it was reset, or lost blocks, it answers 409. `dryRun` shows which.',
  })
  @ApiResponse({ status: 200, type: SyncReportDto })
  async run(
    @Param('chainId') chainId: string,
    @Param('address') address: string,
    @Query() { maxFills = DEFAULT_GAP_NONCES, vouch, dryRun }: SyncQueryDto,
    @Req() request: FastifyRequest,
  ): Promise<SyncReportDto> {
    const caller = callerOf(request);
    const signer = signerOfPath(chainId, address, caller);
    const [vouches, isDry] = [vouch === 'true', dryRun === 'true'];
    const object = `signer:${chainId}:${signer.address}`;
    // It takes several transactions, so before them: also one that is refused is recorded.
    if (!isDry) await this.audit.record({ by: caller, action: 'syncSigner', object, detail: { vouch: vouches } });
    const report = await this.sync.execute(signer, maxFills, vouches, isDry);
    return toDto(report, isDry, await this.knownTo(caller, report));
  }

  /** The transactions of a report that may be named. The operators, who fill for everybody, know all of them. */
  private async knownTo({ account }: Caller, { leftFree }: SyncReport): Promise<ReadonlySet<string>> {
    const ids = leftFree.map(({ leftBy }) => leftBy.id);
    return account === DEFAULT_ACCOUNT ? new Set(ids) : this.txs.ofAccount(ids, account);
  }
}

function toDto(report: SyncReport, dryRun: boolean, known: ReadonlySet<string>): SyncReportDto {
  const { signer, chain, pending, cursor, gap, recovered, behind, leftFree, refusal } = report;
  return {
    dryRun,
    ...signer,
    chain: { nonce: toJsonInteger(chain.nonce), blockNumber: chain.block.number, blockHash: chain.block.hash },
    pending: toJsonInteger(pending),
    cursor: {
      before: cursor.before === null ? null : toJsonInteger(cursor.before),
      after: toJsonInteger(cursor.after),
    },
    gap: { ...gap },
    recovered: recovered.map(({ nonce: at, txHash }) => ({ nonce: toJsonInteger(at), txHash })),
    behind,
    leftFree: leftFree.map(({ nonce: at, leftBy, txHash }) => ({
      nonce: toJsonInteger(at),
      txId: known.has(leftBy.id) ? leftBy.id : null,
      txHash,
    })),
    refusal: refusal && `${refusal.detail}: ${refusal.advice}`,
  };
}
