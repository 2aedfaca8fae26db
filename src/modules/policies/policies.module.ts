import { Module } from '@nestjs/common';
import { SignersModule } from '../signers/signers.module.js';
import { SignerPolicies } from './application/signer-policies.js';
import { SpendLedger } from './domain/spend-ledger.js';
import { PgSpendLedger } from './infrastructure/pg-spend-ledger.js';

@Module({
  imports: [SignersModule],
  providers: [SignerPolicies, { provide: SpendLedger, useClass: PgSpendLedger }],
  exports: [SignerPolicies, SpendLedger],
})
export class PoliciesModule {}
