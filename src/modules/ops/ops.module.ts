import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { AccessModule } from '../access/access.module.js';
import { ChainModule } from '../chain/chain.module.js';
import { EventsModule } from '../events/events.module.js';
import { PoliciesModule } from '../policies/policies.module.js';
import { SendingModule } from '../sending/sending.module.js';
import { SignersModule } from '../signers/signers.module.js';
import { LedgerModule } from '../ledger/ledger.module.js';
import { RequestsModule } from '../requests/requests.module.js';
import { PauseSigner } from './application/pause-signer.js';
import { StorePauses } from './application/store-pauses.js';
import { ChangePolicy } from './application/change-policy.js';
import { ReadPolicies } from './application/read-policies.js';
import { ResumeSigner } from './application/resume-signer.js';
import { ChainStanding } from './application/chain-standing.js';
import { ExplainTx } from './application/explain-tx.js';
import { TxSurroundings } from './application/tx-surroundings.js';
import { FindNonce } from './application/find-nonce.js';
import { ListNonces } from './application/list-nonces.js';
import { NonceStanding } from './application/nonce-standing.js';
import { SlotQueries } from './application/slot-queries.js';
import { ExplainController } from './infrastructure/http/explain.controller.js';
import { PgTxSurroundings } from './infrastructure/pg-tx-surroundings.js';
import { SignerLimits } from './application/signer-limits.js';
import { SignerOverview } from './application/signer-overview.js';
import { SignerBalance } from './application/signer-balance.js';
import { SimulateTx } from './application/simulate-tx.js';
import { SimulateController } from './infrastructure/http/simulate.controller.js';
import { Drain } from './infrastructure/drain.js';
import { EndpointMetrics } from './infrastructure/endpoint-metrics.js';
import { ChainsController } from './infrastructure/http/chains.controller.js';
import { HealthController } from './infrastructure/http/health.controller.js';
import { NoncesController } from './infrastructure/http/nonces.controller.js';
import { SignerBalanceController } from './infrastructure/http/signer-balance.controller.js';
import { SignerPausesController } from './infrastructure/http/signer-pauses.controller.js';
import { StopsController } from './infrastructure/http/stops.controller.js';
import { PoliciesController } from './infrastructure/http/policies.controller.js';
import { SignersController } from './infrastructure/http/signers.controller.js';
import { PgSlotQueries } from './infrastructure/pg-slot-queries.js';
import { PgSignerOverview } from './infrastructure/pg-signer-overview.js';
import { SignerMetrics } from './infrastructure/signer-metrics.js';
import { ReadinessProbes } from './infrastructure/readiness-probes.js';

@Module({
  imports: [
    TerminusModule,
    AccessModule,
    ChainModule,
    EventsModule,
    SignersModule,
    PoliciesModule,
    LedgerModule,
    RequestsModule,
    SendingModule,
  ],
  controllers: [
    HealthController,
    ChainsController,
    SignersController,
    SignerPausesController,
    StopsController,
    PoliciesController,
    SignerBalanceController,
    NoncesController,
    ExplainController,
    SimulateController,
  ],
  providers: [
    Drain,
    ReadinessProbes,
    EndpointMetrics,
    SignerMetrics,
    StorePauses,
    PauseSigner,
    ResumeSigner,
    ReadPolicies,
    ChangePolicy,
    SignerLimits,
    ChainStanding,
    ExplainTx,
    { provide: TxSurroundings, useClass: PgTxSurroundings },
    SignerBalance,
    { provide: SlotQueries, useClass: PgSlotQueries },
    NonceStanding,
    ListNonces,
    FindNonce,
    SimulateTx,
    { provide: SignerOverview, useClass: PgSignerOverview },
  ],
})
export class OpsModule {}
