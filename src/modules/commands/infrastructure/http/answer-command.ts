import { HttpStatus, Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Caller } from '../../../../kernel/caller.js';
import { leaveSignal } from '../../../../platform/http/leave-signal.js';
import { TxQueries } from '../../../ledger/index.js';
import { DEFAULT_WAIT_MS, findTx, WaitForState, type WaitQueryDto } from '../../../requests/index.js';
import type { SubmittedCommand } from '../../application/submit-command.js';
import { CommandStore, type TxCommand } from '../../domain/tx-command.js';
import { CommandScheduler } from '../command-scheduler.js';
import type { CommandAnswerDto, CommandDto } from './commands.dto.js';

/** Answers a command with what has become of it, and of its transaction. */
@Injectable()
export class AnswerCommand {
  constructor(
    private readonly commands: CommandStore,
    private readonly scheduler: CommandScheduler,
    private readonly queries: TxQueries,
    private readonly wait: WaitForState,
  ) {}

  async execute(
    submit: () => Promise<SubmittedCommand>,
    sender: Caller,
    { waitFor, timeoutMs = DEFAULT_WAIT_MS }: WaitQueryDto,
    reply: FastifyReply,
  ): Promise<CommandAnswerDto> {
    const left = leaveSignal(reply);
    const { command, isNew } = await this.submitted(submit);
    const watched = command.replacement ?? command.txId;
    if (waitFor !== undefined) await this.wait.execute(watched, waitFor, timeoutMs, left);
    void reply.status(statusOf(command, isNew));
    const now = waitFor === undefined ? null : await this.commands.get(command.commandId);
    const tx = await findTx(watched, (id) => this.queries.find(id, sender));
    return Object.assign(toDto(now ?? command), { tx });
  }

  /** Without the transaction, which may be one of another account. */
  async brief(submit: () => Promise<SubmittedCommand>, reply: FastifyReply): Promise<CommandDto> {
    const { command, isNew } = await this.submitted(submit);
    void reply.status(statusOf(command, isNew));
    return toDto(command);
  }

  private async submitted(submit: () => Promise<SubmittedCommand>): Promise<SubmittedCommand> {
    const submitted = await submit();
    this.scheduler.wake(submitted.command.signer.chainId);
    return submitted;
  }
}

function statusOf({ status }: TxCommand, isNew: boolean): HttpStatus {
  return isNew && status === 'QUEUED' ? HttpStatus.ACCEPTED : HttpStatus.OK;
}

export function toDto({ commandId, requestId, kind, status, refusal, txId, replacement }: TxCommand): CommandDto {
  return { commandId, requestId, kind, status, refusal, txId, replacement };
}
