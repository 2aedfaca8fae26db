import { Module } from '@nestjs/common';
import { ChainModule } from '../chain/chain.module.js';
import { LostCommitsModule } from '../lost-commits/lost-commits.module.js';
import { NoncesModule } from '../nonces/nonces.module.js';
import { SendingModule } from '../sending/sending.module.js';
import { SignersModule } from '../signers/signers.module.js';
import { LaneWaker } from '../transactions/index.js';
import { TransactionsModule } from '../transactions/transactions.module.js';
import { AdvanceLanes } from './application/advance-lanes.js';
import { AllocateNonces } from './application/allocate-nonces.js';
import { BumpDue } from './application/bump-due.js';
import { BumpStuck } from './application/bump-stuck.js';
import { HandOver } from './application/hand-over.js';
import { KnownBalances } from './application/known-balances.js';
import { LaneStep } from './application/lane-step.js';
import { NextPending } from './application/next-pending.js';
import { PreparePending } from './application/prepare-pending.js';
import { RecoverLane } from './application/recover-lane.js';
import { ResendLimited } from './application/resend-limited.js';
import { ResumeLanes } from './application/resume-lanes.js';
import { ResendAttempts } from './application/resend-attempts.js';
import { ResendDue } from './application/resend-due.js';
import { RevertedEstimates } from './application/reverted-estimates.js';
import { SendReady } from './application/send-ready.js';
import { SimulatePending } from './application/simulate-pending.js';
import { HandOverScheduler } from './infrastructure/hand-over-scheduler.js';
import { LaneScheduler } from './infrastructure/lane-scheduler.js';
import { ResubmitScheduler } from './infrastructure/resubmit-scheduler.js';

@Module({
  imports: [ChainModule, SignersModule, TransactionsModule, SendingModule, LostCommitsModule, NoncesModule],
  providers: [
    LaneStep,
    AdvanceLanes,
    NextPending,
    SendReady,
    ResumeLanes,
    RecoverLane,
    ResendLimited,
    PreparePending,
    SimulatePending,
    KnownBalances,
    RevertedEstimates,
    AllocateNonces,
    ResendDue,
    ResendAttempts,
    BumpDue,
    BumpStuck,
    HandOver,
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
