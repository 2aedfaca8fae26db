import { expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { MetricsConfig } from '../../../src/config/index.js';
import { PromBalanceMetrics } from '../../../src/modules/lanes/infrastructure/prom-balance-metrics.js';
import { aSigner, DEV_CHAIN } from '../../support/builders.js';
import { someFunds } from './funds-fixture.js';

const [A, B] = [aSigner(1), aSigner(2)];

async function shown(
  signerLabels: boolean,
  ...looks: readonly (readonly ReturnType<typeof someFunds>[])[]
): Promise<string[]> {
  const registry = new Registry();
  const metrics = new PromBalanceMetrics(registry, Object.assign(new MetricsConfig(), { signerLabels }));
  for (const funds of looks) metrics.measured(DEV_CHAIN, funds);
  return (await registry.metrics()).split('\n').filter((line) => line.startsWith('signer_'));
}

it('balances are shown of each signer of the last look', async () => {
  const look = [someFunds({ signer: A }), someFunds({ signer: B, missing: 5n })];
  expect(await shown(true, look, look.slice(1))).toEqual([
    `signer_balance_wei{chain="${DEV_CHAIN}",signer="${B.address}"} 100`,
    `signer_balance_missing_wei{chain="${DEV_CHAIN}",signer="${B.address}"} 5`,
  ]);
});

it('balances are sums of a chain when signers have no labels', async () => {
  const look = [someFunds({ signer: A, missing: 2n }), someFunds({ signer: B, missing: 5n })];
  expect(await shown(false, look)).toEqual([
    `signer_balance_wei{chain="${DEV_CHAIN}"} 200`,
    `signer_balance_missing_wei{chain="${DEV_CHAIN}"} 7`,
  ]);
});
