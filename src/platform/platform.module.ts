import { Global, Module } from '@nestjs/common';
import { Clock } from '../kernel/clock.js';
import { CrashPoints } from '../kernel/crash-points.js';
import { IdGenerator } from '../kernel/id-generator.js';
import { NodeIdentity } from '../kernel/node-identity.js';
import { ForwardSignatures } from './http/forward-signatures.js';
import { EnvironmentCrashPoints } from './identity/environment-crash-points.js';
import { ProcessIdentity } from './identity/process-identity.js';
import { UuidV7 } from './identity/uuid-v7.js';
import { AccountLimits } from './limits/account-limits.js';
import { RequestLimits } from './limits/request-limits.js';
import { ServingNodes } from './limits/serving-nodes.js';
import { Pauses, realPause } from './scheduling/pause.js';
import { SystemClock } from './system-clock.js';

/** Clock, ids, the identity of this process, and what accounts may ask of it. */
@Global()
@Module({
  providers: [
    { provide: Clock, useClass: SystemClock },
    { provide: Pauses, useValue: { pause: realPause } },
    { provide: IdGenerator, useClass: UuidV7 },
    { provide: CrashPoints, useFactory: () => new EnvironmentCrashPoints() },
    { provide: NodeIdentity, useClass: ProcessIdentity },
    ForwardSignatures,
    AccountLimits,
    RequestLimits,
    ServingNodes,
  ],
  exports: [
    AccountLimits,
    Clock,
    CrashPoints,
    ForwardSignatures,
    IdGenerator,
    NodeIdentity,
    Pauses,
    RequestLimits,
    ServingNodes,
  ],
})
export class PlatformModule {}
