import { Module } from '@nestjs/common';
import { ChainModule } from '../chain/chain.module.js';
import { LostCommitsModule } from '../lost-commits/lost-commits.module.js';
import { NoncesModule } from '../nonces/nonces.module.js';
import { PoliciesModule } from '../policies/policies.module.js';
import { SendingModule } from '../sending/sending.module.js';
import { SignersModule } from '../signers/signers.module.js';
import { LedgerModule } from '../ledger/ledger.module.js';
import { AuthorizationTurns } from './application/authorization-turns.js';
import { EndAuthorization } from './application/end-authorization.js';
import { FindGrantNonce, GrantAuthorization } from './application/grant-authorization.js';
import { TendAuthorizations } from './application/tend-authorizations.js';
import { AuthorizationScheduler } from './infrastructure/authorization-scheduler.js';

@Module({
  imports: [ChainModule, SignersModule, PoliciesModule, LedgerModule, SendingModule, LostCommitsModule, NoncesModule],
  providers: [
    TendAuthorizations,
    AuthorizationTurns,
    GrantAuthorization,
    EndAuthorization,
    FindGrantNonce,
    AuthorizationScheduler,
  ],
})
export class AuthorizationsModule {}
