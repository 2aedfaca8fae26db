import { type DynamicModule, Global, Module } from '@nestjs/common';
import { getDataSourceToken, TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { DatabaseConfig, LeaseConfig } from '../../config/lockstep-config.js';
import { AuditLog } from '../../kernel/audit-log.js';
import { UnitOfWork } from '../../kernel/unit-of-work.js';
import { CheckDurability } from './check-durability.js';
import { dataSourceOptions, heartbeatPool, lanePool, type PoolOptions, readPool } from './data-source.js';
import { Database } from './database.js';
import { DatabaseWatch } from './database-watch.js';
import { PgAuditLog } from './pg-audit-log.js';
import { HEARTBEAT, HeartbeatDatabase, READS, ReadDatabase } from './pools.js';

type ChoosePool = (database: DatabaseConfig, lease: LeaseConfig) => PoolOptions;

/** Three pools: one for lanes and intake, one for reads, one for heartbeats. TypeORM reads entities through the read pool. */
@Global()
@Module({
  imports: [
    dataSource(undefined, lanePool),
    dataSource(READS, readPool),
    dataSource(HEARTBEAT, (database, lease) => heartbeatPool(database, lease.renewInterval)),
  ],
  providers: [
    CheckDurability,
    DatabaseWatch,
    { provide: Database, inject: [getDataSourceToken()], useFactory: (source: DataSource) => new Database(source) },
    {
      provide: ReadDatabase,
      inject: [getDataSourceToken(READS)],
      useFactory: (source: DataSource) => new ReadDatabase(source),
    },
    {
      provide: HeartbeatDatabase,
      inject: [getDataSourceToken(HEARTBEAT)],
      useFactory: (source: DataSource) => new HeartbeatDatabase(source),
    },
    { provide: UnitOfWork, useExisting: Database },
    { provide: AuditLog, useClass: PgAuditLog },
  ],
  exports: [AuditLog, Database, DatabaseWatch, ReadDatabase, HeartbeatDatabase, UnitOfWork],
})
export class DatabaseModule {}

function dataSource(name: string | undefined, pool: ChoosePool): DynamicModule {
  return TypeOrmModule.forRootAsync({
    ...(name === undefined ? {} : { name }),
    inject: [DatabaseConfig, LeaseConfig],
    useFactory: (database: DatabaseConfig, lease: LeaseConfig) => ({
      ...dataSourceOptions(database, pool(database, lease)),
      autoLoadEntities: true,
    }),
  });
}
