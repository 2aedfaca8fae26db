import { Injectable } from '@nestjs/common';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { LockstepConfig, type MetricsConfig } from '../../config/lockstep-config.js';
import { METRICS, type MetricType } from './metric-table.js';

type Table = typeof METRICS;
export type MetricName = keyof Table;
export type MetricOf<Type extends MetricType> = {
  [Name in MetricName]: Table[Name]['type'] extends Type ? Name : never;
}[MetricName];
export type Labels = Readonly<Record<string, string | number>>;
type Label<Name extends MetricName> = Table[Name]['labels'][number];
/** The last argument for a metric with labels; nothing for one without. */
export type LabelsOf<Name extends MetricName> = [Label<Name>] extends [never]
  ? []
  : [labels: Readonly<Record<Label<Name>, string | number>>];

const CLASSES = { counter: Counter, gauge: Gauge, histogram: Histogram };
type Made = { readonly [Name in MetricName]: InstanceType<(typeof CLASSES)[Table[Name]['type']]> };
type Collect = () => void | Promise<void>;

/** What `/metrics` shows of this service, by the names of the table. */
@Injectable()
export class Metrics {
  private readonly config: MetricsConfig;
  private readonly made: Made;
  private readonly collectors = new Map<string, Collect>();

  constructor(registry: Registry, { metrics: config, broker }: LockstepConfig) {
    this.config = config;
    const metrics = Object.entries(METRICS).map(([name, { type, labels, ...rest }]) => {
      const isShown = broker !== undefined || !name.startsWith('broker_');
      const labelNames = labels.filter((label) => config.signerLabels || label !== 'signer');
      const registers = isShown ? [registry] : [];
      const collect = () => this.collectors.get(name)?.();
      return [name, new CLASSES[type]({ ...rest, name, labelNames, registers, collect })];
    });
    this.made = Object.fromEntries(metrics) as Made;
  }

  count<Name extends MetricOf<'counter'>>(name: Name, by: number, ...labels: LabelsOf<Name>): void {
    this.made[name].inc(this.shown(labels), by);
  }

  observe<Name extends MetricOf<'histogram'>>(name: Name, value: number, ...labels: LabelsOf<Name>): void {
    this.made[name].observe(this.shown(labels), value);
  }

  set<Name extends MetricOf<'gauge'>>(name: Name, value: number, ...labels: LabelsOf<Name>): void {
    this.made[name].set(this.shown(labels), value);
  }

  /** Adds to what is shown: without the label `signer`, values of signers become the sum of their chain. */
  add<Name extends MetricOf<'gauge'>>(name: Name, by: number, ...labels: LabelsOf<Name>): void {
    this.made[name].inc(this.shown(labels), by);
  }

  /** Forgets all values of a gauge. */
  clear(name: MetricOf<'gauge'>): void {
    this.made[name].reset();
  }

  /** Forgets what was counted for these labels. */
  forget<Name extends MetricOf<'counter'>>(name: Name, ...labels: LabelsOf<Name>): void {
    this.made[name].remove(this.shown(labels));
  }

  /** @param collect runs before each scrape of the metric, which waits for it */
  onScrape(name: MetricName, collect: Collect): void {
    this.collectors.set(name, collect);
  }

  private shown([labels = {}]: readonly [] | readonly [Labels]): Labels {
    return this.config.signerLabels
      ? labels
      : Object.fromEntries(Object.entries(labels).filter(([label]) => label !== 'signer'));
  }
}
