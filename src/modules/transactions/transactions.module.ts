import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { READS } from '../../platform/database/pools.js';
import { ChainModule } from '../chain/chain.module.js';
import { EventsModule } from '../events/events.module.js';
import { SignersModule } from '../signers/signers.module.js';
import { AssertCallback } from './application/intake/assert-callback.js';
import { CallbackEndpoints } from './application/intake/callback-endpoints.js';
import { CreateNow } from './application/intake/create-now.js';
import { CreateTx } from './application/intake/create-tx.js';
import { ForwardToOwner } from './application/intake/forward-to-owner.js';
import { Forwarding } from './application/intake/forwarding.js';
import { IntakeBatcher } from './application/intake/intake-batcher.js';
import { IntakeRules } from './application/intake/intake-rules.js';
import { SignerFeeCaps } from './application/intake/signer-fee-caps.js';
import { TxQueries } from './application/queries/tx-views.js';
import { WaitForState } from './application/queries/wait-for-state.js';
import { AfterCommit } from './application/writing/after-commit.js';
import { Doorbell } from './application/writing/doorbell.js';
import { BumpWatch } from './application/writing/bump-watch.js';
import { LaneMemory } from './application/writing/lane-memory.js';
import { InFlightLimits } from './application/writing/in-flight-limits.js';
import { LaneWaker } from './application/writing/lane-waker.js';
import { LeasedWork } from './application/writing/leased-work.js';
import { MarkReceiptsDue } from './application/writing/mark-receipts-due.js';
import { NewFills } from './application/writing/new-fills.js';
import { TxMetrics } from './application/writing/tx-metrics.js';
import { WriteChanges } from './application/writing/write-changes.js';
import { AttemptRepository } from './domain/attempt.repository.js';
import { FundsRepository } from './domain/funds.repository.js';
import { ManagedTxRepository } from './domain/managed-tx.repository.js';
import { HttpForwarding } from './infrastructure/http/http-forwarding.js';
import { TxBatchController } from './infrastructure/http/tx-batch.controller.js';
import { TxController } from './infrastructure/http/tx.controller.js';
import { ManagedTxEntity } from './infrastructure/managed-tx.entity.js';
import { ProveBlobs } from './application/intake/prove-blobs.js';
import { BlobRepository } from './domain/blob.repository.js';
import { Kzg } from './domain/kzg.js';
import { BlobHousekeeping } from './infrastructure/blob-housekeeping.js';
import { NativeKzg } from './infrastructure/native-kzg.js';
import { PgCallbackEndpoints } from './infrastructure/pg-callback-endpoints.js';
import { PgBlobRepository } from './infrastructure/pg-blob.repository.js';
import { PgAttemptRepository } from './infrastructure/pg-attempt.repository.js';
import { PgDoorbell } from './infrastructure/pg-doorbell.js';
import { PgFundsRepository } from './infrastructure/pg-funds.repository.js';
import { PgManagedTxRepository } from './infrastructure/pg-managed-tx.repository.js';
import { PromTxMetrics } from './infrastructure/prom-tx-metrics.js';
import { TxAttemptEntity } from './infrastructure/tx-attempt.entity.js';
import { TypeormTxQueries } from './infrastructure/typeorm-tx-queries.js';

@Module({
  imports: [
    TypeOrmModule.forFeature([ManagedTxEntity, TxAttemptEntity], READS),
    ChainModule,
    SignersModule,
    EventsModule,
  ],
  controllers: [TxController, TxBatchController],
  providers: [
    IntakeRules,
    SignerFeeCaps,
    ProveBlobs,
    AssertCallback,
    { provide: CallbackEndpoints, useClass: PgCallbackEndpoints },
    CreateTx,
    CreateNow,
    ForwardToOwner,
    IntakeBatcher,
    WaitForState,
    LaneMemory,
    BumpWatch,
    LaneWaker,
    InFlightLimits,
    LeasedWork,
    MarkReceiptsDue,
    NewFills,
    AfterCommit,
    WriteChanges,
    { provide: Doorbell, useClass: PgDoorbell },
    { provide: Forwarding, useClass: HttpForwarding },
    { provide: AttemptRepository, useClass: PgAttemptRepository },
    { provide: BlobRepository, useClass: PgBlobRepository },
    BlobHousekeeping,
    { provide: Kzg, useClass: NativeKzg },
    { provide: ManagedTxRepository, useClass: PgManagedTxRepository },
    { provide: FundsRepository, useClass: PgFundsRepository },
    { provide: TxQueries, useClass: TypeormTxQueries },
    { provide: TxMetrics, useClass: PromTxMetrics },
  ],
  exports: [
    SignerFeeCaps,
    Doorbell,
    LaneMemory,
    BumpWatch,
    LaneWaker,
    InFlightLimits,
    LeasedWork,
    MarkReceiptsDue,
    NewFills,
    ProveBlobs,
    AssertCallback,
    WriteChanges,
    TxQueries,
    AttemptRepository,
    BlobRepository,
    ManagedTxRepository,
    FundsRepository,
    TxMetrics,
    IntakeRules,
    TxQueries,
    WaitForState,
  ],
})
export class TransactionsModule {}
