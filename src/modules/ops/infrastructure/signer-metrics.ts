import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Counter, Gauge, Registry } from 'prom-client';
import { MetricsConfig } from '../../../config/lockstep-config.js';
import { Clock } from '../../../kernel/clock.js';
import { SignerOverview, type SignerView } from '../application/signer-overview.js';

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
  private readonly errors: Counter;

  constructor(
    registry: Registry,
    private readonly overview: SignerOverview,
    private readonly config: MetricsConfig,
    private readonly clock: Clock,
  ) {
    const labelNames = config.signerLabels ? ['chain', 'signer'] : ['chain'];
    const backlog = { name: 'signer_backlog', help: 'Transactions that wait for a nonce or a block', labelNames };
    const nonce = { name: 'signer_nonce', help: 'Nonce cursor', labelNames: [...labelNames, 'kind'] };
    const limit = {
      name: 'signer_in_flight_limit',
      help: 'Transactions of a signer that the pools of its chain take at once, where that is less than execution.maxInFlight; the lowest of a chain where signers are no labels',
      labelNames,
    };
    const age = {
      name: 'signer_scrape_age_seconds',
      help: 'Age of the values of the signer metrics; infinite before the first read',
    };
    this.gauge(registry, backlog, (gauge, known) => this.showBacklog(gauge, known));
    this.gauge(registry, nonce, (gauge, known) => this.showCursors(gauge, known));
    this.gauge(registry, limit, (gauge, known) => this.showLimits(gauge, known));
    this.gauge(registry, age, (gauge, known) => gauge.set(this.ageOf(known)));
    this.errors = new Counter({
      name: 'signer_scrape_errors_total',
      help: 'Failed reads of the signers; their metrics keep the last values',
      registers: [registry],
    });
  }

  private gauge(
    registry: Registry,
    options: { readonly name: string; readonly help: string; readonly labelNames?: string[] },
    show: (gauge: Gauge, known: Known | null) => void,
  ): void {
    const gauge: Gauge = new Gauge({
      ...options,
      registers: [registry],
      collect: async () => {
        const known = await this.latest();
        gauge.reset();
        show(gauge, known);
      },
    });
  }

  private ageOf(known: Known | null): number {
    return known === null ? Infinity : (this.clock.monotonicMs() - known.atMs) / 1_000;
  }

  private showBacklog(gauge: Gauge, known: Known | null): void {
    for (const { chainId, address, backlog } of known?.signers ?? []) {
      const chain = String(chainId);
      gauge.inc(this.config.signerLabels ? { chain, signer: address } : { chain }, backlog);
    }
  }

  private showCursors(gauge: Gauge, known: Known | null): void {
    if (!this.config.signerLabels) return;
    for (const { chainId, address, cursor } of known?.signers ?? []) {
      if (cursor !== null) gauge.set({ chain: String(chainId), signer: address, kind: 'cursor' }, Number(cursor));
    }
  }

  private showLimits(gauge: Gauge, known: Known | null): void {
    const limited = (known?.signers ?? []).flatMap(({ chainId, address, inFlightLimit: { learnt } }) =>
      learnt === null ? [] : [{ chain: String(chainId), signer: address, learnt }],
    );
    // The lowest last: without labels of signers it is the one that stays.
    limited.sort((a, b) => b.learnt - a.learnt);
    for (const { chain, signer, learnt } of limited)
      gauge.set(this.config.signerLabels ? { chain, signer } : { chain }, learnt);
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
      this.errors.inc();
    }
  }

  private async everySigner(): Promise<SignerView[]> {
    const signers: SignerView[] = [];
    for (;;) {
      const page = await this.overview.list(signers.at(-1) ?? null, PAGE_SIGNERS);
      signers.push(...page);
      if (page.length < PAGE_SIGNERS) return signers;
    }
  }
}
