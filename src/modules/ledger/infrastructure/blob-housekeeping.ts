import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { NodeConfig } from '../../../config/lockstep-config.js';
import { Log } from '../../../platform/logging/log.js';
import { Housekeeping } from '../../../platform/scheduling/housekeeping.js';
import { BlobRepository } from '../domain/blob.repository.js';

const NAME = 'blob-housekeeping';
const INTERVAL_MS = 60_000;
/** A blob takes about 140 kB. */
const BLOBS_PER_RUN = 200;

/** When: deletes blobs that need not be sent any more once a minute. */
@Injectable()
export class BlobHousekeeping extends Housekeeping {
  constructor(
    private readonly blobs: BlobRepository,
    role: NodeConfig,
    log: Log,
  ) {
    super(NAME, role, log);
  }

  @Interval(NAME, INTERVAL_MS)
  run(): Promise<void> {
    return this.runOnce();
  }

  protected override async clean(): Promise<void> {
    await this.blobs.prune(BLOBS_PER_RUN);
  }
}
