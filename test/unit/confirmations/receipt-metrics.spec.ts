import { expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { PromReceiptMetrics } from '../../../src/modules/confirmations/infrastructure/prom-receipt-metrics.js';

it('receipts that were asked for, and transactions that a reorg took back, are counted one by one', async () => {
  const registry = new Registry();
  const metrics = new PromReceiptMetrics(registry);
  metrics.checked('found', 3);
  metrics.checked('none', 0);
  metrics.newFork(2);
  const text = await registry.metrics();
  expect(text).toContain('receipt_check_total{result="found"} 3');
  expect(text).toContain('receipt_check_total{result="none"} 0');
  expect(text).toContain('confirmations_newFork_total 2');
});
