import { type SignerId, signerKey } from '../../src/kernel/signer-id.js';
import { Chains, HeadTracker } from '../../src/modules/chain/index.js';
import { ApplyChainUpdate } from '../../src/modules/confirmations/application/apply-chain-update.js';
import { CheckReceipts } from '../../src/modules/confirmations/application/check-receipts.js';
import { CloseExpired } from '../../src/modules/commands/application/close-expired.js';
import { ExecuteCommands } from '../../src/modules/commands/application/execute-commands.js';
import { LeaseManager } from '../../src/modules/signers/index.js';
import { FreeNonceGaps } from '../../src/modules/nonces/index.js';
import { TendHolds } from '../../src/modules/nonces/application/tend-holds.js';
import { HandOver } from '../../src/modules/lanes/application/hand-over.js';
import { LaneStep } from '../../src/modules/lanes/application/lane-step.js';
import { BumpDue } from '../../src/modules/lanes/application/bump-due.js';
import { WatchBalances } from '../../src/modules/lanes/application/watch-balances.js';
import { ResendDue } from '../../src/modules/lanes/application/resend-due.js';
import { SignerWorkers } from '../../src/modules/signers/application/signer-workers.js';
import { Log } from '../../src/platform/logging/log.js';
import { DEV_CHAIN } from '../support/builders.js';
import type { Container } from '../support/container.js';
import { deliver } from './receivers.js';
import {
  DrivenBalances,
  DrivenCommands,
  DrivenFollower,
  DrivenHandOver,
  DrivenHeartbeat,
  DrivenHolds,
  DrivenLanes,
  DrivenReceipts,
  DrivenResubmits,
} from './node-schedulers.js';

/** Work of a node that never runs twice at once. */
export type Job =
  | 'step'
  | 'commands'
  | 'follow'
  | 'receipts'
  | 'resubmit'
  | 'balances'
  | 'renew'
  | 'hand over'
  | 'deliver'
  | 'holds';

export type Jobs = Readonly<Record<Job, (signers: readonly SignerId[]) => Promise<void>>>;

/** The use-cases alone, for the signers that the simulation names: whoever is asked to step steps. */
export function plainJobs(node: Container): Jobs {
  return {
    // As the scheduler does it: on the workers of the signers.
    step: (signers) =>
      node
        .get(SignerWorkers)
        .forChain(DEV_CHAIN)
        .runGrouped(signers, signerKey, async (share) => {
          await node.get(LaneStep).step(node.get(Chains).get(DEV_CHAIN), share, (signer, error) => {
            node.get(Log).error('lane step failed', { signer: signerKey(signer), error });
          });
        }),
    follow: async () => {
      await node.get(HeadTracker).execute(DEV_CHAIN, (update) => node.get(ApplyChainUpdate).execute(update));
    },
    receipts: async () => {
      await node.get(FreeNonceGaps).execute(DEV_CHAIN, await node.get(CheckReceipts).execute(DEV_CHAIN));
    },
    resubmit: async () => {
      await node.get(ResendDue).execute(DEV_CHAIN);
      await node.get(BumpDue).execute(DEV_CHAIN);
    },
    balances: async () => {
      const held = node.get(LeaseManager).heldOn(DEV_CHAIN);
      await node.get(WatchBalances).execute(
        node.get(Chains).get(DEV_CHAIN),
        held.map(({ signer }) => signer),
      );
    },
    commands: async () => {
      await node.get(ExecuteCommands).execute(DEV_CHAIN);
      await node.get(CloseExpired).execute(DEV_CHAIN);
    },
    renew: () => node.get(LeaseManager).renewAll(),
    'hand over': () => node.get(HandOver).execute(DEV_CHAIN),
    deliver: () => deliver(node),
    holds: () => node.get(TendHolds).execute(DEV_CHAIN),
  };
}

/** The schedulers' ticks: they find out themselves for whom there is something to do, and whether it is theirs to do. */
export function scheduledJobs(node: Container): Jobs {
  let hasMet = false;
  const beat = async (): Promise<void> => {
    await node.get(DrivenHeartbeat).tickNow();
    hasMet = true;
  };
  /** A process meets the others before it does anything else. */
  const met = (tick: () => Promise<void>) => async (): Promise<void> => {
    if (!hasMet) await beat();
    await tick();
  };
  return {
    step: met(async () => {
      await node.get(DrivenLanes).tickNow();
      await node.get(SignerWorkers).idle();
    }),
    follow: met(() => node.get(DrivenFollower).tickNow()),
    receipts: met(() => node.get(DrivenReceipts).tickNow()),
    resubmit: met(() => node.get(DrivenResubmits).tickNow()),
    balances: met(() => node.get(DrivenBalances).tickNow()),
    commands: met(() => node.get(DrivenCommands).tickNow()),
    renew: beat,
    'hand over': met(() => node.get(DrivenHandOver).tickNow()),
    deliver: met(() => deliver(node)),
    holds: met(() => node.get(DrivenHolds).tickNow()),
  };
}
