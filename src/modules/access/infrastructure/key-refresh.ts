import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { AuthConfig, DatabaseConfig, NodeConfig } from '../../../config/lockstep-config.js';
import { messageOf, Unavailable } from '../../../kernel/errors.js';
import { type Channel, Listener } from '../../../platform/database/listener.js';
import { Log } from '../../../platform/logging/log.js';
import type { Ticker } from '../../../platform/scheduling/ticker.js';
import { Tickers } from '../../../platform/scheduling/tickers.js';
import { AccountBook } from '../application/account-book.js';
import { KeyRing } from '../application/key-ring.js';
import { CHANNEL } from './key.statements.js';

const NEWS: Channel = {
  name: CHANNEL,
  application: 'lockstep-keys',
  lost: 'connection for news of keys lost, polling for keys instead',
};
/** A revoked key can be used so long at a node that missed the news. */
const POLL_MS = 5_000;
const RECORD_USES_EVERY_MS = 60_000;

/** When keys and accounts are read: before the node serves, when one was made or changed on any node, and every few seconds. */
@Injectable()
export class KeyRefresh implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly listener: Listener;
  private readonly refresh: Ticker;
  private readonly uses: Ticker;

  constructor(
    private readonly keys: KeyRing,
    private readonly accounts: AccountBook,
    tickers: Tickers,
    database: DatabaseConfig,
    private readonly auth: AuthConfig,
    private readonly role: NodeConfig,
    private readonly log: Log,
  ) {
    this.listener = new Listener(NEWS, () => this.refresh.kick(), database, log);
    this.refresh = tickers.create({ name: 'keys', intervalMs: POLL_MS, run: () => this.read() });
    this.uses = tickers.create({
      name: 'key-uses',
      intervalMs: RECORD_USES_EVERY_MS,
      run: () => this.unlessAway(keys.recordUses()),
    });
  }

  async onApplicationBootstrap(): Promise<void> {
    if (!this.role.serves) return;
    if (this.auth.mode === 'none') this.log.warn('anybody who reaches the port may do everything: auth.mode is none');
    // First, so that no news falls between.
    await this.listener.start();
    await this.read();
    this.refresh.start();
    this.uses.start();
  }

  async onModuleDestroy(): Promise<void> {
    await this.listener.stop();
    await Promise.all([this.refresh.stop(), this.uses.stop()]);
  }

  /** Also after a change that this node has made. Where it fails, the change is made all the same, and is read again by itself. */
  async read(): Promise<void> {
    const keys = this.auth.mode === 'apiKeys' ? [this.unlessAway(this.keys.refresh())] : [];
    await Promise.all([this.unlessAway(this.accounts.refresh()), ...keys]);
  }

  /** The database watch tells that the database is away. All stays as it was read last: no revocation can be stored meanwhile. */
  private async unlessAway(work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      this.log.debug('failed to read or write keys or accounts', { error: messageOf(error) });
    }
  }
}
