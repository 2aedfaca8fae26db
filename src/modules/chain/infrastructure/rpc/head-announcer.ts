import { backoffMs } from '../../../../kernel/backoff.js';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChainId } from '../../../../kernel/signer-id.js';
import type { Log } from '../../../../platform/logging/log.js';
import { EndpointUrl } from './endpoint-url.js';
import { type AnnouncedHead, HeadSocket, type SocketEnd } from './head-socket.js';

export interface HeadAnnouncerOptions {
  readonly chainId: ChainId;
  /** In order of preference; one at a time is connected. */
  readonly urls: readonly string[];
  readonly setUpMs: number;
  readonly silenceMs: number;
  readonly log: Log;
}

const FIRST_BACKOFF_MS = 250;
const MAX_BACKOFF_MS = 30_000;

/** Keeps one WebSocket connection to a chain open, and uses the next endpoint when one cannot be reached. */
export class HeadAnnouncer {
  private readonly urls: readonly EndpointUrl[];
  private readonly stopping = new AbortController();
  private running: Promise<void> = Promise.resolve();
  private socket: HeadSocket | null = null;
  private newest: AnnouncedHead | null = null;

  /** @throws InvalidInput `invalid_rpc_url` */
  constructor(private readonly options: HeadAnnouncerOptions) {
    this.urls = options.urls.map((url, index) => EndpointUrl.parse(url, index, 'ws'));
  }

  /** The last announced head; null without a connection that announces heads. */
  get latest(): AnnouncedHead | null {
    return this.newest;
  }

  /** @param onNews called for each announced head, and when announcements end, because some may be missed then */
  start(onNews: () => void): void {
    this.running = this.run(onNews);
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    this.socket?.close();
    await this.running;
  }

  private isStopped(): boolean {
    return this.stopping.signal.aborted;
  }

  private async run(onNews: () => void): Promise<void> {
    let failures = 0;
    for (let turn = 0; !this.isStopped(); turn++) {
      const url = this.urls[turn % this.urls.length];
      if (url === undefined) return;
      const { end, hasAnnounced } = await this.listen(url, onNews);
      if (this.isStopped()) return;
      this.report(url, end);
      failures = hasAnnounced ? 1 : failures + 1;
      if (hasAnnounced) onNews();
      await this.pause(failures);
    }
  }

  /** Resolves when the connection ends. */
  private async listen(url: EndpointUrl, onNews: () => void): Promise<{ end: SocketEnd; hasAnnounced: boolean }> {
    const { chainId, setUpMs, silenceMs, log } = this.options;
    const onHead = (head: AnnouncedHead): void => {
      if (this.newest === null) log.info('receiving new heads by websocket', { chainId, endpoint: url.label });
      this.newest = head;
      onNews();
    };
    this.socket = new HeadSocket({ url, chainId, setUpMs, silenceMs, onHead });
    const end = await this.socket.ended;
    const hasAnnounced = this.newest !== null;
    this.newest = null;
    return { end, hasAnnounced };
  }

  private report({ label: endpoint }: EndpointUrl, end: SocketEnd): void {
    const { chainId, log } = this.options;
    if (end.kind === 'wrong_chain') {
      const { reported } = end;
      log.error('websocket endpoint serves another chain and is not used', { chainId, endpoint, reported });
    } else {
      log.warn('lost new heads by websocket, polling continues', { chainId, endpoint, reason: end.reason });
    }
  }

  /** The pause grows after each round through all endpoints. */
  private async pause(failures: number): Promise<void> {
    const rounds = Math.min(Math.floor((failures - 1) / this.urls.length), 20);
    const wait = backoffMs(FIRST_BACKOFF_MS, rounds, MAX_BACKOFF_MS);
    await sleep(wait, undefined, { signal: this.stopping.signal, ref: false }).catch(() => undefined);
  }
}
