import { Module } from '@nestjs/common';
import { ChainModule } from '../chain/chain.module.js';
import { SignersModule } from '../signers/signers.module.js';
import { LedgerModule } from '../ledger/ledger.module.js';
import { PoliciesModule } from '../policies/policies.module.js';
import { AskBalances } from './application/ask-balances.js';
import { AttemptSigner } from './application/attempt-signer.js';
import { AuthorizationSigner } from './application/authorization-signer.js';
import { BroadcastAttempts } from './application/broadcast-attempts.js';
import { BumpAttempts } from './application/bump-attempts.js';
import { ClassifySends } from './application/classify-sends.js';
import { LearnPoolLimits, RefusalEvidence } from './application/refusal-evidence.js';
import { FeeRules } from './application/fee-rules.js';
import { FirstDrafts } from './application/first-drafts.js';
import { GasRules } from './application/gas-rules.js';
import { OtherGas } from './application/other-gas.js';
import { PriceBumps } from './application/price-bumps.js';
import { QuoteFees } from './application/quote-fees.js';
import { MeasureFunds } from './application/measure-funds.js';
import { RecordSends } from './application/record-sends.js';
import { ReservedFees } from './application/reserved-fees.js';
import { RepricePayloads } from './application/reprice-payloads.js';
import { SignAttempts } from './application/sign-attempts.js';
import { SignNoOps } from './application/sign-no-ops.js';
import { FeesController } from './infrastructure/http/fees.controller.js';
import { CustodyAttemptSigner } from './infrastructure/custody-attempt-signer.js';

@Module({
  imports: [ChainModule, SignersModule, PoliciesModule, LedgerModule],
  controllers: [FeesController],
  providers: [
    AskBalances,
    FeeRules,
    FirstDrafts,
    GasRules,
    QuoteFees,
    MeasureFunds,
    SignAttempts,
    SignNoOps,
    RepricePayloads,
    LearnPoolLimits,
    ClassifySends,
    RefusalEvidence,
    OtherGas,
    RecordSends,
    BroadcastAttempts,
    ReservedFees,
    PriceBumps,
    BumpAttempts,
    { provide: AttemptSigner, useClass: CustodyAttemptSigner },
    AuthorizationSigner,
  ],
  exports: [
    AskBalances,
    AttemptSigner,
    AuthorizationSigner,
    FeeRules,
    GasRules,
    MeasureFunds,
    SignAttempts,
    SignNoOps,
    RepricePayloads,
    ReservedFees,
    BroadcastAttempts,
    BumpAttempts,
  ],
})
export class SendingModule {}
