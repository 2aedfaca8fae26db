import { Registry } from 'prom-client';
import { LockstepConfig, type MetricsConfig } from '../../../src/config/index.js';
import {
  type Labels,
  type LabelsOf,
  type MetricName,
  type MetricOf,
  Metrics,
} from '../../../src/platform/metrics/metrics.js';
import { MemoryBroker } from './memory-sink.js';

interface Told {
  readonly name: MetricName;
  readonly value: number;
  readonly labels: Labels;
}

/** The real metrics, in a registry of their own, that also remember each call in its order. */
export class FakeMetrics extends Metrics {
  private readonly told: Told[] = [];

  constructor(
    private readonly registry = new Registry(),
    config: Partial<MetricsConfig> = {},
    hasBroker = true,
  ) {
    const all = new LockstepConfig();
    Object.assign(all.metrics, config);
    if (hasBroker) all.broker = new MemoryBroker();
    super(registry, all);
  }

  override count<Name extends MetricOf<'counter'>>(name: Name, by: number, ...labels: LabelsOf<Name>): void {
    super.count(name, by, ...labels);
    this.tell(name, by, labels);
  }

  override observe<Name extends MetricOf<'histogram'>>(name: Name, value: number, ...labels: LabelsOf<Name>): void {
    super.observe(name, value, ...labels);
    this.tell(name, value, labels);
  }

  override set<Name extends MetricOf<'gauge'>>(name: Name, value: number, ...labels: LabelsOf<Name>): void {
    super.set(name, value, ...labels);
    this.tell(name, value, labels);
  }

  /** The values of a metric that was counted, set or observed, in the order of the calls. */
  values(name: MetricName): number[] {
    return this.told.filter((one) => one.name === name).map(({ value }) => value);
  }

  /** What was counted, by the values of the labels; nothing that was counted as 0. */
  counted(name: MetricOf<'counter'>): Record<string, number> {
    const totals: Record<string, number> = {};
    for (const { value, labels } of this.told.filter((one) => one.name === name && one.value > 0)) {
      const key = Object.values(labels).join(' ');
      totals[key] = (totals[key] ?? 0) + value;
    }
    return totals;
  }

  /** The lines of `/metrics` that begin so. */
  async lines(prefix: string): Promise<string[]> {
    return (await this.registry.metrics()).split('\n').filter((line) => line.startsWith(prefix));
  }

  private tell(name: MetricName, value: number, [labels = {}]: readonly [] | readonly [Labels]): void {
    this.told.push({ name, value, labels });
  }
}
