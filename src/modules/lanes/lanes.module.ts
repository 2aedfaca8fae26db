import { Module } from '@nestjs/common';
import { ChainModule } from '../chain/chain.module.js';
import { EventsModule } from '../events/events.module.js';
import { LostCommitsModule } from '../lost-commits/lost-commits.module.js';
import { NoncesModule } from '../nonces/nonces.module.js';
import { PoliciesModule } from '../policies/policies.module.js';
import { SendingModule } from '../sending/sending.module.js';
import { SignersModule } from '../signers/signers.module.js';
import { LaneWaker } from '../ledger/index.js';
import { LedgerModule } from '../ledger/ledger.module.js';
import { AllocateNonces } from './application/allocate-nonces.js';
import { BumpDue } from './application/bump-due.js';
import { CoverCosts, KnownBalances } from './application/cover-costs.js';
import { DailyRoom } from './application/daily-room.js';
import { DailySums } from './application/daily-sums.js';
import { EstimatePending } from './application/estimate-pending.js';
import { HandOver } from './application/hand-over.js';
import { HoldShares } from './application/hold-shares.js';
import { LaneRooms } from './application/lane-rooms.js';
import { LaneStep } from './application/lane-step.js';
import { LookForDelegations } from './application/look-for-delegations.js';
import { NonceGate } from './application/nonce-gate.js';
import { PoolTurns } from './application/pool-turns.js';
import { PreparePending } from './application/prepare-pending.js';
import { RecoverLane, ResumeLanes } from './application/resume-lanes.js';
import { ResendAttempts } from './application/resend-attempts.js';
import { ResendDue } from './application/resend-due.js';
import { RevertedEstimates } from './application/reverted-estimates.js';
import { SimulatePending } from './application/simulate-pending.js';
import { WatchBalances } from './application/watch-balances.js';
import { BalanceScheduler } from './infrastructure/balance-scheduler.js';
import { HandOverScheduler } from './infrastructure/hand-over-scheduler.js';
import { LaneScheduler } from './infrastructure/lane-scheduler.js';
import { ResubmitScheduler } from './infrastructure/resubmit-scheduler.js';

@Module({
  imports: [
    EventsModule,
    ChainModule,
    SignersModule,
    PoliciesModule,
    LedgerModule,
    SendingModule,
    LostCommitsModule,
    NoncesModule,
  ],
  providers: [
    LaneStep,
    ResumeLanes,
    LookForDelegations,
    RecoverLane,
    PreparePending,
    NonceGate,
    HoldShares,
    LaneRooms,
    PoolTurns,
    SimulatePending,
    KnownBalances,
    DailyRoom,
    DailySums,
    CoverCosts,
    RevertedEstimates,
    EstimatePending,
    AllocateNonces,
    ResendDue,
    ResendAttempts,
    BumpDue,
    HandOver,
    WatchBalances,
    BalanceScheduler,
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
