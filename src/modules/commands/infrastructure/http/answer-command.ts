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
    const { command, isNew } = await submit();
    this.scheduler.wake(command.signer.chainId);
    const watched = command.replacement ?? command.txId;
    if (waitFor !== undefined) await this.wait.execute(watched, waitFor, timeoutMs, left);
    void reply.status(isNew && command.status === 'QUEUED' ? HttpStatus.ACCEPTED : HttpStatus.OK);
    const now = waitFor === undefined ? null : await this.commands.get(command.commandId);
    const tx = await findTx(watched, (id) => this.queries.find(id, sender));
    return Object.assign(toDto(now ?? command), { tx });
  }
}

export function toDto({ commandId, requestId, kind, status, refusal, txId, replacement }: TxCommand): CommandDto {
  return { commandId, requestId, kind, status, refusal, txId, replacement };
}
