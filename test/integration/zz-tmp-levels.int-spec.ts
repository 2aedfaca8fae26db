import 'reflect-metadata';
import { expect, it } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { Test } from '@nestjs/testing';
import { ModulesContainer } from '@nestjs/core';
import { AppModule } from '../../src/app.module.js';
import { configFrom } from '../../src/config/index.js';
import { DEV_MNEMONIC } from '../../src/dev/dev-accounts.js';
import { Ticker } from '../../src/platform/scheduling/ticker.js';
import { createTestDatabase } from '../support/test-database.js';

it.each(['all', 'api'])('order %s', async (role) => {
  const database = await createTestDatabase();
  const config = configFrom({
    database: { url: database.url, poolSize: 4 },
    node: { role },
    logging: { level: 'fatal' },
    worker: { pollInterval: '777ms' },
    lease: { renewInterval: '2900ms' },
    chains: [31337, 31338].map((id, i) => ({
      id, rpcUrls: ['http://127.0.0.1:1'], pollInterval: `${3000 + i}ms`,
      signers: [{ type: 'mnemonic', phrase: DEV_MNEMONIC, count: 2 }],
    })),
  });
  const out: string[] = [];
  const nameOf = (t: unknown) => { const o = (t as { options: { name: string; intervalMs: number } }).options; return `${o.name} ${o.intervalMs}`; };
  const { start, stop } = Ticker.prototype;
  Ticker.prototype.start = function () { out.push(`start ${nameOf(this)}`); start.call(this); };
  Ticker.prototype.stop = async function () { out.push(`stop ${nameOf(this)}`); await stop.call(this); out.push(`stopped ${nameOf(this)}`); };
  const module = await Test.createTestingModule({ imports: [AppModule.register(config)] }).compile();
  for (const m of module.get(ModulesContainer).values())
    for (const w of m.providers.values())
      if (['LaneScheduler', 'HandOverScheduler', 'ResubmitScheduler', 'ReceiptChecker', 'ConfirmationManager', 'PgDoorbell', 'LeaseHeartbeat'].includes(String(w.name)))
        out.push(`${m.name} ${String(w.name)} level ${w.hierarchyLevel} distance ${m.distance}`);
  await module.init();
  await new Promise((r) => setTimeout(r, 300));
  await module.close();
  Object.assign(Ticker.prototype, { start, stop });
  await database.drop();
  writeFileSync(`/tmp/me/order-${role}-${process.env['TAG']}.txt`, out.join('\n') + '\n');
  expect(out.length).toBeGreaterThan(3);
});
