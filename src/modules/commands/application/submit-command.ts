import { Injectable } from '@nestjs/common';
import type { Caller } from '../../../kernel/caller.js';
import { Conflict, NotFound } from '../../../kernel/errors.js';
import type { Hash } from '../../../kernel/hex.js';
import type { SignerId } from '../../../kernel/signer-id.js';
import { IdGenerator } from '../../../kernel/id-generator.js';
import { type Tx, UnitOfWork } from '../../../kernel/unit-of-work.js';
import { SignerInDoubt, SignersInDoubt } from '../../lost-commits/index.js';
import { CommandedTxs, Doorbell, type ManagedTx, type TxRequest } from '../../ledger/index.js';
import { type CommandKind, type CommandStatus, CommandStore, isOfHold, type TxCommand } from '../domain/tx-command.js';
import { commandVerdict, type CommandVerdict, kindVerdict } from '../domain/command-verdict.js';
import { LASTED_LONGEST, USED } from '../domain/hold-verdict.js';
import { CommandWaits } from './command-waits.js';

export interface CommandInput {
  readonly txId: string;
  readonly sender: Caller;
  readonly kind: CommandKind;
  /** Null when the client sent none: then nothing can be repeated. */
  readonly requestId: string | null;
  readonly requestHash: Hash;
  readonly fees: TxRequest['fees'] | null;
  /** Of a consume. */
  readonly txHash?: Hash;
  /** Of an extend, in seconds. */
  readonly ttl?: number;
  /** The new request of a replace. */
  readonly request: TxRequest | null;
  /** Writes what must be true if, and only if, the command is stored. */
  readonly inSameCommit?: (tx: Tx) => Promise<void>;
}

export interface SubmittedCommand {
  readonly command: TxCommand;
  /** False when the same command was stored before. */
  readonly isNew: boolean;
}

/**
 * Stores a command once per `(account, signer, requestId)`, on any node. What waits without a nonce changes in the same commit; everything else is
 * carried out by the owner of the signer ({@link ExecuteCommands}).
 */
@Injectable()
export class SubmitCommand {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly store: CommandStore,
    private readonly txs: CommandedTxs,
    private readonly ids: IdGenerator,
    private readonly doorbell: Doorbell,
    private readonly inDoubt: SignersInDoubt,
  ) {}

  /**
   * @throws NotFound `tx_not_found`
   * @throws SignerInDoubt when the tx waits, and may have been sent by commits that the database lost
   * @throws Conflict `idempotency_conflict`, `command_waits`, or the reason why the tx cannot be changed any more; then nothing is stored
   */
  async execute(input: CommandInput): Promise<SubmittedCommand> {
    for (;;) {
      await this.inDoubt.look();
      const submitted = await this.unitOfWork.run((tx) => this.submit(tx, input));
      // Else its connection was new, and is looked at first.
      if (submitted === null) continue;
      if (submitted.isNew) this.doorbell.ring([submitted.command.signer]);
      return submitted;
    }
  }

  /** Whether a command has its key, so that it is answered, or refused, by that alone. */
  async isStored(signer: SignerId, { requestId, sender }: CommandInput): Promise<boolean> {
    return requestId !== null && (await this.store.find(signer, requestId, sender.account)) !== null;
  }

  /** @returns null when nobody knows whether the database lost commits; nothing is written */
  private async submit(tx: Tx, input: CommandInput): Promise<SubmittedCommand | null> {
    const managed = await this.txs.lock(tx, input.txId);
    if (!managed)
      throw new NotFound(
        'tx_not_found',
        'no such transaction',
        'check the id, or find the transaction by its requestId',
      );
    const { account } = input.sender;
    const known = input.requestId && (await this.store.find(managed.signer, input.requestId, account, tx));
    if (known) return { command: sameRequest(known, input), isNew: false };
    const status = await this.statusOf(tx, managed, input);
    const said = isOfHold(input.kind) ? await this.saidBefore(tx, managed, input, status) : null;
    if (said) return { command: said, isNew: false };
    if (managed.state === 'PENDING' && !(await this.isUnsent(tx, managed.signer))) return null;
    const commandId = this.ids.next();
    const command: TxCommand = {
      commandId,
      signer: managed.signer,
      txId: managed.id,
      kind: input.kind,
      requestId: input.requestId ?? commandId,
      requestHash: input.requestHash,
      fees: input.fees,
      txHash: input.txHash ?? null,
      ttl: input.ttl ?? null,
      replacement: input.request && (managed.state === 'PENDING' ? managed.id : this.ids.next()),
      status,
      refusal: null,
      tries: 0,
    };
    await this.changeTx(tx, managed, command, input);
    await this.store.insert(tx, command, account);
    await input.inSameCommit?.(tx);
    return { command, isNew: true };
  }

  /**
   * Of each kind one word about a hold waits at most, and the same word that waits, or of a consume that holds, is stored once: else an outside sender
   * could add rows without end, which are read each second.
   * @throws CommandWaits
   */
  private async saidBefore(
    tx: Tx,
    { id: txId, state }: ManagedTx,
    { kind, requestHash, sender }: CommandInput,
    status: CommandStatus,
  ): Promise<TxCommand | null> {
    const statuses: readonly CommandStatus[] = kind === 'consume' ? ['QUEUED', 'DONE'] : [status];
    const same = await this.store.same(tx, { txId, kind, requestHash }, statuses, sender.account);
    if (same === null && status === 'QUEUED' && (await this.store.hasQueued(txId, kind, tx)))
      throw new CommandWaits(txId, state);
    return same;
  }

  /**
   * What waits changes at once. It needs no fence: whoever allocates a nonce locks the tx first. A consume or an extend waits for its owner, who may be
   * about to end the hold by an older look; one that is used does not end so.
   */
  private async changeTx(
    tx: Tx,
    managed: ManagedTx,
    { kind, requestId, replacement, status }: TxCommand,
    { request, sender }: CommandInput,
  ): Promise<void> {
    if (status === 'QUEUED' && (kind === 'consume' || kind === 'extend')) {
      if (managed.state !== 'IN_MEMPOOL') await this.txs.outdateCopies(tx, managed.id);
    } else if (managed.state === 'PENDING') {
      if (kind === 'replace') managed.edited(requestId);
      else managed.cancelled('cancelled before it was sent');
      await this.txs.savePending(tx, managed, request, sender.name);
    } else if (request && replacement) {
      const isStored = await this.txs.insertReplacement(tx, replacement, request, managed.id);
      if (!isStored) throw keyTaken({ requestId: request.requestId });
    }
  }

  /**
   * False when nobody knows, and the caller has to look again.
   * @throws SignerInDoubt
   */
  private async isUnsent(tx: Tx, signer: SignerId): Promise<boolean> {
    const inDoubt = await this.inDoubt.among(tx, [signer]);
    if (inDoubt === null) return false;
    if (inDoubt.size === 0) return true;
    // Its owner reconciles it, also where it has nothing to do.
    this.doorbell.ring([signer]);
    throw new SignerInDoubt(signer);
  }

  private async statusOf(tx: Tx, managed: ManagedTx, input: CommandInput): Promise<CommandStatus> {
    const { kind, txHash = null } = input;
    const rule = commandVerdict(kind, managed, txHash);
    const verdict = rule.kind === 'by_owner' ? ((await this.storedVerdict(tx, managed, input)) ?? rule) : rule;
    if (verdict.kind === 'refused')
      throw new Conflict(verdict.code, verdict.detail, verdict.advice, { txId: managed.id, state: managed.state });
    // Else the older one, which is carried out later, would win.
    if (kind === 'replace' && (await this.store.hasQueued(managed.id, kind, tx)))
      throw new Conflict('being_replaced', 'another replacement was accepted', 'read replacedBy of the transaction', {
        txId: managed.id,
        state: managed.state,
      });
    return verdict.kind === 'by_owner' ? 'QUEUED' : 'DONE';
  }

  /**
   * What only rows say. A nonce for which a consume waits is used: its owner may carry a release out first. In a pool the kind of a tx is
   * decided; while it may be unsent, the owner of its signer finds out.
   */
  private async storedVerdict(
    tx: Tx,
    managed: ManagedTx,
    { kind, request }: CommandInput,
  ): Promise<CommandVerdict | null> {
    if (kind === 'extend') return (await this.txs.hasLastedLongest(tx, managed.id)) ? LASTED_LONGEST : null;
    if (kind === 'release') return (await this.store.hasQueued(managed.id, 'consume', tx)) ? USED : null;
    if (request === null || managed.state !== 'IN_MEMPOOL') return null;
    return kindVerdict(await this.txs.hasBlobs(tx, managed.id), request.payload);
  }
}

function sameRequest(known: TxCommand, { kind, txId, requestHash }: CommandInput): TxCommand {
  if (known.requestHash === requestHash && known.kind === kind && known.txId === txId) return known;
  throw keyTaken({ txId: known.txId, requestId: known.requestId });
}

function keyTaken(facts: { readonly txId?: string; readonly requestId: string }): Conflict {
  return new Conflict(
    'idempotency_conflict',
    'this requestId was used for a different request',
    'use a new requestId, or send the first body unchanged',
    facts,
  );
}
