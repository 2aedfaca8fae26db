import { Injectable } from '@nestjs/common';
import { Counter, Registry } from 'prom-client';
import { ReceiptMetrics } from '../application/receipt-metrics.js';

@Injectable()
export class PromReceiptMetrics extends ReceiptMetrics {
  private readonly total: Counter<'result'>;
  private readonly forked: Counter;

  constructor(registry: Registry) {
    super();
    this.total = new Counter({
      name: 'receipt_check_total',
      help: 'Receipts requested by transaction hash',
      labelNames: ['result'],
      registers: [registry],
    });
    this.forked = new Counter({
      name: 'confirmations_newFork_total',
      help: 'Transactions whose block was orphaned by a reorg',
      registers: [registry],
    });
  }

  checked(result: 'found' | 'none' | 'error', count: number): void {
    this.total.inc({ result }, count);
  }

  newFork(count: number): void {
    this.forked.inc(count);
  }
}
