import { Body, Controller, HttpCode, Param, Post } from '@nestjs/common';
import { ApiBody, ApiOperation, ApiProperty, ApiPropertyOptional, ApiResponse, ApiTags } from '@nestjs/swagger';
import { IsOptional, IsString, MaxLength } from 'class-validator';
import { signerOfPath } from '../../../../platform/http/client-address.js';
import type { Pause } from '../../../signers/index.js';
import { PauseSigner } from '../../application/pause-signer.js';
import { ResumeSigner } from '../../application/resume-signer.js';

/** Until callers have keys. */
const BY = 'api';
const MAX_REASON_CHARS = 500;

/** A pause of a signer that is in force. */
export class PauseDto {
  @ApiProperty({ example: '2026-11-21T08:00:00.000Z' }) since!: string;
  @ApiProperty({ example: 'api' }) by!: string;
  @ApiProperty({ type: String, nullable: true, example: 'key rotation' }) reason!: string | null;
}

class PauseRequestDto {
  @ApiPropertyOptional({ maxLength: MAX_REASON_CHARS, example: 'key rotation', description: 'For the audit trail' })
  @IsOptional()
  @IsString()
  @MaxLength(MAX_REASON_CHARS)
  reason?: string;
}

/** Example bodies in Swagger. */
const EXAMPLES = {
  reason: { summary: 'With a reason for the audit trail', value: { reason: 'key rotation' } },
  plain: { summary: 'Without one', value: {} },
};

class SignerPauseDto {
  @ApiProperty({ example: 31337 }) chainId!: number;
  @ApiProperty({ example: '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266' }) address!: string;
  @ApiProperty({ type: PauseDto, nullable: true }) paused!: PauseDto | null;
}

@ApiTags('signers')
@Controller('api/v1/signers/:chainId/:address')
export class SignerPausesController {
  constructor(
    private readonly pauseSigner: PauseSigner,
    private readonly resumeSigner: ResumeSigner,
  ) {}

  @Post('pause')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'pauseSigner',
    summary: 'Pause a signer',
    description:
      'The signer gets no new nonces: its PENDING transactions wait with subState SIGNER_PAUSED. Transactions with a nonce are still resent, confirmed and ' +
      'cancelled. After the answer no transaction gets a nonce. A second pause changes nothing. Any node can answer.',
  })
  @ApiBody({ type: PauseRequestDto, examples: EXAMPLES })
  @ApiResponse({ status: 200, type: SignerPauseDto })
  async pause(
    @Param('chainId') chainId: string,
    @Param('address') address: string,
    @Body() body: PauseRequestDto,
  ): Promise<SignerPauseDto> {
    const signer = signerOfPath(chainId, address);
    const pause = await this.pauseSigner.execute(signer, { by: BY, reason: body.reason ?? null });
    return { ...signer, paused: shown(pause) };
  }

  @Post('resume')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'resumeSigner',
    summary: 'Resume a paused signer',
    description: 'Its waiting transactions go on at once. Changes nothing for a signer that is not paused.',
  })
  @ApiBody({ type: PauseRequestDto, examples: EXAMPLES })
  @ApiResponse({ status: 200, type: SignerPauseDto })
  async resume(
    @Param('chainId') chainId: string,
    @Param('address') address: string,
    @Body() body: PauseRequestDto,
  ): Promise<SignerPauseDto> {
    const signer = signerOfPath(chainId, address);
    await this.resumeSigner.execute(signer, { by: BY, reason: body.reason ?? null });
    return { ...signer, paused: null };
  }
}

function shown({ since, by, reason }: Pause): PauseDto {
  return { since: since.toISOString(), by, reason };
}
