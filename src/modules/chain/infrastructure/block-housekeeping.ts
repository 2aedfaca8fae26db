import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { NodeConfig } from '../../../config/lockstep-config.js';
import { Log } from '../../../platform/logging/log.js';
import { Housekeeping } from '../../../platform/scheduling/housekeeping.js';
import { HeadTracker } from '../application/head-tracker.js';

const NAME = 'block-housekeeping';
const INTERVAL_MS = 60_000;

/** When: deletes old rows of `chain_block` once a minute. */
@Injectable()
export class BlockHousekeeping extends Housekeeping {
  constructor(
    private readonly follow: HeadTracker,
    role: NodeConfig,
    log: Log,
  ) {
    super(NAME, role, log);
  }

  @Interval(NAME, INTERVAL_MS)
  run(): Promise<void> {
    return this.runOnce();
  }

  protected override clean(): Promise<void> {
    return this.follow.prune();
  }
}
