import { Module } from '@nestjs/common';
import { SignersModule } from '../signers/signers.module.js';
import { ReservedFees } from './application/reserved-fees.js';
import { SignerPolicies } from './application/signer-policies.js';
import { SpendLedger } from './domain/spend-ledger.js';
import { PgSpendLedger } from './infrastructure/pg-spend-ledger.js';

@Module({
  imports: [SignersModule],
  providers: [SignerPolicies, ReservedFees, { provide: SpendLedger, useClass: PgSpendLedger }],
  exports: [SignerPolicies, ReservedFees, SpendLedger],
})
export class PoliciesModule {}
