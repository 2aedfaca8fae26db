import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { MetricsConfig } from '../../../config/lockstep-config.js';
import { Clock } from '../../../kernel/clock.js';
import { type MetricOf, Metrics } from '../../../platform/metrics/metrics.js';
import { SignerOverview, type SignerView } from '../application/signer-overview.js';
import { NOBODY } from '../domain/pause-view.js';

const PAGE_SIGNERS = 500;
/** How long a scrape waits for the database. The read goes on, and the next scrape shows its result. */
const SCRAPE_WAIT_MS = 1_000;

interface Known {
  readonly signers: readonly SignerView[];
  readonly atMs: number;
}

/** Reads signers when Prometheus scrapes, so that nothing is read without a scrape. Without the database the last values stay. */
@Injectable()
export class SignerMetrics {
  private known: Known | null = null;
  private reading: Promise<void> | null = null;

  constructor(
    private readonly metrics: Metrics,
    private readonly overview: SignerOverview,
    private readonly config: MetricsConfig,
    private readonly clock: Clock,
  ) {
    this.show('signer_backlog', (signers) => this.showBacklog(signers));
    this.show('signer_nonce', (signers) => this.showCursors(signers));
    this.show('signer_in_flight_limit', (signers) => this.showLimits(signers));
    this.show('signers_chain_behind', (signers) => this.showBehind(signers));
    metrics.onScrape('signer_scrape_age_seconds', async () => {
      const known = await this.latest();
      const age = known === null ? Infinity : (clock.monotonicMs() - known.atMs) / 1_000;
      metrics.set('signer_scrape_age_seconds', age);
    });
  }

  private show(name: MetricOf<'gauge'>, values: (signers: readonly SignerView[]) => void): void {
    this.metrics.onScrape(name, async () => {
      const known = await this.latest();
      this.metrics.clear(name);
      values(known?.signers ?? []);
    });
  }

  private showBacklog(signers: readonly SignerView[]): void {
    for (const { chainId, address, backlog } of signers)
      this.metrics.add('signer_backlog', backlog, { chain: chainId, signer: address });
  }

  private showBehind(signers: readonly SignerView[]): void {
    for (const { chainId, behind } of signers)
      if (behind !== null) this.metrics.add('signers_chain_behind', 1, { chain: chainId, cause: behind.cause });
  }

  private showCursors(signers: readonly SignerView[]): void {
    if (!this.config.signerLabels) return;
    for (const { chainId, address, cursor } of signers)
      if (cursor !== null)
        this.metrics.set('signer_nonce', Number(cursor), { chain: chainId, signer: address, kind: 'cursor' });
  }

  private showLimits(signers: readonly SignerView[]): void {
    const limited = signers.flatMap(({ chainId, address, inFlightLimit: { learnt } }) =>
      learnt === null ? [] : [{ labels: { chain: chainId, signer: address }, learnt }],
    );
    // The lowest last: without labels of signers it is the one that stays.
    limited.sort((a, b) => b.learnt - a.learnt);
    for (const { labels, learnt } of limited) this.metrics.set('signer_in_flight_limit', learnt, labels);
  }

  /** All gauges of a scrape, and concurrent scrapes, share one read. */
  private async latest(): Promise<Known | null> {
    this.reading ??= this.read().finally(() => (this.reading = null));
    const abort = new AbortController();
    const timeout = sleep(SCRAPE_WAIT_MS, undefined, { signal: abort.signal }).catch(() => undefined);
    await Promise.race([this.reading, timeout]);
    abort.abort();
    return this.known;
  }

  private async read(): Promise<void> {
    try {
      const signers = await this.everySigner();
      this.known = { signers, atMs: this.clock.monotonicMs() };
    } catch {
      this.metrics.count('signer_scrape_errors_total', 1);
    }
  }

  private async everySigner(): Promise<SignerView[]> {
    const signers: SignerView[] = [];
    for (;;) {
      const page = await this.overview.list(signers.at(-1) ?? null, PAGE_SIGNERS, NOBODY);
      signers.push(...page);
      if (page.length < PAGE_SIGNERS) return signers;
    }
  }
}
