import { Body, Controller, Headers, Param, Post, Query, Req, Res } from '@nestjs/common';
import { ApiBody, ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { parseHash } from '../../../../kernel/hex.js';
import type { SlotRef } from '../../../signers/index.js';
import { nonceOfPath, signerOfPath } from '../../../../platform/http/path-params.js';
import { callerOf, MayLast, Scope, waitsForState } from '../../../../platform/http/scope.js';
import { TxQueries } from '../../../ledger/index.js';
import { ApiIdempotencyKey, findTx, foundTx, WaitQueryDto } from '../../../requests/index.js';
import { assertNonce } from '../../application/assert-nonce.js';
import { CloseHold } from '../../application/close-hold.js';
import { ConsumeHold } from '../../application/consume-hold.js';
import { SubmitCommand } from '../../application/submit-command.js';
import { AnswerCommand } from './answer-command.js';
import { CommandAnswerDto, CommandDto } from './commands.dto.js';
import {
  CLOSE_EXAMPLES,
  CloseHoldDto,
  CONSUME_EXAMPLES,
  ConsumeNonceDto,
  EXTEND_EXAMPLES,
  ExtendNonceDto,
  HoldCommandDto,
  RELEASE_EXAMPLES,
} from './hold-commands.dto.js';
import { optionalId, toHoldCommand } from './to-command.js';

const ACCEPTED = 'Stored: the owner of the signer carries it out within about a second';
const DONE = 'Done, or stored before';
const AGAIN = 'A repetition does no harm; what contradicts the present state is a conflict (409) that names it.';

type SignerPath = readonly [chainId: string, address: string];

@ApiTags('nonces')
@Controller('api/v1/signers/:chainId/:address/nonces')
export class HoldCommandsController {
  constructor(
    private readonly submit: SubmitCommand,
    private readonly consumeHold: ConsumeHold,
    private readonly closeHold: CloseHold,
    private readonly queries: TxQueries,
    private readonly answers: AnswerCommand,
  ) {}

  @Post(':nonce/consume')
  @Scope('nonces')
  @MayLast(waitsForState)
  @ApiOperation({
    operationId: 'consumeNonce',
    summary: 'Say which transaction was sent with a reserved nonce',
    description:
      'From now on the hold has no end by time, and only the chain ends it. No endpoint has to know the hash. What is mined with the nonce decides, also when it is another ' +
      `transaction of the sender. ${AGAIN}`,
  })
  @ApiIdempotencyKey()
  @ApiBody({ type: ConsumeNonceDto, examples: CONSUME_EXAMPLES })
  @ApiResponse({ status: 202, type: CommandAnswerDto, description: ACCEPTED })
  @ApiResponse({ status: 200, type: CommandAnswerDto, description: DONE })
  async consume(
    @Param('chainId') chainId: string,
    @Param('address') address: string,
    @Param('nonce') nonce: string,
    @Body() body: ConsumeNonceDto,
    @Headers('idempotency-key') key: string | undefined,
    @Query() query: WaitQueryDto,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<CommandAnswerDto> {
    const { caller, slot, hold } = await this.withNonce([chainId, address], nonce, body, request);
    const command = toHoldCommand('consume', hold, body, { txHash: parseHash(body.txHash) }, key, caller);
    return this.answers.execute(() => this.consumeHold.execute(slot, command), caller, query, reply);
  }

  @Post(':nonce/release')
  @Scope('nonces')
  @MayLast(waitsForState)
  @ApiOperation({
    operationId: 'releaseNonce',
    summary: 'Give a reserved nonce back',
    description:
      'The caller vouches that nothing was sent with it, and that nothing will be. It is refused when something was seen or named. ' +
      AGAIN,
  })
  @ApiIdempotencyKey()
  @ApiBody({ type: HoldCommandDto, examples: RELEASE_EXAMPLES })
  @ApiResponse({ status: 202, type: CommandAnswerDto, description: ACCEPTED })
  @ApiResponse({ status: 200, type: CommandAnswerDto, description: DONE })
  async release(
    @Param('chainId') chainId: string,
    @Param('address') address: string,
    @Param('nonce') nonce: string,
    @Body() body: HoldCommandDto,
    @Headers('idempotency-key') key: string | undefined,
    @Query() query: WaitQueryDto,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<CommandAnswerDto> {
    const { caller, hold } = await this.withNonce([chainId, address], nonce, body, request);
    const command = toHoldCommand('release', hold, body, {}, key, caller);
    return this.answers.execute(() => this.submit.execute(command), caller, query, reply);
  }

  @Post(':nonce/extend')
  @Scope('nonces')
  @MayLast(waitsForState)
  @ApiOperation({
    operationId: 'extendNonce',
    summary: 'Keep a reserved nonce longer',
    description: `Never ends it earlier than it would end without this, and a day after it was reserved at the latest: the answer has its end (expiresAt). ${AGAIN}`,
  })
  @ApiIdempotencyKey()
  @ApiBody({ type: ExtendNonceDto, examples: EXTEND_EXAMPLES })
  @ApiResponse({ status: 202, type: CommandAnswerDto, description: ACCEPTED })
  @ApiResponse({ status: 200, type: CommandAnswerDto, description: DONE })
  async extend(
    @Param('chainId') chainId: string,
    @Param('address') address: string,
    @Param('nonce') nonce: string,
    @Body() body: ExtendNonceDto,
    @Headers('idempotency-key') key: string | undefined,
    @Query() query: WaitQueryDto,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<CommandAnswerDto> {
    const { caller, hold } = await this.withNonce([chainId, address], nonce, body, request);
    const command = toHoldCommand('extend', hold, body, { ttl: body.ttl }, key, caller);
    return this.answers.execute(() => this.submit.execute(command), caller, query, reply);
  }

  @Post('release')
  @Scope('nonces')
  @MayLast(waitsForState)
  @ApiOperation({
    operationId: 'releaseHold',
    summary: 'Give a hold back that may have no nonce yet',
    description: `As the release of a reserved nonce, by \`holdId\` alone. One without a nonce ends at once, and never gets one. ${AGAIN}`,
  })
  @ApiIdempotencyKey()
  @ApiBody({ type: HoldCommandDto, examples: RELEASE_EXAMPLES })
  @ApiResponse({ status: 202, type: CommandAnswerDto, description: ACCEPTED })
  @ApiResponse({ status: 200, type: CommandAnswerDto, description: DONE })
  async releaseHold(
    @Param('chainId') chainId: string,
    @Param('address') address: string,
    @Body() body: HoldCommandDto,
    @Headers('idempotency-key') key: string | undefined,
    @Query() query: WaitQueryDto,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<CommandAnswerDto> {
    const { caller, hold } = await this.find([chainId, address], body, request);
    const command = toHoldCommand('release', hold, body, {}, key, caller);
    return this.answers.execute(() => this.submit.execute(command), caller, query, reply);
  }

  @Post(':nonce/close')
  @Scope('signers:admin')
  @ApiOperation({
    operationId: 'closeHold',
    summary: 'Close a hold whose transaction nobody sees',
    description:
      'For a nonce whose outside sender named a transaction that never comes, or left with it: else what is behind it waits for ever. A no-op with its nonce, which the signer pays, competes ' +
      'with what the sender may have sent, and whichever is mined decides between CANCELLED and CONFIRMED. Ask its sender before. GET …/nonces shows operators the `holdId` of every account. ' +
      AGAIN,
  })
  @ApiIdempotencyKey()
  @ApiBody({ type: CloseHoldDto, examples: CLOSE_EXAMPLES })
  @ApiResponse({ status: 202, type: CommandDto, description: ACCEPTED })
  @ApiResponse({ status: 200, type: CommandDto, description: DONE })
  async close(
    @Param('chainId') chainId: string,
    @Param('address') address: string,
    @Param('nonce') nonce: string,
    @Body() { requestId, holdId, reason }: CloseHoldDto,
    @Headers('idempotency-key') key: string | undefined,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<CommandDto> {
    const sender = callerOf(request);
    const slot = { signer: signerOfPath(chainId, address, sender), nonce: nonceOfPath(nonce) };
    const input = { sender, requestId: optionalId(requestId, key), holdId, reason };
    return this.answers.brief(() => this.closeHold.execute(slot, input), reply);
  }

  private async withNonce(path: SignerPath, text: string, body: HoldCommandDto, request: FastifyRequest) {
    const nonce = nonceOfPath(text);
    const { caller, signer, hold } = await this.find(path, body, request);
    assertNonce({ ...hold, nonce: hold.nonce === null ? null : BigInt(hold.nonce) }, nonce);
    return { caller, slot: { signer, nonce } satisfies SlotRef, hold };
  }

  private async find([chainId, address]: SignerPath, { holdId }: HoldCommandDto, request: FastifyRequest) {
    const caller = callerOf(request);
    const signer = signerOfPath(chainId, address, caller);
    const found = await findTx(holdId, (id) => this.queries.find(id, caller));
    const hold = foundTx(found.chainId === signer.chainId && found.signer === signer.address ? found : null);
    return { caller, signer, hold };
  }
}
