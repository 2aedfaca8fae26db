import { ConfirmationManager } from '../../src/modules/confirmations/infrastructure/confirmation-manager.js';
import { ReceiptChecker } from '../../src/modules/confirmations/infrastructure/receipt-checker.js';
import { CommandScheduler } from '../../src/modules/commands/infrastructure/command-scheduler.js';
import { LeaseHeartbeat } from '../../src/modules/signers/infrastructure/lease-heartbeat.js';
import { BalanceScheduler } from '../../src/modules/lanes/infrastructure/balance-scheduler.js';
import { HandOverScheduler } from '../../src/modules/lanes/infrastructure/hand-over-scheduler.js';
import { LaneScheduler } from '../../src/modules/lanes/infrastructure/lane-scheduler.js';
import { ResubmitScheduler } from '../../src/modules/lanes/infrastructure/resubmit-scheduler.js';
import { HoldScheduler } from '../../src/modules/nonces/infrastructure/hold-scheduler.js';
import { DEV_CHAIN } from '../support/builders.js';
import type { Provider, Token } from '../support/container.js';

/** The product's lanes; their rests end when the time of their node has passed. */
export class DrivenLanes extends LaneScheduler {
  private readonly resting: { leftMs: number; readonly run: () => void }[] = [];

  tickNow(): Promise<void> {
    return this.tick(DEV_CHAIN);
  }

  /** Time passed at the node; whose rest is over steps. */
  passed(ms: number): void {
    for (const rest of this.resting) rest.leftMs -= ms;
    for (const over of this.resting.filter(({ leftMs }) => leftMs <= 0)) {
      this.resting.splice(this.resting.indexOf(over), 1);
      over.run();
    }
  }

  protected override load(): number {
    return 0;
  }

  protected override later(ms: number, run: () => void): void {
    this.resting.push({ leftMs: ms, run });
  }
}

export class DrivenHeartbeat extends LeaseHeartbeat {
  tickNow(): Promise<void> {
    return this.beat();
  }
}

export class DrivenHandOver extends HandOverScheduler {
  tickNow(): Promise<void> {
    return this.tick(DEV_CHAIN);
  }
}

export class DrivenFollower extends ConfirmationManager {
  tickNow(): Promise<void> {
    return this.tick(DEV_CHAIN);
  }
}

export class DrivenReceipts extends ReceiptChecker {
  tickNow(): Promise<void> {
    return this.tick(DEV_CHAIN);
  }
}

export class DrivenCommands extends CommandScheduler {
  async tickNow(): Promise<void> {
    await this.tick(DEV_CHAIN);
    await this.idle();
  }
}

export class DrivenBalances extends BalanceScheduler {
  tickNow(): Promise<void> {
    return this.tick(DEV_CHAIN);
  }
}

export class DrivenHolds extends HoldScheduler {
  tickNow(): Promise<void> {
    return this.tick(DEV_CHAIN);
  }
}

export class DrivenResubmits extends ResubmitScheduler {
  tickNow(): Promise<void> {
    return this.tick(DEV_CHAIN);
  }
}

/** The schedulers of the product, whose ticks the simulation asks for: none of their timers runs. */
export const SCHEDULERS: readonly (readonly [Token, Provider])[] = [
  [LaneScheduler, { provide: LaneScheduler, useExisting: DrivenLanes }],
  [LeaseHeartbeat, { provide: LeaseHeartbeat, useExisting: DrivenHeartbeat }],
  [HandOverScheduler, { provide: HandOverScheduler, useExisting: DrivenHandOver }],
  [ConfirmationManager, { provide: ConfirmationManager, useExisting: DrivenFollower }],
  [BalanceScheduler, { provide: BalanceScheduler, useExisting: DrivenBalances }],
  [ReceiptChecker, { provide: ReceiptChecker, useExisting: DrivenReceipts }],
  [CommandScheduler, { provide: CommandScheduler, useExisting: DrivenCommands }],
  [HoldScheduler, { provide: HoldScheduler, useExisting: DrivenHolds }],
  [ResubmitScheduler, { provide: ResubmitScheduler, useExisting: DrivenResubmits }],
];
