import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { NodeConfig } from '../../../config/lockstep-config.js';
import { NodeIdentity } from '../../../kernel/node-identity.js';
import { Log } from '../../../platform/logging/log.js';
import { Housekeeping } from '../../../platform/scheduling/housekeeping.js';
import { NodeRegistry } from '../domain/node-registry.js';

const NAME = 'node-housekeeping';
const INTERVAL_MS = 60_000;

/** Runs once a minute: deletes the rows of dead nodes. */
@Injectable()
export class NodeHousekeeping extends Housekeeping {
  constructor(
    private readonly nodes: NodeRegistry,
    private readonly node: NodeIdentity,
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
    return this.nodes.forgetDead(this.node.id);
  }
}
