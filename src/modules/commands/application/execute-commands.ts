import { Injectable } from '@nestjs/common';
import type { ChainId } from '../../../kernel/signer-id.js';
import { Chains } from '../../chain/index.js';
import { LeaseManager } from '../../signers/index.js';
import { LeasedWork } from '../../transactions/index.js';
import { CommandStore } from '../domain/command-store.js';
import { CommandSteps } from './command-steps.js';

const MAX_COMMANDS_AT_ONCE = 200;

/** Carries out the queued commands of this node's signers, on their workers, so that no lane step of the signer runs meanwhile. */
@Injectable()
export class ExecuteCommands {
  constructor(
    private readonly leases: LeaseManager,
    private readonly store: CommandStore,
    private readonly work: LeasedWork,
    private readonly steps: CommandSteps,
    private readonly chains: Chains,
  ) {}

  async execute(chainId: ChainId): Promise<void> {
    const signers = this.leases.heldOn(chainId).map((lease) => lease.signer);
    if (signers.length === 0) return;
    const commands = await this.store.queued(chainId, signers, MAX_COMMANDS_AT_ONCE);
    // A share that fails is repeated in parts. What was carried out is left out then.
    const carriedOut = new Set<string>();
    await this.work.run(chainId, commands, async (leases, share) => {
      for (const command of share.filter(({ commandId }) => !carriedOut.has(commandId))) {
        const decision = await this.steps.execute(this.chains.get(chainId), leases, command);
        carriedOut.add(command.commandId);
        // After the change, and not in its commit: a command that is carried out twice finds the change made. A speed-up, which would not,
        // is decided by then.
        if (decision) await this.store.decide([decision]);
      }
    });
  }
}
