import { Module } from '@nestjs/common';
import { ChainModule } from '../chain/chain.module.js';
import { EventsModule } from '../events/events.module.js';
import { LostCommitsModule } from '../lost-commits/lost-commits.module.js';
import { PoliciesModule } from '../policies/policies.module.js';
import { SendingModule } from '../sending/sending.module.js';
import { SignersModule } from '../signers/signers.module.js';
import { LedgerModule } from '../ledger/ledger.module.js';
import { AlignNonces } from './application/align-nonces.js';
import { AuthorizationTurns } from './application/authorization-turns.js';
import { EndAuthorization } from './application/end-authorization.js';
import { CreateFills, FillNonceGaps } from './application/fill-nonce-gaps.js';
import { ForeignNonces } from './application/foreign-nonces.js';
import { FreeNonceGaps } from './application/free-nonce-gaps.js';
import { FindGrantNonce, GrantAuthorization } from './application/grant-authorization.js';
import { LookAtHolds } from './application/look-at-holds.js';
import { TendAuthorizations } from './application/tend-authorizations.js';
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
  imports: [ChainModule, SignersModule, PoliciesModule, EventsModule, LedgerModule, SendingModule, LostCommitsModule],
  controllers: [SignerNoncesController],
  providers: [
    AlignNonces,
    AuthorizationTurns,
    CreateFills,
    EndAuthorization,
    FillNonceGaps,
    FindGrantNonce,
    ForeignNonces,
    FreeNonceGaps,
    GapScheduler,
    GrantAuthorization,
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
    TendAuthorizations,
    TellGaps,
    WatchGaps,
  ],
  exports: [AlignNonces, AuthorizationTurns, FillNonceGaps, FreeNonceGaps, ReassignNonces, ReopenNonces],
})
export class NoncesModule {}
