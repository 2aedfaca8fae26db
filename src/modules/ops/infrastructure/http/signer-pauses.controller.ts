import { Body, Controller, HttpCode, Param, Post, Req } from '@nestjs/common';
import { ApiBody, ApiOperation, ApiProperty, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { signerOfPath } from '../../../../platform/http/path-params.js';
import { SignerPauses } from '../../../signers/index.js';
import { pauseView } from '../../domain/pause-view.js';
import { callerOf, Scope } from '../../../../platform/http/scope.js';
import { PauseSigner } from '../../application/pause-signer.js';
import { ResumeSigner } from '../../application/resume-signer.js';
import { PauseDto, pauseOrderOf, PauseRequestDto } from './pauses.dto.js';

/** Example bodies in Swagger. */
const EXAMPLES = {
  reason: { summary: 'With a reason for the audit log', value: { reason: 'key rotation' } },
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
    private readonly pauses: SignerPauses,
  ) {}

  @Post('pause')
  @Scope('signers:admin')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'pauseSigner',
    summary: 'Pause a signer',
    description:
      'The signer gets no new nonces: its PENDING transactions wait with subState SIGNER_PAUSED. What was sent is watched and sent again as it is, and can be ' +
      'cancelled; a higher price, a replace and a speed-up wait. After the answer no transaction gets a nonce. A second pause changes nothing. Any node can ' +
      'answer. `POST /api/v1/stop` pauses many signers at once.',
  })
  @ApiBody({ type: PauseRequestDto, examples: EXAMPLES })
  @ApiResponse({ status: 200, type: SignerPauseDto })
  async pause(
    @Param('chainId') chainId: string,
    @Param('address') address: string,
    @Body() body: PauseRequestDto,
    @Req() request: FastifyRequest,
  ): Promise<SignerPauseDto> {
    const caller = callerOf(request);
    const signer = signerOfPath(chainId, address, caller);
    const pause = await this.pauseSigner.execute(signer, pauseOrderOf('pauseSigner', request, body));
    return { ...signer, paused: pauseView(pause, caller) };
  }

  @Post('resume')
  @Scope('signers:admin')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'resumeSigner',
    summary: 'Resume a paused signer',
    description:
      'Its waiting transactions go on at once, unless a stop holds for it besides (`paused` of the answer). Changes nothing for a signer that is not paused.',
  })
  @ApiBody({ type: PauseRequestDto, examples: EXAMPLES })
  @ApiResponse({ status: 200, type: SignerPauseDto })
  async resume(
    @Param('chainId') chainId: string,
    @Param('address') address: string,
    @Body() body: PauseRequestDto,
    @Req() request: FastifyRequest,
  ): Promise<SignerPauseDto> {
    const caller = callerOf(request);
    const signer = signerOfPath(chainId, address, caller);
    await this.resumeSigner.execute(signer, pauseOrderOf('resumeSigner', request, body));
    const left = await this.pauses.of(signer);
    return { ...signer, paused: left && pauseView(left, caller) };
  }
}
