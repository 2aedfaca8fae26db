import { Injectable } from '@nestjs/common';
import { backoffMs, chanceOf, jittered } from '../../../kernel/backoff.js';
import { inSlices } from '../../../kernel/in-slices.js';
import { Log } from '../../../platform/logging/log.js';
import type { ChainConnector } from '../../chain/index.js';
import { BroadcastAttempts, type Sending } from '../../sending/index.js';
import type { Lease } from '../../signers/index.js';
import { BegunWork } from '../../ledger/index.js';
import { CommandStore, type Decision, FIRST_PAUSE_MS, type TxCommand } from '../domain/tx-command.js';
import { AskChain, type ChainAnswers, NOTHING_ASKED } from './ask-chain.js';
import { CarryOutOnSlot } from './carry-out-on-slot.js';
import { ReplaceSent } from './replace-sent.js';
import { SpeedUpSent } from './speed-up-sent.js';

/** Commands that enter a lane together. Then the other signers of its worker have a turn. */
const MAX_IN_LANE = 8;

/**
 * Carries out commands of one signer. What has to be asked of the chain is asked before they enter the lane. What could not be carried out is
 * due again later.
 */
@Injectable()
export class CarryOutCommands {
  constructor(
    private readonly ask: AskChain,
    private readonly work: BegunWork,
    private readonly onSlot: CarryOutOnSlot,
    private readonly replace: ReplaceSent,
    private readonly speedUp: SpeedUpSent,
    private readonly broadcast: BroadcastAttempts,
    private readonly store: CommandStore,
    private readonly log: Log,
  ) {}

  /** @param commands of one signer */
  async execute(chain: ChainConnector, commands: readonly TxCommand[]): Promise<void> {
    for (let rest = commands; rest.length > 0;) {
      const now = firstOfEachTx(rest);
      await this.together(chain, now);
      rest = rest.filter((command) => !now.includes(command));
    }
  }

  private async together(chain: ChainConnector, commands: readonly TxCommand[]): Promise<void> {
    const undecided = new Set(commands);
    const others = commands.filter(needsChain);
    const onSlot = commands.filter((command) => !needsChain(command));
    try {
      const asking = [...others, ...(await this.inLane(chain, onSlot, NOTHING_ASKED, undecided))];
      if (asking.length > 0) await this.inLane(chain, asking, await this.ask.execute(chain, asking), undecided);
    } finally {
      await this.store.postpone(
        [...undecided].map(({ commandId, tries }) => ({
          id: commandId,
          inMs: jittered(backoffMs(FIRST_PAUSE_MS, tries), chanceOf(commandId)),
        })),
      );
    }
  }

  /** @returns those that need more answers of the chain */
  private async inLane(
    chain: ChainConnector,
    commands: readonly TxCommand[],
    said: ChainAnswers,
    undecided: Set<TxCommand>,
  ): Promise<TxCommand[]> {
    const open: TxCommand[] = [];
    for (const part of inSlices(commands, MAX_IN_LANE)) {
      try {
        await this.work.run(chain.chainId, part, async (leases, share) => {
          const decisions = await this.decide(chain, leases, share, said);
          // After the change, and not in its commit: a command that is carried out twice finds the change made. A speed-up, which would not,
          // is decided by then.
          await this.store.decide(decisions);
          const decided = new Set(decisions.map(({ commandId }) => commandId));
          for (const command of share) {
            if (decided.has(command.commandId)) undecided.delete(command);
            else open.push(command);
          }
        });
      } catch (error) {
        this.log.error('failed to carry out commands', { chainId: chain.chainId, commands: part.length, error });
      }
    }
    return open;
  }

  /**
   * Writes for each command, then sends for all of them at once.
   * @param commands of different txs
   * @returns how they ended; leaves out those that have to be tried again
   */
  private async decide(
    chain: ChainConnector,
    leases: readonly Lease[],
    commands: readonly TxCommand[],
    said: ChainAnswers,
  ): Promise<Decision[]> {
    const decisions: Decision[] = [];
    const sendings: Sending[] = [];
    for (const command of commands) {
      if (command.kind === 'speed_up') continue;
      const { decision, sending } =
        command.kind === 'replace'
          ? await this.replace.execute(leases, command, said)
          : { decision: await this.onSlot.execute(leases, command, said), sending: null };
      if (decision) decisions.push(decision);
      if (sending) sendings.push(sending);
    }
    if (sendings.length > 0) await this.broadcast.execute(chain, leases, sendings);
    const speedUps = commands.filter(({ kind }) => kind === 'speed_up');
    const { quote } = said;
    if (speedUps.length === 0 || quote === null) return decisions;
    return [...decisions, ...(await this.speedUp.execute(chain, leases, speedUps, { ...said, quote }))];
  }
}

function needsChain({ kind }: TxCommand): boolean {
  return kind === 'replace' || kind === 'speed_up';
}

/** Two commands about one tx, or about a replacement and what it replaces, go one after the other: the second one finds what the first one did. */
function firstOfEachTx(commands: readonly TxCommand[]): TxCommand[] {
  const seen = new Set<string>();
  return commands.filter(({ txId, replacement }) => {
    const about = replacement === null ? [txId] : [txId, replacement];
    const isFirst = !about.some((id) => seen.has(id));
    for (const id of about) seen.add(id);
    return isFirst;
  });
}
