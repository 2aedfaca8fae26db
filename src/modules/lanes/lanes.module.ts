import { Module } from '@nestjs/common';
import { ChainModule } from '../chain/chain.module.js';
import { EventsModule } from '../events/events.module.js';
import { LostCommitsModule } from '../lost-commits/lost-commits.module.js';
import { NoncesModule } from '../nonces/nonces.module.js';
import { SendingModule } from '../sending/sending.module.js';
import { SignersModule } from '../signers/signers.module.js';
import { LaneWaker } from '../transactions/index.js';
import { TransactionsModule } from '../transactions/transactions.module.js';
import { AdvanceLanes } from './application/advance-lanes.js';
import { AllocateNonces } from './application/allocate-nonces.js';
import { BalanceMetrics } from './application/balance-metrics.js';
import { BumpDue } from './application/bump-due.js';
import { BumpStuck } from './application/bump-stuck.js';
import { CoverCosts } from './application/cover-costs.js';
import { HandOver } from './application/hand-over.js';
import { KnownBalances } from './application/known-balances.js';
import { LaneStep } from './application/lane-step.js';
import { LookForDelegations } from './application/look-for-delegations.js';
import { NextPending } from './application/next-pending.js';
import { PoolTurns } from './application/pool-turns.js';
import { PreparePending } from './application/prepare-pending.js';
import { RecoverLane } from './application/recover-lane.js';
import { ResendLimited } from './application/resend-limited.js';
import { ResumeLanes } from './application/resume-lanes.js';
import { ReportLowBalances } from './application/report-low-balances.js';
import { ResendAttempts } from './application/resend-attempts.js';
import { ResendDue } from './application/resend-due.js';
import { ResumeFunded } from './application/resume-funded.js';
import { RevertedEstimates } from './application/reverted-estimates.js';
import { SendReady } from './application/send-ready.js';
import { SimulatePending } from './application/simulate-pending.js';
import { WatchBalances } from './application/watch-balances.js';
import { BalanceScheduler } from './infrastructure/balance-scheduler.js';
import { HandOverScheduler } from './infrastructure/hand-over-scheduler.js';
import { LaneScheduler } from './infrastructure/lane-scheduler.js';
import { PromBalanceMetrics } from './infrastructure/prom-balance-metrics.js';
import { ResubmitScheduler } from './infrastructure/resubmit-scheduler.js';

@Module({
  imports: [
    EventsModule,
    ChainModule,
    SignersModule,
    TransactionsModule,
    SendingModule,
    LostCommitsModule,
    NoncesModule,
  ],
  providers: [
    LaneStep,
    AdvanceLanes,
    NextPending,
    SendReady,
    ResumeLanes,
    LookForDelegations,
    RecoverLane,
    ResendLimited,
    PreparePending,
    PoolTurns,
    SimulatePending,
    KnownBalances,
    CoverCosts,
    RevertedEstimates,
    AllocateNonces,
    ResendDue,
    ResendAttempts,
    BumpDue,
    BumpStuck,
    HandOver,
    WatchBalances,
    ResumeFunded,
    ReportLowBalances,
    BalanceScheduler,
    { provide: BalanceMetrics, useClass: PromBalanceMetrics },
    LaneScheduler,
    HandOverScheduler,
    ResubmitScheduler,
  ],
})
export class LanesModule {
  constructor(waker: LaneWaker, lanes: LaneScheduler) {
    waker.onWake((signers) => lanes.wake(signers));
  }
}
