import { Injectable } from '@nestjs/common';
import { groupBy } from '../../../kernel/group-by.js';
import { type ChainId, signerKey } from '../../../kernel/signer-id.js';
import { Turns } from '../../../platform/scheduling/turns.js';
import { Chains } from '../../chain/index.js';
import { LeaseManager } from '../../signers/index.js';
import { CommandStore, type TxCommand } from '../domain/tx-command.js';
import { CarryOutCommands } from './carry-out-commands.js';

const MAX_COMMANDS_AT_ONCE = 200;

/**
 * Carries out the queued commands of this node's signers, in turn. No signer waits for another one: a second call, while the first one still
 * waits for the chain, leaves out the signers of the first one.
 */
@Injectable()
export class ExecuteCommands {
  private readonly commandTurns = new Turns<TxCommand>(MAX_COMMANDS_AT_ONCE, ({ signer }) => signer.address);
  /** Keys of signers whose commands are being carried out. */
  private readonly busy = new Set<string>();
  private readonly reading = new Set<ChainId>();

  constructor(
    private readonly leases: LeaseManager,
    private readonly store: CommandStore,
    private readonly chains: Chains,
    private readonly carryOut: CarryOutCommands,
  ) {}

  async execute(chainId: ChainId): Promise<void> {
    if (this.reading.has(chainId) || this.busy.size >= MAX_COMMANDS_AT_ONCE) return;
    this.reading.add(chainId);
    const commands = await this.due(chainId).finally(() => this.reading.delete(chainId));
    const bySigner = groupBy(commands, ({ signer }) => signerKey(signer));
    const outcomes = await Promise.allSettled([...bySigner].map(([key, own]) => this.ofSigner(chainId, key, own)));
    const failed = outcomes.find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
  }

  private due(chainId: ChainId): Promise<TxCommand[]> {
    const signers = this.leases.heldOn(chainId).map(({ signer }) => signer);
    const free = signers.filter((signer) => !this.busy.has(signerKey(signer))).map(({ address }) => address);
    return this.commandTurns.take(chainId, free, (some, perSigner) => this.store.queued(chainId, some, perSigner));
  }

  private async ofSigner(chainId: ChainId, key: string, commands: readonly TxCommand[]): Promise<void> {
    if (this.busy.has(key)) return;
    this.busy.add(key);
    try {
      await this.carryOut.execute(this.chains.get(chainId), commands);
    } finally {
      this.busy.delete(key);
    }
  }
}
