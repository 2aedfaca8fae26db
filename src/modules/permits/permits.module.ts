import { Module } from '@nestjs/common';
import { ChainModule } from '../chain/chain.module.js';
import { LedgerModule } from '../ledger/ledger.module.js';
import { PoliciesModule } from '../policies/policies.module.js';
import { SignersModule } from '../signers/signers.module.js';
import { MakePermit } from './application/make-permit.js';
import { SignTypedData } from './application/sign-typed-data.js';
import { TendPermits } from './application/tend-permits.js';
import { TypedDataController } from './infrastructure/http/typed-data.controller.js';
import { PermitScheduler } from './infrastructure/permit-scheduler.js';

@Module({
  imports: [ChainModule, SignersModule, PoliciesModule, LedgerModule],
  controllers: [TypedDataController],
  providers: [SignTypedData, MakePermit, TendPermits, PermitScheduler],
})
export class PermitsModule {}
