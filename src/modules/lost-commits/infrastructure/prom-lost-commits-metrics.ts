import { Injectable } from '@nestjs/common';
import { Counter, Gauge, Registry } from 'prom-client';
import { LostCommitsMetrics } from '../application/lost-commits-metrics.js';

@Injectable()
export class PromLostCommitsMetrics extends LostCommitsMetrics {
  private readonly lostTotal: Counter<'evidence'>;
  private readonly adoptedTotal: Counter<'kind'>;
  private readonly heldGauge: Gauge;

  constructor(registry: Registry) {
    super();
    const registers = [registry];
    this.lostTotal = new Counter({
      name: 'database_lost_commits_total',
      help: 'Times that the database may have lost commits',
      labelNames: ['evidence'],
      registers,
    });
    this.adoptedTotal = new Counter({
      name: 'nonce_recovered_total',
      help: 'Transactions that a signer had sent and the database did not know',
      labelNames: ['kind'],
      registers,
    });
    this.heldGauge = new Gauge({
      name: 'signers_held',
      help: 'Signers that send nothing until all transactions they had sent are known',
      registers,
    });
  }

  lost(evidence: string): void {
    this.lostTotal.inc({ evidence });
  }

  adopted(kind: 'payload' | 'foreign', count: number): void {
    this.adoptedTotal.inc({ kind }, count);
  }

  held(count: number): void {
    this.heldGauge.set(count);
  }
}
