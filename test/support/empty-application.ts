import 'reflect-metadata';
import { Test, type TestingModule } from '@nestjs/testing';
import { getDataSourceToken } from '@nestjs/typeorm';
import { AppModule } from '../../src/app.module.js';
import { configFrom } from '../../src/config/index.js';
import { Doorbell } from '../../src/modules/ledger/application/writing/doorbell.js';
import { CheckDurability } from '../../src/platform/database/check-durability.js';
import { Database } from '../../src/platform/database/database.js';
import type { Statement } from '../../src/platform/database/pg-tx.js';
import { HEARTBEAT, HeartbeatDatabase, READS, ReadDatabase } from '../../src/platform/database/pools.js';

export const CHAINS = [1, 7];

/** A database that has nothing. */
export class EmptyDatabase {
  readonly connects = 0;
  readonly statements: string[] = [];

  async query({ name }: Statement): Promise<{ rows: unknown[] }> {
    this.statements.push(name);
    return { rows: [] };
  }

  transaction(work: (tx: this) => Promise<unknown>): Promise<unknown> {
    return work(this);
  }

  run = this.transaction.bind(this);
}

const NO_ENTITIES = {
  options: { type: 'postgres' },
  isInitialized: false,
  entityMetadatas: [],
  getRepository: () => ({}),
};

/** The whole application, and modules beside it, without a database, and with chains that do not answer. */
export async function startEmpty(
  sections: Record<string, unknown>,
  database = new EmptyDatabase(),
  ...beside: readonly (new () => object)[]
): Promise<TestingModule> {
  const config = configFrom({
    database: { url: 'postgres://nowhere' },
    logging: { level: 'fatal' },
    ...sections,
    chains: CHAINS.map((id) => ({ id, rpcUrls: ['http://127.0.0.1:1'] })),
  });
  let testing = Test.createTestingModule({ imports: [AppModule.register(config), ...beside] });
  for (const pool of [undefined, READS, HEARTBEAT])
    testing = testing.overrideProvider(getDataSourceToken(pool)).useValue(NO_ENTITIES);
  for (const pool of [Database, ReadDatabase, HeartbeatDatabase])
    testing = testing.overrideProvider(pool).useValue(database);
  const made = await testing
    .overrideProvider(CheckDurability)
    .useValue({})
    .overrideProvider(Doorbell)
    .useValue({ ring: () => undefined })
    .compile();
  return made.init();
}
