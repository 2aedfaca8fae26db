import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { LockstepConfig } from '../../../config/index.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import { HeadAnnouncer } from './rpc/head-announcer.js';
import type { AnnouncedHead } from './rpc/head-socket.js';

/** Longest time without an announcement: Ethereum may miss one slot, but hardly five in a row. */
const MAX_SILENCE_MS = 60_000;

/**
 * Reports new heads of chains with `wsUrls` as soon as an endpoint announces them. An announcement is only a hint: the head tracker
 * reads the head itself.
 */
@Injectable()
export class NewHeads implements OnModuleDestroy {
  private readonly announcers: ReadonlyMap<ChainId, HeadAnnouncer>;

  /** @throws InvalidInput `invalid_rpc_url` */
  constructor(config: LockstepConfig, log: Log) {
    this.announcers = new Map(
      config.chains.flatMap(({ id, wsUrls: urls, rpcTimeout }): [ChainId, HeadAnnouncer][] =>
        urls === undefined
          ? []
          : [[id, new HeadAnnouncer({ chainId: id, urls, setUpMs: rpcTimeout, silenceMs: MAX_SILENCE_MS, log })]],
      ),
    );
  }

  /** @param onNews called for each announced head, and when announcements end, because some may be missed then */
  start(onNews: (chainId: ChainId) => void): void {
    for (const [chainId, announcer] of this.announcers) announcer.start(() => onNews(chainId));
  }

  /** The last announced head; null without a connection that announces heads. */
  latest(chainId: ChainId): AnnouncedHead | null {
    return this.announcers.get(chainId)?.latest ?? null;
  }

  async onModuleDestroy(): Promise<void> {
    await Promise.all([...this.announcers.values()].map((announcer) => announcer.stop()));
  }
}
