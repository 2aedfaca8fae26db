import { Injectable } from '@nestjs/common';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { ChainId } from '../../../kernel/signer-id.js';
import { type CreateResult, type SubmitResult, TxMetrics } from '../application/writing/tx-metrics.js';
import type { ManagedTx } from '../domain/managed-tx.js';

@Injectable()
export class PromTxMetrics extends TxMetrics {
  private readonly createTotal: Counter<'result'>;
  private readonly submitTotal: Counter<'result'>;
  private readonly stateTotal: Counter<'state'>;
  private readonly resubmitTotal: Counter<'kind'>;
  private readonly feeCappedTotal: Counter;
  private readonly depth: Gauge<'chain'>;
  private readonly latency: Histogram;

  constructor(registry: Registry) {
    super();
    const registers = [registry];
    this.createTotal = new Counter({
      name: 'tx_create_total',
      help: 'Requests to create a transaction',
      labelNames: ['result'],
      registers,
    });
    this.submitTotal = new Counter({
      name: 'tx_submit_total',
      help: 'Broadcasts by result',
      labelNames: ['result'],
      registers,
    });
    this.stateTotal = new Counter({
      name: 'tx_state_total',
      help: 'Transactions that entered a state',
      labelNames: ['state'],
      registers,
    });
    this.resubmitTotal = new Counter({
      name: 'resubmit_total',
      help: 'Attempts sent again',
      labelNames: ['kind'],
      registers,
    });
    this.feeCappedTotal = new Counter({
      name: 'tx_fee_capped_total',
      help: 'Transactions that began to wait because a higher price would be above the fee caps',
      registers,
    });
    this.latency = new Histogram({
      name: 'worker_queue_latency_seconds',
      help: 'Seconds from a doorbell ring or a poll to the start of the lane step',
      registers,
    });
    this.depth = new Gauge({
      name: 'worker_queue_depth',
      help: 'Lane tasks waiting or running',
      labelNames: ['chain'],
      registers,
    });
  }

  queueLatency(seconds: number): void {
    this.latency.observe(seconds);
  }

  created(result: CreateResult): void {
    this.createTotal.inc({ result });
  }

  submitted(result: SubmitResult, count: number): void {
    this.submitTotal.inc({ result }, count);
  }

  resubmitted(kind: 'same_bytes' | 'bump', count: number): void {
    this.resubmitTotal.inc({ kind }, count);
  }

  feeCapped(count: number): void {
    this.feeCappedTotal.inc(count);
  }

  entered(txs: readonly ManagedTx[]): void {
    for (const { enteredState } of txs) if (enteredState !== null) this.stateTotal.inc({ state: enteredState });
  }

  queueDepth(chainId: ChainId, depth: number): void {
    this.depth.set({ chain: String(chainId) }, depth);
  }
}
