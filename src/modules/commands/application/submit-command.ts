import { Injectable } from '@nestjs/common';
import { Conflict, NotFound } from '../../../kernel/errors.js';
import type { Hash } from '../../../kernel/hex.js';
import { IdGenerator } from '../../../kernel/id-generator.js';
import { NodeIdentity } from '../../../kernel/node-identity.js';
import { type Tx, UnitOfWork } from '../../../kernel/unit-of-work.js';
import { EventLog } from '../../events/index.js';
import { Doorbell, type ManagedTx, type RequestedFees, type TxRequest } from '../../transactions/index.js';
import { CommandStore } from '../domain/command-store.js';
import { commandVerdict, type CommandVerdict, kindVerdict } from '../domain/command-verdict.js';
import type { CommandKind, CommandStatus, TxCommand } from '../domain/tx-command.js';

export interface CommandInput {
  readonly txId: string;
  readonly kind: CommandKind;
  /** Null when the client sent none: then nothing can be repeated. */
  readonly requestId: string | null;
  readonly requestHash: Hash;
  readonly fees: RequestedFees | null;
  /** Of a replace: the new request. */
  readonly request: TxRequest | null;
}

export interface SubmittedCommand {
  readonly command: TxCommand;
  /** False when the same command was stored before. */
  readonly isNew: boolean;
}

/**
 * Stores a command once per `(signer, requestId)`, on any node. What waits without a nonce changes in the same commit; everything else is
 * carried out by the owner of the signer ({@link ExecuteCommands}).
 */
@Injectable()
export class SubmitCommand {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly store: CommandStore,
    private readonly events: EventLog,
    private readonly ids: IdGenerator,
    private readonly node: NodeIdentity,
    private readonly doorbell: Doorbell,
  ) {}

  /**
   * @throws NotFound `tx_not_found`
   * @throws Conflict `idempotency_conflict`, or the reason why the tx cannot be changed any more; then nothing is stored
   */
  async execute(input: CommandInput): Promise<SubmittedCommand> {
    const submitted = await this.unitOfWork.run((tx) => this.submit(tx, input));
    if (submitted.isNew) this.doorbell.ring([submitted.command.signer]);
    return submitted;
  }

  private async submit(tx: Tx, input: CommandInput): Promise<SubmittedCommand> {
    const managed = await this.store.lock(tx, input.txId);
    if (!managed)
      throw new NotFound(
        'tx_not_found',
        'no such transaction',
        'check the id, or find the transaction by its requestId',
      );
    const known = input.requestId === null ? null : await this.store.find(tx, managed.signer, input.requestId);
    if (known) return { command: sameRequest(known, input), isNew: false };
    const status = await this.statusOf(tx, managed, input);
    const commandId = this.ids.next();
    const command: TxCommand = {
      commandId,
      signer: managed.signer,
      txId: managed.id,
      kind: input.kind,
      requestId: input.requestId ?? commandId,
      requestHash: input.requestHash,
      fees: input.fees,
      replacement: input.request && (managed.state === 'PENDING' ? managed.id : this.ids.next()),
      status,
      refusal: null,
    };
    if (managed.state === 'PENDING') await this.changePending(tx, managed, command, input.request);
    else if (input.request && command.replacement)
      await this.store.insertReplacement(tx, command.replacement, input.request, managed.id);
    await this.store.insert(tx, command);
    return { command, isNew: true };
  }

  private async statusOf(tx: Tx, managed: ManagedTx, { kind, request }: CommandInput): Promise<CommandStatus> {
    const rule = commandVerdict(kind, managed);
    const verdict = rule.kind === 'by_owner' ? ((await this.kindVerdict(tx, managed, request)) ?? rule) : rule;
    if (verdict.kind === 'refused')
      throw new Conflict(verdict.code, verdict.detail, verdict.advice, { txId: managed.id, state: managed.state });
    if (verdict.kind === 'by_owner' && kind === 'replace' && (await this.store.hasQueuedReplace(tx, managed.id)))
      throw new Conflict('being_replaced', 'another replacement was accepted', 'read replacedBy of the transaction', {
        txId: managed.id,
        state: managed.state,
      });
    return verdict.kind === 'by_owner' ? 'QUEUED' : 'DONE';
  }

  /** In a pool its kind is decided. While it may be unsent, the owner of its signer finds out. */
  private async kindVerdict(tx: Tx, managed: ManagedTx, request: TxRequest | null): Promise<CommandVerdict | null> {
    if (request === null || managed.state !== 'IN_MEMPOOL') return null;
    return kindVerdict(await this.store.hasBlobs(tx, managed.id), request.payload);
  }

  private async changePending(
    tx: Tx,
    managed: ManagedTx,
    { kind, requestId }: TxCommand,
    request: TxRequest | null,
  ): Promise<void> {
    if (kind === 'cancel') managed.cancelled('cancelled before it was sent');
    else managed.edited(requestId);
    await this.store.savePending(tx, managed, request);
    await this.events.append(tx, { nodeId: this.node.id, tokenFor: () => null }, managed.pendingEvents());
  }
}

function sameRequest(known: TxCommand, { kind, txId, requestHash }: CommandInput): TxCommand {
  if (known.requestHash === requestHash && known.kind === kind && known.txId === txId) return known;
  throw new Conflict(
    'idempotency_conflict',
    'this requestId was used for a different request',
    'use a new requestId, or send the first body unchanged',
    { txId: known.txId, requestId: known.requestId },
  );
}
