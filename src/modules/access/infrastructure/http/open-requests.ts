import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { NodeConfig } from '../../../../config/lockstep-config.js';
import type { Ticker } from '../../../../platform/scheduling/ticker.js';
import { Tickers } from '../../../../platform/scheduling/tickers.js';
import type { Session } from '../../application/session.js';

const LOOK_EVERY_MS = 1_000;

/** The requests of this node that have no whole answer yet. The connection of one is closed when its key or token ends: streams and long polls last long. */
@Injectable()
export class OpenRequests implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly open = new Map<FastifyReply['raw'], Session>();
  private readonly ticker: Ticker;

  constructor(
    tickers: Tickers,
    private readonly role: NodeConfig,
  ) {
    this.ticker = tickers.create({
      name: 'open-requests',
      intervalMs: LOOK_EVERY_MS,
      run: async () => this.closeEnded(),
    });
  }

  add({ raw }: Pick<FastifyReply, 'raw'>, session: Session): void {
    if (raw.destroyed) return;
    this.open.set(raw, session);
    raw.once('close', () => this.open.delete(raw));
  }

  closeEnded(): void {
    for (const [raw, { isLive }] of this.open) if (!isLive()) raw.destroy();
  }

  onApplicationBootstrap(): void {
    if (this.role.serves) this.ticker.start();
  }

  async onModuleDestroy(): Promise<void> {
    await this.ticker.stop();
  }
}
