import { Injectable } from '@nestjs/common';
import { Counter, Registry } from 'prom-client';
import { ReceiptMetrics } from '../application/receipt-metrics.js';

@Injectable()
export class PromReceiptMetrics extends ReceiptMetrics {
  private readonly total: Counter<'result'>;

  constructor(registry: Registry) {
    super();
    this.total = new Counter({
      name: 'receipt_check_total',
      help: 'Receipts asked for by hash',
      labelNames: ['result'],
      registers: [registry],
    });
  }

  checked(result: 'found' | 'none' | 'error', count: number): void {
    this.total.inc({ result }, count);
  }
}
