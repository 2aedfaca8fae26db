import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { ChainModule } from '../chain/chain.module.js';
import { SignerOverview } from './application/signer-overview.js';
import { Drain } from './infrastructure/drain.js';
import { EndpointMetrics } from './infrastructure/endpoint-metrics.js';
import { HealthController } from './infrastructure/http/health.controller.js';
import { SignersController } from './infrastructure/http/signers.controller.js';
import { PgSignerOverview } from './infrastructure/pg-signer-overview.js';
import { SignerMetrics } from './infrastructure/signer-metrics.js';
import { ReadinessProbes } from './infrastructure/readiness-probes.js';

@Module({
  imports: [TerminusModule, ChainModule],
  controllers: [HealthController, SignersController],
  providers: [
    Drain,
    ReadinessProbes,
    EndpointMetrics,
    SignerMetrics,
    { provide: SignerOverview, useClass: PgSignerOverview },
  ],
})
export class OpsModule {}
