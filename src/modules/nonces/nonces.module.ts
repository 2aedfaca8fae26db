import { Module } from '@nestjs/common';
import { ChainModule } from '../chain/chain.module.js';
import { EventsModule } from '../events/events.module.js';
import { LostCommitsModule } from '../lost-commits/lost-commits.module.js';
import { SendingModule } from '../sending/sending.module.js';
import { SignersModule } from '../signers/signers.module.js';
import { LedgerModule } from '../ledger/ledger.module.js';
import { AlignNonces } from './application/align-nonces.js';
import { CreateFills, FillNonceGaps } from './application/fill-nonce-gaps.js';
import { ForeignNonces } from './application/foreign-nonces.js';
import { FreeNonceGaps } from './application/free-nonce-gaps.js';
import { LookAtHolds } from './application/look-at-holds.js';
import { EndHolds, TendHolds } from './application/tend-holds.js';
import { GapScheduler } from './infrastructure/gap-scheduler.js';
import { HoldScheduler } from './infrastructure/hold-scheduler.js';
import { FillLeftFree } from './application/fill-left-free.js';
import { LeftFreeNonces } from './application/left-free-nonces.js';
import { LeftFreeScheduler } from './infrastructure/left-free-scheduler.js';
import { ReassignNonces } from './application/reassign-nonces.js';
import { ReopenNonces } from './application/reopen-nonces.js';
import { SearchListings } from './application/search-listings.js';
import { SyncSigner } from './application/sync-signer.js';
import { TellGaps, WatchGaps } from './application/watch-gaps.js';
import { SignerNoncesController } from './infrastructure/http/signer-nonces.controller.js';

@Module({
  imports: [ChainModule, SignersModule, EventsModule, LedgerModule, SendingModule, LostCommitsModule],
  controllers: [SignerNoncesController],
  providers: [
    AlignNonces,
    CreateFills,
    FillNonceGaps,
    ForeignNonces,
    FreeNonceGaps,
    GapScheduler,
    FillLeftFree,
    LeftFreeNonces,
    LeftFreeScheduler,
    LookAtHolds,
    TendHolds,
    EndHolds,
    HoldScheduler,
    ReassignNonces,
    ReopenNonces,
    SearchListings,
    SyncSigner,
    TellGaps,
    WatchGaps,
  ],
  exports: [AlignNonces, FillNonceGaps, FreeNonceGaps, ReassignNonces, ReopenNonces],
})
export class NoncesModule {}
