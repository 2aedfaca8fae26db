import { Module } from '@nestjs/common';
import { ChainModule } from '../chain/chain.module.js';
import { SignersModule } from '../signers/signers.module.js';
import { TransactionsModule } from '../transactions/transactions.module.js';
import { AdmitLanes } from './application/admit-lanes.js';
import { AdoptSent } from './application/adopt-sent.js';
import { CommittedCursors } from './application/committed-cursors.js';
import { FindSent } from './application/find-sent.js';
import { HeldSigners } from './application/held-signers.js';
import { HoldBack } from './application/hold-back.js';
import { LostCommitsMetrics } from './application/lost-commits-metrics.js';
import { ReconcileLanes } from './application/reconcile-lanes.js';
import { ReconcileSigner } from './application/reconcile-signer.js';
import { LostCommitsRepository } from './domain/lost-commits.repository.js';
import { PgLostCommitsRepository } from './infrastructure/pg-lost-commits.repository.js';
import { PromLostCommitsMetrics } from './infrastructure/prom-lost-commits-metrics.js';

@Module({
  imports: [ChainModule, SignersModule, TransactionsModule],
  providers: [
    AdmitLanes,
    AdoptSent,
    CommittedCursors,
    FindSent,
    HeldSigners,
    HoldBack,
    ReconcileLanes,
    ReconcileSigner,
    { provide: LostCommitsRepository, useClass: PgLostCommitsRepository },
    { provide: LostCommitsMetrics, useClass: PromLostCommitsMetrics },
  ],
  exports: [AdmitLanes, CommittedCursors, ReconcileSigner],
})
export class LostCommitsModule {}
