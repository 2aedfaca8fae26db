import { Injectable } from '@nestjs/common';
import type { SignerId } from '../../src/kernel/signer-id.js';
import { Router } from '../../src/modules/signers/index.js';
import { HandOver } from '../../src/modules/lanes/application/hand-over.js';
import { LaneStep } from '../../src/modules/lanes/application/lane-step.js';
import { LaneMemory } from '../../src/modules/ledger/application/writing/lane-memory.js';
import type { PlantedBug } from './planted-bug.js';

/** Does its work, and fails although nothing is wrong. */
@Injectable()
class BrokenHandOver extends HandOver {
  override async execute(chainId: number): Promise<void> {
    await super.execute(chainId);
    throw new Error('a hand-over failed');
  }
}

/** Believes after a failed step that everything before it was done: only another token makes it look. */
@Injectable()
class StubbornMemory extends LaneMemory {
  override forget(): void {
    // Nothing is forgotten.
  }
}

/** Wants another step at once, also when nothing could go. */
@Injectable()
class RestlessStep extends LaneStep {
  override async step(...args: Parameters<LaneStep['step']>): Promise<SignerId[]> {
    const [, signers] = args;
    await super.step(...args);
    return [...signers];
  }
}

/** Leaves every signer to its preferred node, and takes itself for nobody's. */
@Injectable()
class ShyRouter extends Router {
  override mayTake(): boolean {
    return false;
  }
}

/** What shows where nodes route, or where leases stay when the faults end. */
export const QUEUE_BUGS: readonly PlantedBug[] = [
  {
    name: 'a job that fails without a reason',
    shows: /^job: a job failed, and nothing explains it: Error: a hand-over failed/,
    play: { mode: 'worker-queue', leasesEnd: true, losesCommits: false, hasReceivers: false },
    sabotage: [[HandOver, { provide: HandOver, useClass: BrokenHandOver }]],
  },
  {
    name: 'a lane that only a take-over cures',
    shows: /^I8/,
    from: 33,
    play: { mode: 'basic', leasesEnd: false, losesCommits: false, hasReceivers: false },
    sabotage: [[LaneMemory, { provide: LaneMemory, useClass: StubbornMemory }]],
  },
  {
    name: 'a lane that never rests',
    shows: /^I8: .* works without end/,
    play: { mode: 'worker-queue', leasesEnd: true, losesCommits: false, hasReceivers: false },
    sabotage: [[LaneStep, { provide: LaneStep, useClass: RestlessStep }]],
  },
  {
    name: 'signers that no node takes',
    shows: /^I8: .* stand still/,
    play: { mode: 'worker-queue', leasesEnd: false, losesCommits: false, hasReceivers: false },
    sabotage: [[Router, { provide: Router, useClass: ShyRouter }]],
  },
];
