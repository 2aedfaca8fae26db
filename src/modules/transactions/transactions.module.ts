import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { READS } from '../../platform/database/pools.js';
import { ChainModule } from '../chain/chain.module.js';
import { EventsModule } from '../events/events.module.js';
import { SignersModule } from '../signers/signers.module.js';
import { AlignNonces } from './application/align-nonces.js';
import { AllocateNonces } from './application/allocate-nonces.js';
import { AskReceipts } from './application/ask-receipts.js';
import { AttemptSigner } from './application/attempt-signer.js';
import { BroadcastAttempts } from './application/broadcast-attempts.js';
import { ChainRules } from './application/chain-rules.js';
import { CloseSlots } from './application/close-slots.js';
import { CreateNow } from './application/create-now.js';
import { CreateTx } from './application/create-tx.js';
import { Doorbell } from './application/doorbell.js';
import { FinalityRule } from './application/finality-rule.js';
import { Forwarding } from './application/forwarding.js';
import { HandOver } from './application/hand-over.js';
import { HealGaps } from './application/heal-gaps.js';
import { IntakeRules } from './application/intake-rules.js';
import { IntakeBatcher } from './application/intake-batcher.js';
import { JudgePending } from './application/judge-pending.js';
import { KnownBalances } from './application/known-balances.js';
import { LaneMemory } from './application/lane-memory.js';
import { LaneStep } from './application/lane-step.js';
import { LeasedWork } from './application/leased-work.js';
import { AdmitLanes } from './application/lost-commits/admit-lanes.js';
import { AdoptSent } from './application/lost-commits/adopt-sent.js';
import { CommittedCursors } from './application/lost-commits/committed-cursors.js';
import { FindSent } from './application/lost-commits/find-sent.js';
import { HeldSigners } from './application/lost-commits/held-signers.js';
import { HoldBack } from './application/lost-commits/hold-back.js';
import { LostCommitsMetrics } from './application/lost-commits/lost-commits-metrics.js';
import { ReconcileLanes } from './application/lost-commits/reconcile-lanes.js';
import { ReconcileSigner } from './application/lost-commits/reconcile-signer.js';
import { PreparePending } from './application/prepare-pending.js';
import { RecoverLane } from './application/recover-lane.js';
import { ResubmitDue } from './application/resubmit-due.js';
import { SignAttempts } from './application/sign-attempts.js';
import { SignerWorkers } from './application/signer-workers.js';
import { RevertedEstimates } from './application/reverted-estimates.js';
import { SecondLooks } from './application/second-looks.js';
import { FeeRules } from './application/fee-rules.js';
import { JudgeSends } from './application/judge-sends.js';
import { RepricePayloads } from './application/reprice-payloads.js';
import { SyncSigner } from './application/sync-signer.js';
import { TakenSlots } from './application/taken-slots.js';
import { TendFills } from './application/tend-fills.js';
import { TxMetrics } from './application/tx-metrics.js';
import { TxQueries } from './application/tx-views.js';
import { WaitForState } from './application/wait-for-state.js';
import { AttemptRepository } from './domain/attempt.repository.js';
import { LostCommitsRepository } from './domain/lost-commits.repository.js';
import { ManagedTxRepository } from './domain/managed-tx.repository.js';
import { Eip1559AttemptSigner } from './infrastructure/eip1559-attempt-signer.js';
import { HandOverScheduler } from './infrastructure/hand-over-scheduler.js';
import { HttpForwarding } from './infrastructure/http/http-forwarding.js';
import { TxBatchController } from './infrastructure/http/tx-batch.controller.js';
import { TxController } from './infrastructure/http/tx.controller.js';
import { SignerNoncesController } from './infrastructure/http/signer-nonces.controller.js';
import { LaneScheduler } from './infrastructure/lane-scheduler.js';
import { ManagedTxEntity } from './infrastructure/managed-tx.entity.js';
import { PgAttemptRepository } from './infrastructure/pg-attempt.repository.js';
import { PgDoorbell } from './infrastructure/pg-doorbell.js';
import { PgLostCommitsRepository } from './infrastructure/pg-lost-commits.repository.js';
import { PgManagedTxRepository } from './infrastructure/pg-managed-tx.repository.js';
import { PromLostCommitsMetrics } from './infrastructure/prom-lost-commits-metrics.js';
import { PromTxMetrics } from './infrastructure/prom-tx-metrics.js';
import { ResubmitScheduler } from './infrastructure/resubmit-scheduler.js';
import { TxAttemptEntity } from './infrastructure/tx-attempt.entity.js';
import { TypeormTxQueries } from './infrastructure/typeorm-tx-queries.js';

@Module({
  imports: [
    TypeOrmModule.forFeature([ManagedTxEntity, TxAttemptEntity], READS),
    ChainModule,
    SignersModule,
    EventsModule,
  ],
  controllers: [TxController, TxBatchController, SignerNoncesController],
  providers: [
    IntakeRules,
    CreateTx,
    CreateNow,
    IntakeBatcher,
    WaitForState,
    LaneStep,
    LaneMemory,
    AdmitLanes,
    AdoptSent,
    CommittedCursors,
    FindSent,
    HeldSigners,
    HoldBack,
    ReconcileLanes,
    ReconcileSigner,
    JudgePending,
    KnownBalances,
    RevertedEstimates,
    SecondLooks,
    FeeRules,
    PreparePending,
    AlignNonces,
    AllocateNonces,
    SignAttempts,
    JudgeSends,
    BroadcastAttempts,
    RepricePayloads,
    RecoverLane,
    AskReceipts,
    TendFills,
    ResubmitDue,
    CloseSlots,
    HealGaps,
    SyncSigner,
    TakenSlots,
    ChainRules,
    FinalityRule,
    SignerWorkers,
    LeasedWork,
    LaneScheduler,
    PgDoorbell,
    HandOver,
    HandOverScheduler,
    ResubmitScheduler,
    { provide: Doorbell, useExisting: PgDoorbell },
    { provide: Forwarding, useClass: HttpForwarding },
    { provide: AttemptSigner, useClass: Eip1559AttemptSigner },
    { provide: AttemptRepository, useClass: PgAttemptRepository },
    { provide: LostCommitsRepository, useClass: PgLostCommitsRepository },
    { provide: LostCommitsMetrics, useClass: PromLostCommitsMetrics },
    { provide: ManagedTxRepository, useClass: PgManagedTxRepository },
    { provide: TxQueries, useClass: TypeormTxQueries },
    { provide: TxMetrics, useClass: PromTxMetrics },
  ],
  exports: [
    FinalityRule,
    Doorbell,
    LaneMemory,
    LeasedWork,
    AskReceipts,
    ReconcileSigner,
    SecondLooks,
    TakenSlots,
    AttemptRepository,
    ManagedTxRepository,
    TxMetrics,
  ],
})
export class TransactionsModule {}
