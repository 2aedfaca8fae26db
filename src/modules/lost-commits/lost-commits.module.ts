import { Module } from '@nestjs/common';
import { ChainModule } from '../chain/chain.module.js';
import { EventsModule } from '../events/events.module.js';
import { SignersModule } from '../signers/signers.module.js';
import { LedgerModule } from '../ledger/ledger.module.js';
import { AdmitLanes } from './application/admit-lanes.js';
import { AdoptSent } from './application/adopt-sent.js';
import { CommittedCursors } from './application/committed-cursors.js';
import { CompareBooks } from './application/compare-books.js';
import { ExecutedAfterAll } from './application/executed-after-all.js';
import { HoldBehind } from './application/hold-behind.js';
import { MarkBehind } from './application/mark-behind.js';
import { FindSent } from './application/find-sent.js';
import { HeldSigners } from './application/held-signers.js';
import { ReconcileLanes, ReconcileSigner } from './application/reconcile-lanes.js';
import { SignersInDoubt } from './application/signers-in-doubt.js';

@Module({
  imports: [ChainModule, EventsModule, SignersModule, LedgerModule],
  providers: [
    AdmitLanes,
    AdoptSent,
    CommittedCursors,
    CompareBooks,
    ExecutedAfterAll,
    FindSent,
    HoldBehind,
    MarkBehind,
    HeldSigners,
    ReconcileLanes,
    ReconcileSigner,
    SignersInDoubt,
  ],
  exports: [
    AdmitLanes,
    AdoptSent,
    CommittedCursors,
    CompareBooks,
    ExecutedAfterAll,
    HoldBehind,
    ReconcileSigner,
    SignersInDoubt,
  ],
})
export class LostCommitsModule {}
