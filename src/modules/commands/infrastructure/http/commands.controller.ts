import { Body, Controller, Get, Headers, Param, Post, Query, Req, Res } from '@nestjs/common';
import { ApiBody, ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../../../../kernel/caller.js';
import { parseSigner } from '../../../../kernel/signer-id.js';
import { decodeCursor, encodeCursor, pageOf } from '../../../../platform/http/page-cursor.js';
import { DEFAULT_PAGE_ITEMS, PageQueryDto } from '../../../../platform/http/page-query.dto.js';
import { callerOf, MayLast, Scope, waitsForState } from '../../../../platform/http/scope.js';
import { TxQueries, type TxView } from '../../../ledger/index.js';
import {
  IntakeRules,
  findTx,
  ApiIdempotencyKey,
  askedUntilStored,
  ProveBlobs,
  SignerRate,
  TX_ID,
  unlessRepeated,
  WaitQueryDto,
} from '../../../requests/index.js';
import { type CommandInput, SubmitCommand } from '../../application/submit-command.js';
import { CommandStore } from '../../domain/tx-command.js';
import { AnswerCommand, toDto } from './answer-command.js';
import {
  CANCEL_EXAMPLES,
  CancelTxDto,
  CommandAnswerDto,
  CommandPageDto,
  REPLACE_EXAMPLES,
  ReplaceTxDto,
  SPEED_UP_EXAMPLES,
  SpeedUpTxDto,
} from './commands.dto.js';
import { toCancel, toReplace, toSpeedUp } from './to-command.js';

const WAIT = 'With `waitFor` the request waits for a state of the transaction, or of its replacement, as GET does.';

@ApiTags('changes')
@Controller('api/v1/tx')
export class CommandsController {
  constructor(
    private readonly submit: SubmitCommand,
    private readonly commands: CommandStore,
    private readonly queries: TxQueries,
    private readonly answers: AnswerCommand,
    private readonly rules: IntakeRules,
    private readonly proveBlobs: ProveBlobs,
    private readonly signerRate: SignerRate,
  ) {}

  @Post(':txId/cancel')
  @Scope('tx:write')
  @MayLast(waitsForState)
  @ApiOperation({
    operationId: 'cancelTx',
    summary: 'Cancel a transaction',
    description:
      'A transaction without a nonce is cancelled at once. For a sent one, a no-op with the same nonce and a higher price competes with it; whichever is mined ' +
      `decides between CANCELLED and CONFIRMED. ${WAIT}`,
  })
  @ApiIdempotencyKey()
  @ApiBody({ type: CancelTxDto, examples: CANCEL_EXAMPLES })
  @ApiResponse({ status: 202, type: CommandAnswerDto, description: 'Accepted; the owner of the signer carries it out' })
  @ApiResponse({ status: 200, type: CommandAnswerDto, description: 'Done, or stored before' })
  async cancel(
    @Param('txId') txId: string,
    @Body() body: CancelTxDto,
    @Headers('idempotency-key') key: string | undefined,
    @Query() query: WaitQueryDto,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<CommandAnswerDto> {
    const caller = callerOf(request);
    return this.answer(toCancel(await this.find(txId, caller), body, key, caller), query, reply);
  }

  @Post(':txId/replace')
  @Scope('tx:write')
  @MayLast(waitsForState)
  @ApiOperation({
    operationId: 'replaceTx',
    summary: 'Replace a transaction by another payload',
    description:
      'A transaction without a nonce gets the new payload in place. For a sent one, a second transaction with the same nonce and a higher price competes with ' +
      `it: either the original ends REPLACED, or the replacement ends DROPPED, or FAILED if the nodes refuse it. Blobs replace blobs only, once they were sent. ${WAIT}`,
  })
  @ApiIdempotencyKey()
  @ApiBody({ type: ReplaceTxDto, examples: REPLACE_EXAMPLES })
  @ApiResponse({ status: 202, type: CommandAnswerDto, description: 'Accepted; the owner of the signer carries it out' })
  @ApiResponse({ status: 200, type: CommandAnswerDto, description: 'Done, or stored before' })
  async replace(
    @Param('txId') txId: string,
    @Body() body: ReplaceTxDto,
    @Headers('idempotency-key') key: string | undefined,
    @Query() query: WaitQueryDto,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<CommandAnswerDto> {
    const caller = callerOf(request);
    const command = await toReplace(await this.find(txId, caller), body, key, caller, this.proveBlobs);
    // A command has its key, whatever transaction has the same.
    const isRepeated = askedUntilStored(() => this.submit.isStored(command.request.signer, command));
    await this.signerRate.take(command.request.signer, isRepeated);
    await this.rules.assertAcceptable(command.request, isRepeated);
    return this.answer(command, query, reply);
  }

  @Post(':txId/speed-up')
  @Scope('tx:write')
  @MayLast(waitsForState)
  @ApiOperation({
    operationId: 'speedUpTx',
    summary: 'Pay more for a sent transaction',
    description: `Signs the same payload again with the same nonce, at a price at least an eighth higher (with blobs twice as high), within the caps. ${WAIT}`,
  })
  @ApiIdempotencyKey()
  @ApiBody({ type: SpeedUpTxDto, examples: SPEED_UP_EXAMPLES })
  @ApiResponse({ status: 202, type: CommandAnswerDto, description: 'Accepted; the owner of the signer carries it out' })
  @ApiResponse({ status: 200, type: CommandAnswerDto, description: 'Stored before' })
  async speedUp(
    @Param('txId') txId: string,
    @Body() body: SpeedUpTxDto,
    @Headers('idempotency-key') key: string | undefined,
    @Query() query: WaitQueryDto,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<CommandAnswerDto> {
    const caller = callerOf(request);
    const tx = await this.find(txId, caller);
    const command = toSpeedUp(tx, body, key, caller);
    const [signer, { fees }] = [parseSigner(String(tx.chainId), tx.signer), command];
    if (fees)
      await unlessRepeated(
        () => this.submit.isStored(signer, command),
        () => this.rules.assertFees({ signer, fees }),
      );
    return this.answer(command, query, reply);
  }

  @Get(':txId/commands')
  @Scope('tx:read')
  @ApiOperation({
    operationId: 'listTxCommands',
    summary: 'List the commands about a transaction, oldest first',
    description:
      'Cancels, replaces and speed-ups; of a hold what its sender said. Each with its state, and with the reason where it was refused.',
  })
  @ApiResponse({ status: 200, type: CommandPageDto })
  async list(
    @Param('txId') txId: string,
    @Query() { cursor, limit = DEFAULT_PAGE_ITEMS }: PageQueryDto,
    @Req() request: FastifyRequest,
  ): Promise<CommandPageDto> {
    const after = cursor === undefined ? null : decodeCursor(cursor, TX_ID);
    const tx = await this.find(txId, callerOf(request));
    const found = await this.commands.ofTx(tx.txId, after, limit + 1);
    return pageOf(found.map(toDto), limit, ({ commandId }) => encodeCursor(commandId));
  }

  private answer(input: CommandInput, query: WaitQueryDto, reply: FastifyReply): Promise<CommandAnswerDto> {
    return this.answers.execute(() => this.submit.execute(input), input.sender, query, reply);
  }

  private find(txId: string, caller: Caller): Promise<TxView> {
    return findTx(txId, (id) => this.queries.find(id, caller));
  }
}
