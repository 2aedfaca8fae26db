import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { READS } from '../../platform/database/pools.js';
import { ChainModule } from '../chain/chain.module.js';
import { EventsModule } from '../events/events.module.js';
import { PoliciesModule } from '../policies/policies.module.js';
import { SignersModule } from '../signers/signers.module.js';
import { SignerFeeCaps } from './application/signer-fee-caps.js';
import { TxQueries } from './application/views/tx-views.js';
import { AfterCommit } from './application/writing/after-commit.js';
import { BegunWork } from './application/writing/begun-work.js';
import { Doorbell, LaneWaker } from './application/writing/doorbell.js';
import { BumpWatch } from './application/writing/bump-watch.js';
import { LaneMemory } from './application/writing/lane-memory.js';
import { InFlightLimits } from './application/writing/in-flight-limits.js';
import { PostponeDue } from './application/writing/postpone-due.js';
import { LeasedWork } from './application/writing/leased-work.js';
import { NewFills } from './application/writing/new-fills.js';
import { WriteChanges } from './application/writing/write-changes.js';
import { AttemptRepository } from './domain/attempt.repository.js';
import { AuthorizationStore } from './domain/authorization-store.js';
import { CommandedTxs } from './domain/commanded-txs.js';
import { FundsRepository } from './domain/funds.repository.js';
import { PermitStore } from './domain/permit-store.js';
import { LostCommitsRepository } from './domain/lost-commits.repository.js';
import { ManagedTxRepository } from './domain/managed-tx.repository.js';
import { TxIntake } from './domain/tx-intake.js';
import { TxQueue } from './domain/tx-queue.js';
import { TxsInFlight } from './domain/txs-in-flight.js';
import { TxWriter } from './domain/tx-writer.js';
import { MinedTxs } from './domain/mined-txs.js';
import { ManagedTxEntity } from './infrastructure/managed-tx.entity.js';
import { BlobRepository } from './domain/blob.repository.js';
import { BlobHousekeeping } from './infrastructure/blob-housekeeping.js';
import { PgBlobRepository } from './infrastructure/pg-blob.repository.js';
import { PgAuthorizationStore } from './infrastructure/pg-authorization-store.js';
import { PgAttemptRepository } from './infrastructure/pg-attempt.repository.js';
import { PgCommandedTxs } from './infrastructure/pg-commanded-txs.js';
import { PgDoorbell } from './infrastructure/pg-doorbell.js';
import { PgFundsRepository } from './infrastructure/pg-funds.repository.js';
import { PgLostCommitsRepository } from './infrastructure/pg-lost-commits.repository.js';
import { PgManagedTxRepository } from './infrastructure/pg-managed-tx.repository.js';
import { PgPermitStore } from './infrastructure/pg-permit-store.js';
import { PgTxIntake } from './infrastructure/pg-tx-intake.js';
import { PgTxQueue } from './infrastructure/pg-tx-queue.js';
import { PgTxsInFlight } from './infrastructure/pg-txs-in-flight.js';
import { PgTxWriter } from './infrastructure/pg-tx-writer.js';
import { PgMinedTxs } from './infrastructure/pg-mined-txs.js';
import { TxAttemptEntity } from './infrastructure/tx-attempt.entity.js';
import { TypeormTxQueries } from './infrastructure/typeorm-tx-queries.js';

@Module({
  imports: [
    TypeOrmModule.forFeature([ManagedTxEntity, TxAttemptEntity], READS),
    ChainModule,
    SignersModule,
    PoliciesModule,
    EventsModule,
  ],
  providers: [
    SignerFeeCaps,
    LaneMemory,
    BumpWatch,
    LaneWaker,
    InFlightLimits,
    LeasedWork,
    BegunWork,
    PostponeDue,
    NewFills,
    AfterCommit,
    WriteChanges,
    { provide: Doorbell, useClass: PgDoorbell },
    { provide: AttemptRepository, useClass: PgAttemptRepository },
    { provide: AuthorizationStore, useClass: PgAuthorizationStore },
    { provide: PermitStore, useClass: PgPermitStore },
    { provide: BlobRepository, useClass: PgBlobRepository },
    { provide: CommandedTxs, useClass: PgCommandedTxs },
    BlobHousekeeping,
    { provide: ManagedTxRepository, useClass: PgManagedTxRepository },
    { provide: TxIntake, useClass: PgTxIntake },
    { provide: TxQueue, useClass: PgTxQueue },
    { provide: TxsInFlight, useClass: PgTxsInFlight },
    { provide: TxWriter, useClass: PgTxWriter },
    { provide: LostCommitsRepository, useClass: PgLostCommitsRepository },
    { provide: MinedTxs, useClass: PgMinedTxs },
    { provide: FundsRepository, useClass: PgFundsRepository },
    { provide: TxQueries, useClass: TypeormTxQueries },
  ],
  exports: [
    SignerFeeCaps,
    Doorbell,
    LaneMemory,
    BumpWatch,
    LaneWaker,
    InFlightLimits,
    LeasedWork,
    BegunWork,
    PostponeDue,
    NewFills,
    WriteChanges,
    TxQueries,
    AttemptRepository,
    AuthorizationStore,
    PermitStore,
    BlobRepository,
    CommandedTxs,
    ManagedTxRepository,
    TxIntake,
    TxQueue,
    TxsInFlight,
    MinedTxs,
    FundsRepository,
    LostCommitsRepository,
  ],
})
export class LedgerModule {}
