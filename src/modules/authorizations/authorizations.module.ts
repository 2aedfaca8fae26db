import { Module } from '@nestjs/common';
import { ChainModule } from '../chain/chain.module.js';
import { LostCommitsModule } from '../lost-commits/lost-commits.module.js';
import { NoncesModule } from '../nonces/nonces.module.js';
import { SendingModule } from '../sending/sending.module.js';
import { SignersModule } from '../signers/signers.module.js';
import { TransactionsModule } from '../transactions/transactions.module.js';
import { AuthorizationSteps } from './application/authorization-steps.js';
import { AuthorizationTurns } from './application/authorization-turns.js';
import { EndAuthorization } from './application/end-authorization.js';
import { FindGrantNonce } from './application/find-grant-nonce.js';
import { GrantAuthorization } from './application/grant-authorization.js';
import { TendAuthorizations } from './application/tend-authorizations.js';
import { AuthorizationStore } from './domain/authorization-store.js';
import { AuthorizationScheduler } from './infrastructure/authorization-scheduler.js';
import { PgAuthorizationStore } from './infrastructure/pg-authorization-store.js';

@Module({
  imports: [ChainModule, SignersModule, TransactionsModule, SendingModule, LostCommitsModule, NoncesModule],
  providers: [
    TendAuthorizations,
    AuthorizationSteps,
    AuthorizationTurns,
    GrantAuthorization,
    EndAuthorization,
    FindGrantNonce,
    { provide: AuthorizationStore, useClass: PgAuthorizationStore },
    AuthorizationScheduler,
  ],
})
export class AuthorizationsModule {}
