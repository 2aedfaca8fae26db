import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { LockstepConfig } from '../../../config/index.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import { HeadAnnouncer } from './rpc/head-announcer.js';
import type { AnnouncedHead } from './rpc/head-socket.js';

/** A slot without a block happens; five of Ethereum's in a row hardly do. */
const SILENCE_MS = 60_000;

/** Says at once when a chain of the config with `wsUrls` has a new head. Announcements are hints: whoever acts looks by itself. */
@Injectable()
export class NewHeads implements OnModuleDestroy {
  private readonly announcers: ReadonlyMap<ChainId, HeadAnnouncer>;

  /** @throws InvalidInput `invalid_rpc_url` */
  constructor(config: LockstepConfig, log: Log) {
    this.announcers = new Map(
      config.chains.flatMap(({ id, wsUrls: urls, rpcTimeout }): [ChainId, HeadAnnouncer][] =>
        urls === undefined
          ? []
          : [[id, new HeadAnnouncer({ chainId: id, urls, setUpMs: rpcTimeout, silenceMs: SILENCE_MS, log })]],
      ),
    );
  }

  /** @param onNews a head of this chain was announced, or announcements ended and some may be missed */
  start(onNews: (chainId: ChainId) => void): void {
    for (const [chainId, announcer] of this.announcers) announcer.start(() => onNews(chainId));
  }

  /** The last head that was announced; null while none is to be expected: without a socket, or one that fell silent. */
  latest(chainId: ChainId): AnnouncedHead | null {
    return this.announcers.get(chainId)?.latest ?? null;
  }

  async onModuleDestroy(): Promise<void> {
    await Promise.all([...this.announcers.values()].map((announcer) => announcer.stop()));
  }
}
