import { Module } from '@nestjs/common';
import { LockstepConfig } from '../../config/lockstep-config.js';
import { Clock } from '../../kernel/clock.js';
import { Log } from '../../platform/logging/log.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import { Pauses } from '../../platform/scheduling/pause.js';
import { LeaseManager } from './application/lease-manager.js';
import { NodeLeases } from './application/node-leases.js';
import { Router } from './application/router.js';
import { SignerWorkers } from './application/signer-workers.js';
import { Custody } from './domain/custody.js';
import { FencedUnitOfWork } from './domain/fence.js';
import { LeaseStore } from './domain/lease-store.js';
import { NonceLedger } from './domain/nonce-ledger.js';
import { NodeRegistry } from './domain/node-registry.js';
import { SignerDirectory } from './domain/signer-directory.js';
import { SignerPauses } from './domain/signer-pauses.js';
import { CheckedCustody } from './infrastructure/checked-custody.js';
import { LeaseHeartbeat } from './infrastructure/lease-heartbeat.js';
import { NodeHousekeeping } from './infrastructure/node-housekeeping.js';
import { PgFencedUnitOfWork } from './infrastructure/pg-fenced-unit-of-work.js';
import { PgLeaseStore } from './infrastructure/pg-lease-store.js';
import { PgNonceLedger } from './infrastructure/pg-nonce-ledger.js';
import { PgNodeRegistry } from './infrastructure/pg-node-registry.js';
import { PgSignerDirectory } from './infrastructure/pg-signer-directory.js';
import { PgSignerPauses } from './infrastructure/pg-signer-pauses.js';

@Module({
  providers: [
    LeaseManager,
    NodeLeases,
    Router,
    SignerWorkers,
    LeaseHeartbeat,
    NodeHousekeeping,
    { provide: LeaseStore, useClass: PgLeaseStore },
    { provide: FencedUnitOfWork, useClass: PgFencedUnitOfWork },
    { provide: NonceLedger, useClass: PgNonceLedger },
    { provide: NodeRegistry, useClass: PgNodeRegistry },
    { provide: SignerDirectory, useClass: PgSignerDirectory },
    { provide: SignerPauses, useClass: PgSignerPauses },
    {
      provide: Custody,
      useFactory: (config: LockstepConfig, metrics: Metrics, clock: Clock, { pause }: Pauses, log: Log) =>
        CheckedCustody.open(config, { metrics, clock, pause, log }),
      inject: [LockstepConfig, Metrics, Clock, Pauses, Log],
    },
  ],
  exports: [LeaseManager, Router, NodeRegistry, FencedUnitOfWork, NonceLedger, Custody, SignerPauses, SignerWorkers],
})
export class SignersModule {}
