import { Global, Module } from '@nestjs/common';
import { getDataSourceToken, TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { DatabaseConfig } from '../../config/lockstep-config.js';
import { UnitOfWork } from '../../kernel/unit-of-work.js';
import { createDataSource } from './data-source.js';
import { Database } from './database.js';

/** The one connection pool, for TypeORM's reads and for our statements alike. */
@Global()
@Module({
  imports: [
    TypeOrmModule.forRootAsync({
      inject: [DatabaseConfig],
      useFactory: (config: DatabaseConfig) => ({ ...createDataSource(config).options, autoLoadEntities: true }),
    }),
  ],
  providers: [
    { provide: Database, inject: [getDataSourceToken()], useFactory: (source: DataSource) => new Database(source) },
    { provide: UnitOfWork, useExisting: Database },
  ],
  exports: [Database, UnitOfWork],
})
export class DatabaseModule {}
