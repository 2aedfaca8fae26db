import { Module } from '@nestjs/common';
import { ChainModule } from '../chain/chain.module.js';
import { EventsModule } from '../events/events.module.js';
import { LedgerModule } from '../ledger/ledger.module.js';
import { PoliciesModule } from '../policies/policies.module.js';
import { SignersModule } from '../signers/signers.module.js';
import { AssertCallback } from './application/assert-callback.js';
import { CallbackEndpoints } from './application/callback-endpoints.js';
import { CreateNow } from './application/create-now.js';
import { CreateTx } from './application/create-tx.js';
import { CreationLimits } from './application/creation-limits.js';
import { ForwardToOwner } from './application/forward-to-owner.js';
import { Forwarding } from './application/forwarding.js';
import { IntakeBatcher } from './application/intake-batcher.js';
import { IntakeRules } from './application/intake-rules.js';
import { PayloadLimits } from './application/payload-limits.js';
import { PolicyGate } from './application/policy-gate.js';
import { ProveBlobs } from './application/prove-blobs.js';
import { ReserveNonces } from './application/reserve-nonces.js';
import { SignerRate } from './application/signer-rate.js';
import { StoredRequests } from './application/stored-requests.js';
import { WaitForState } from './application/wait-for-state.js';
import { WaitingTxs } from './application/waiting-txs.js';
import { Kzg } from './domain/kzg.js';
import { HttpForwarding } from './infrastructure/http/http-forwarding.js';
import { HoldsController } from './infrastructure/http/holds.controller.js';
import { TxBatchController } from './infrastructure/http/tx-batch.controller.js';
import { TxController } from './infrastructure/http/tx.controller.js';
import { NativeKzg } from './infrastructure/native-kzg.js';
import { PgCallbackEndpoints } from './infrastructure/pg-callback-endpoints.js';

@Module({
  imports: [ChainModule, EventsModule, SignersModule, PoliciesModule, LedgerModule],
  controllers: [TxController, TxBatchController, HoldsController],
  providers: [
    IntakeRules,
    PayloadLimits,
    PolicyGate,
    ProveBlobs,
    AssertCallback,
    { provide: CallbackEndpoints, useClass: PgCallbackEndpoints },
    CreateTx,
    CreateNow,
    ReserveNonces,
    ForwardToOwner,
    IntakeBatcher,
    CreationLimits,
    SignerRate,
    StoredRequests,
    WaitForState,
    WaitingTxs,
    { provide: Forwarding, useClass: HttpForwarding },
    { provide: Kzg, useClass: NativeKzg },
  ],
  exports: [IntakeRules, ProveBlobs, SignerRate, WaitForState],
})
export class RequestsModule {}
