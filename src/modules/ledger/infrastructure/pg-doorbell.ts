import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { DatabaseConfig, NodeConfig } from '../../../config/lockstep-config.js';
import { Clock } from '../../../kernel/clock.js';
import { messageOf } from '../../../kernel/errors.js';
import { inSlices } from '../../../kernel/in-slices.js';
import { parseSigner, signerKey, type SignerId } from '../../../kernel/signer-id.js';
import { Database } from '../../../platform/database/database.js';
import { type Channel, Listener } from '../../../platform/database/listener.js';
import { Log } from '../../../platform/logging/log.js';
import { LeaseManager } from '../../signers/index.js';
import { Doorbell, LaneWaker } from '../application/writing/doorbell.js';

const CHANNEL: Channel = {
  name: 'lockstep_work',
  application: 'lockstep-doorbell',
  lost: 'doorbell connection lost, polling for work instead',
};
/** The payload of NOTIFY is limited to 8,000 bytes, and a signer takes at most 60. */
const SIGNERS_PER_NOTIFY = 100;
/** At most one NOTIFY per interval, because each takes a lock that all commits of the database share. The first is sent at once. */
const MIN_NOTIFY_INTERVAL_MS = 4;
const NOTIFY = { name: 'doorbell_notify', text: `SELECT pg_notify('${CHANNEL.name}', $1)` };

/**
 * Wakes other nodes with LISTEN/NOTIFY, after the commit. A lost notification costs one polling interval: while the connection is down,
 * polling finds all work.
 */
@Injectable()
export class PgDoorbell extends Doorbell implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly pending = new Map<string, SignerId>();
  private timer: NodeJS.Timeout | null = null;
  private notifiedAtMs = 0;
  private readonly listener: Listener;

  constructor(
    private readonly database: Database,
    config: DatabaseConfig,
    private readonly role: NodeConfig,
    private readonly lanes: LaneWaker,
    private readonly leases: LeaseManager,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {
    super();
    this.listener = new Listener(CHANNEL, (payload) => this.received(payload), config, log);
  }

  ring(signers: readonly SignerId[]): void {
    const ours = signers.filter((signer) => this.leases.isOurs(signer));
    this.lanes.wake(ours);
    for (const signer of signers) if (!ours.includes(signer)) this.pending.set(signerKey(signer), signer);
    if (this.pending.size === 0 || this.timer !== null) return;
    const waitMs = Math.max(0, this.notifiedAtMs + MIN_NOTIFY_INTERVAL_MS - this.clock.monotonicMs());
    this.timer = setTimeout(() => void this.flush(), waitMs);
  }

  async onApplicationBootstrap(): Promise<void> {
    if (this.role.acts) await this.listener.start();
  }

  async onModuleDestroy(): Promise<void> {
    if (this.timer) clearTimeout(this.timer);
    await this.flush();
    await this.listener.stop();
  }

  private async flush(): Promise<void> {
    const keys = [...this.pending.keys()];
    this.pending.clear();
    this.timer = null;
    this.notifiedAtMs = this.clock.monotonicMs();
    try {
      for (const some of inSlices(keys, SIGNERS_PER_NOTIFY)) await this.database.query(NOTIFY, [some.join(' ')]);
    } catch (error) {
      this.log.warn('failed to ring the doorbell', { error: messageOf(error) });
    }
  }

  private received(payload: string): void {
    const signers = payload.split(' ').flatMap((key): SignerId[] => {
      const [, chainId, address] = /^(\d+):(0x[0-9a-f]{40})$/.exec(key) ?? [];
      return chainId === undefined || address === undefined ? [] : [parseSigner(chainId, address)];
    });
    this.lanes.wake(signers.filter((signer) => this.leases.isOurs(signer)));
  }
}
