import { Module } from '@nestjs/common';
import { ChainModule } from '../chain/chain.module.js';
import { SignersModule } from '../signers/signers.module.js';
import { LedgerModule } from '../ledger/ledger.module.js';
import { AdmitLanes } from './application/admit-lanes.js';
import { AdoptSent } from './application/adopt-sent.js';
import { CommittedCursors } from './application/committed-cursors.js';
import { FindSent } from './application/find-sent.js';
import { HeldSigners } from './application/held-signers.js';
import { ReconcileLanes, ReconcileSigner } from './application/reconcile-lanes.js';
import { SignersInDoubt } from './application/signers-in-doubt.js';

@Module({
  imports: [ChainModule, SignersModule, LedgerModule],
  providers: [
    AdmitLanes,
    AdoptSent,
    CommittedCursors,
    FindSent,
    HeldSigners,
    ReconcileLanes,
    ReconcileSigner,
    SignersInDoubt,
  ],
  exports: [AdmitLanes, AdoptSent, CommittedCursors, ReconcileSigner, SignersInDoubt],
})
export class LostCommitsModule {}
