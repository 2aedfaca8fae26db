import { Injectable } from '@nestjs/common';
import { Cron, CronExpression } from '@nestjs/schedule';
import { NodeConfig } from '../../../config/lockstep-config.js';
import { Log } from '../../../platform/logging/log.js';
import { Housekeeping } from '../../../platform/scheduling/housekeeping.js';
import { DeleteOld } from '../application/delete-old.js';

const NAME = 'retention-housekeeping';

/** When: deletes old rows once a minute. */
@Injectable()
export class RetentionHousekeeping extends Housekeeping {
  constructor(
    private readonly deleteOld: DeleteOld,
    role: NodeConfig,
    log: Log,
  ) {
    super(NAME, role, log);
  }

  @Cron(CronExpression.EVERY_MINUTE, { name: NAME })
  run(): Promise<void> {
    return this.runOnce();
  }

  protected override clean(isStopped: () => boolean): Promise<void> {
    return this.deleteOld.execute(isStopped);
  }
}
