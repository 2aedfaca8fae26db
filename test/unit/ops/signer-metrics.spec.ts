import { describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { MetricsConfig } from '../../../src/config/index.js';
import { SignerOverview, type SignerView } from '../../../src/modules/ops/application/signer-overview.js';
import { SignerMetrics } from '../../../src/modules/ops/infrastructure/signer-metrics.js';
import { anAddress } from '../../support/builders.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { FakeMetrics } from '../../support/fakes/fake-metrics.js';

const view = (n: number): SignerView => ({
  chainId: 7,
  address: anAddress(n),
  custody: {},
  leaseOwner: null,
  fencingToken: null,
  leaseExpiresAt: null,
  cursor: n,
  paused: null,
  behind: null,
  nonceGap: null,
  pending: n,
  inFlight: 0,
  backlog: n,
  inFlightLimit: { configured: 64, learnt: null, delegated: false },
});

/** The signers of a database that answers, fails or hangs. */
class Signers extends SignerOverview {
  all: SignerView[] = [];
  state: 'up' | 'down' | 'hanging' = 'up';
  reads = 0;

  list(after: { readonly address: string } | null, limit: number): Promise<SignerView[]> {
    this.reads += 1;
    if (this.state === 'down') return Promise.reject(new Error('connection refused'));
    if (this.state === 'hanging') return new Promise(() => {});
    const rest = this.all.filter(({ address }) => after === null || address > after.address);
    return Promise.resolve(rest.slice(0, limit));
  }
}

function scraped(signers: Signers, config: Partial<MetricsConfig> = {}) {
  const registry = new Registry();
  const clock = new FakeClock();
  new SignerMetrics(new FakeMetrics(registry, config), signers, Object.assign(new MetricsConfig(), config), clock);
  return { clock, scrape: () => registry.metrics() };
}

const line = (name: string, n: number, value: number, more = ''): string =>
  `${name}{chain="7",signer="${anAddress(n)}"${more}} ${value}`;

describe('the metrics of signers', () => {
  it('tell of every signer, however many there are', async () => {
    const signers = new Signers();
    signers.all = Array.from({ length: 2_345 }, (_, n) => view(n + 1));
    const text = await scraped(signers).scrape();
    expect(text.match(/^signer_backlog\{/gm)).toHaveLength(2_345);
    expect(text).toContain(line('signer_backlog', 2_345, 2_345));
    expect(text).toContain(line('signer_nonce', 2_345, 2_345, ',kind="cursor"'));
  });

  it('count the signers that are held because their chain is behind our books', async () => {
    const signers = new Signers();
    const behind = { cause: 'CHAIN_RESET', chainNonce: 0, usedBelow: 5, block: null, since: 'then' } as const;
    signers.all = [view(1), { ...view(2), behind }, { ...view(3), behind }];
    const text = await scraped(signers).scrape();
    expect(text).toContain('signers_chain_behind{chain="7",cause="CHAIN_RESET"} 2');
  });

  it('add up by chain where signers are no labels', async () => {
    const signers = new Signers();
    signers.all = [view(1), view(2)];
    const text = await scraped(signers, { signerLabels: false }).scrape();
    expect(text).toContain('signer_backlog{chain="7"} 3');
    expect(text).not.toContain('signer_nonce{');
  });

  it('tell what pools take of a signer, where that was learnt; the lowest of a chain where signers are no labels', async () => {
    const signers = new Signers();
    const limited = (n: number, learnt: number) => ({
      ...view(n),
      inFlightLimit: { configured: 64, learnt, delegated: false },
    });
    signers.all = [view(1), limited(2, 4), limited(3, 16)];
    const text = await scraped(signers).scrape();
    expect(text).toContain(line('signer_in_flight_limit', 2, 4));
    expect(text).toContain(line('signer_in_flight_limit', 3, 16));
    expect(text.match(/^signer_in_flight_limit\{/gm)).toHaveLength(2);
    expect(await scraped(signers, { signerLabels: false }).scrape()).toContain('signer_in_flight_limit{chain="7"} 4');
  });

  it('stay as they were last known while the database is away, with a count of failures and their age', async () => {
    const signers = new Signers();
    signers.all = [view(5)];
    const { clock, scrape } = scraped(signers);
    await scrape();
    signers.state = 'down';
    clock.advance(30_000);
    await scrape();
    const text = await scrape();
    expect(text).toContain(line('signer_backlog', 5, 5));
    expect(text).toMatch(/^signer_scrape_errors_total [12]$/m);
    expect(text).toContain('signer_scrape_age_seconds 30');
    signers.state = 'up';
    signers.all = [view(6)];
    const fresh = await scrape();
    expect(fresh).toContain(line('signer_backlog', 6, 6));
    expect(fresh).not.toContain(line('signer_backlog', 5, 5));
    expect(fresh).toContain('signer_scrape_age_seconds 0');
  });

  it('are absent, and no error, when they were never known', async () => {
    const signers = new Signers();
    signers.state = 'down';
    const text = await scraped(signers).scrape();
    expect(text).not.toContain('signer_backlog{');
    expect(text).toContain('signer_scrape_age_seconds +Inf');
  });

  it('do not wait for a database that hangs, and ask it once at a time', async () => {
    const signers = new Signers();
    signers.all = [view(5)];
    const { scrape } = scraped(signers);
    await scrape();
    signers.state = 'hanging';
    const [text] = await Promise.all([scrape(), scrape()]);
    expect(text).toContain(line('signer_backlog', 5, 5));
    expect(signers.reads).toBe(2);
  }, 4_000);
});
