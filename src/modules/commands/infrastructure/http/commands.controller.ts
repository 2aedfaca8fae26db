import { Body, Controller, Get, Headers, HttpStatus, Param, Post, Query, Res } from '@nestjs/common';
import { ApiBody, ApiHeader, ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { NotFound } from '../../../../kernel/errors.js';
import { parseAddress } from '../../../../kernel/hex.js';
import { leaveSignal } from '../../../../platform/http/leave-signal.js';
import { ApiProblems } from '../../../../platform/http/problem.dto.js';
import {
  IntakeRules,
  isTxId,
  AssertCallback,
  ProveBlobs,
  txProblems,
  TxQueries,
  type TxView,
  WaitForState,
  WaitQueryDto,
} from '../../../transactions/index.js';
import { type CommandInput, SubmitCommand } from '../../application/submit-command.js';
import { CommandStore } from '../../domain/command-store.js';
import type { TxCommand } from '../../domain/tx-command.js';
import { CommandScheduler } from '../command-scheduler.js';
import * as problem from './command-problems.js';
import {
  CancelTxDto,
  CommandAnswerDto,
  CommandDto,
  CommandListDto,
  ReplaceTxDto,
  SpeedUpTxDto,
} from './commands.dto.js';
import { CANCEL_EXAMPLES, REPLACE_EXAMPLES, SPEED_UP_EXAMPLES } from './commands.examples.js';
import { toCancel, toReplace, toSpeedUp } from './to-command.js';

const PATH = '/api/v1/tx/019aa2f4-7a1c-7c3e-9a52-3f4d5e6f7a8b';
const DEFAULT_WAIT_MS = 30_000;
const KEY_HEADER = { name: 'Idempotency-Key', required: false, description: 'Same as requestId in the body' };
const WAIT = 'With `waitFor` the request waits for a state of the transaction, or of its replacement, as GET does.';

@ApiTags('transactions')
@Controller('api/v1/tx')
export class CommandsController {
  constructor(
    private readonly submit: SubmitCommand,
    private readonly commands: CommandStore,
    private readonly scheduler: CommandScheduler,
    private readonly queries: TxQueries,
    private readonly wait: WaitForState,
    private readonly rules: IntakeRules,
    private readonly proveBlobs: ProveBlobs,
    private readonly assertCallback: AssertCallback,
  ) {}

  @Post(':txId/cancel')
  @ApiOperation({
    summary: 'Cancel a transaction',
    description:
      'A transaction without a nonce is cancelled at once. For a sent one, a no-op with the same nonce and a higher price competes with it; whichever is mined ' +
      `decides between CANCELLED and CONFIRMED. ${WAIT}`,
  })
  @ApiHeader(KEY_HEADER)
  @ApiBody({ type: CancelTxDto, examples: CANCEL_EXAMPLES })
  @ApiResponse({ status: 202, type: CommandAnswerDto, description: 'Accepted; the owner of the signer carries it out' })
  @ApiResponse({ status: 200, type: CommandAnswerDto, description: 'Done, or stored before' })
  @ApiProblems(
    `${PATH}/cancel`,
    txProblems.INVALID,
    txProblems.UNKNOWN_TX,
    problem.ALREADY_MINED,
    problem.ALREADY_FINAL,
    problem.BEING_REPLACED,
    problem.NOT_A_PAYLOAD,
    txProblems.CONFLICT,
    txProblems.UNAVAILABLE,
  )
  async cancel(
    @Param('txId') txId: string,
    @Body() body: CancelTxDto,
    @Headers('idempotency-key') key: string | undefined,
    @Query() query: WaitQueryDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<CommandAnswerDto> {
    return this.answer(toCancel(await this.find(txId), body, key), query, reply);
  }

  @Post(':txId/replace')
  @ApiOperation({
    summary: 'Replace a transaction by another payload',
    description:
      'A transaction without a nonce gets the new payload in place. For a sent one, a second transaction with the same nonce and a higher price competes with ' +
      `it: either the original ends REPLACED, or the replacement ends DROPPED. Blobs replace blobs only, once they were sent. ${WAIT}`,
  })
  @ApiHeader(KEY_HEADER)
  @ApiBody({ type: ReplaceTxDto, examples: REPLACE_EXAMPLES })
  @ApiResponse({ status: 202, type: CommandAnswerDto, description: 'Accepted; the owner of the signer carries it out' })
  @ApiResponse({ status: 200, type: CommandAnswerDto, description: 'Done, or stored before' })
  @ApiProblems(
    `${PATH}/replace`,
    txProblems.INVALID,
    txProblems.MISSING_REQUEST_ID,
    txProblems.UNKNOWN_TX,
    problem.ALREADY_MINED,
    problem.ALREADY_FINAL,
    problem.BEING_REPLACED,
    problem.BEING_CANCELLED,
    problem.OTHER_KIND,
    problem.NOT_A_PAYLOAD,
    txProblems.CONFLICT,
    problem.NOT_IN_REPLACEMENT,
    txProblems.INVALID_BLOB,
    txProblems.BLOBS_BUSY,
    txProblems.METADATA_TOO_LARGE,
    txProblems.UNKNOWN_WEBHOOK,
    txProblems.UNAVAILABLE,
  )
  async replace(
    @Param('txId') txId: string,
    @Body() body: ReplaceTxDto,
    @Headers('idempotency-key') key: string | undefined,
    @Query() query: WaitQueryDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<CommandAnswerDto> {
    const command = await toReplace(await this.find(txId), body, key, this.proveBlobs);
    this.rules.assertAcceptable(command.request);
    await this.assertCallback.execute(command.request);
    return this.answer(command, query, reply);
  }

  @Post(':txId/speed-up')
  @ApiOperation({
    summary: 'Pay more for a sent transaction',
    description: `Signs the same payload again with the same nonce, at a price at least an eighth higher (with blobs twice as high), within the caps. ${WAIT}`,
  })
  @ApiHeader(KEY_HEADER)
  @ApiBody({ type: SpeedUpTxDto, examples: SPEED_UP_EXAMPLES })
  @ApiResponse({ status: 202, type: CommandAnswerDto, description: 'Accepted; the owner of the signer carries it out' })
  @ApiResponse({ status: 200, type: CommandAnswerDto, description: 'Stored before' })
  @ApiProblems(
    `${PATH}/speed-up`,
    txProblems.INVALID,
    txProblems.UNKNOWN_TX,
    problem.NOT_SENT_YET,
    problem.ALREADY_MINED,
    problem.ALREADY_FINAL,
    problem.BEING_REPLACED,
    problem.NOT_A_PAYLOAD,
    txProblems.CONFLICT,
    txProblems.UNAVAILABLE,
  )
  async speedUp(
    @Param('txId') txId: string,
    @Body() body: SpeedUpTxDto,
    @Headers('idempotency-key') key: string | undefined,
    @Query() query: WaitQueryDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<CommandAnswerDto> {
    const tx = await this.find(txId);
    const command = toSpeedUp(tx, body, key);
    if (command.fees)
      this.rules.assertAcceptable({
        signer: { chainId: tx.chainId, address: parseAddress(tx.signer) },
        fees: command.fees,
        metadata: null,
      });
    return this.answer(command, query, reply);
  }

  @Get(':txId/commands')
  @ApiOperation({ summary: 'List the cancels, replaces and speed-ups of a transaction, oldest first' })
  @ApiResponse({ status: 200, type: CommandListDto })
  @ApiProblems(`${PATH}/commands`, txProblems.UNKNOWN_TX, txProblems.UNAVAILABLE)
  async list(@Param('txId') txId: string): Promise<CommandListDto> {
    const tx = await this.find(txId);
    return { items: (await this.commands.ofTx(tx.txId)).map(toDto), nextCursor: null };
  }

  private async answer(
    input: CommandInput,
    { waitFor, timeoutMs }: WaitQueryDto,
    reply: FastifyReply,
  ): Promise<CommandAnswerDto> {
    const left = leaveSignal(reply);
    const { command, isNew } = await this.submit.execute(input);
    this.scheduler.wake(command.signer.chainId);
    const watched = command.replacement ?? command.txId;
    if (waitFor !== undefined) await this.wait.execute(watched, waitFor, timeoutMs ?? DEFAULT_WAIT_MS, left);
    void reply.status(isNew && command.status === 'QUEUED' ? HttpStatus.ACCEPTED : HttpStatus.OK);
    const now = waitFor === undefined ? command : await this.latest(command);
    return Object.assign(toDto(now), { tx: await this.find(watched) });
  }

  private async latest(command: TxCommand): Promise<TxCommand> {
    const all = await this.commands.ofTx(command.txId);
    return all.find(({ commandId }) => commandId === command.commandId) ?? command;
  }

  private async find(txId: string): Promise<TxView> {
    const tx = isTxId(txId) ? await this.queries.find(txId) : null;
    if (tx !== null) return tx;
    throw new NotFound('tx_not_found', 'no such transaction', 'check the id, or find the transaction by its requestId');
  }
}

function toDto({ commandId, requestId, kind, status, refusal, txId, replacement }: TxCommand): CommandDto {
  return { commandId, requestId, kind, status, refusal, txId, replacement };
}
