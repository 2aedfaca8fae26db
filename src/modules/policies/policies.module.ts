import { Module } from '@nestjs/common';
import { SignersModule } from '../signers/signers.module.js';
import { SignerPolicies } from './application/signer-policies.js';
import { SpendLedger } from './domain/spend-ledger.js';
import { StoredPolicies } from './domain/stored-policies.js';
import { PgSpendLedger } from './infrastructure/pg-spend-ledger.js';
import { PgStoredPolicies } from './infrastructure/pg-stored-policies.js';
import { PolicyRefresh } from './infrastructure/policy-refresh.js';

@Module({
  imports: [SignersModule],
  providers: [
    SignerPolicies,
    PolicyRefresh,
    { provide: SpendLedger, useClass: PgSpendLedger },
    { provide: StoredPolicies, useClass: PgStoredPolicies },
  ],
  exports: [SignerPolicies, SpendLedger, StoredPolicies],
})
export class PoliciesModule {}
