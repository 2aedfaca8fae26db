import { Global, Module } from '@nestjs/common';
import { Clock } from '../kernel/clock.js';
import { CrashPoints } from '../kernel/crash-points.js';
import { IdGenerator } from '../kernel/id-generator.js';
import { NodeIdentity } from '../kernel/node-identity.js';
import { ForwardSignatures } from './http/forward-signatures.js';
import { EnvironmentCrashPoints } from './identity/environment-crash-points.js';
import { ProcessIdentity } from './identity/process-identity.js';
import { UuidV7 } from './identity/uuid-v7.js';
import { Pauses, realPause } from './scheduling/pause.js';
import { SystemClock } from './system-clock.js';

/** Clock, ids, and the identity of this process. */
@Global()
@Module({
  providers: [
    { provide: Clock, useClass: SystemClock },
    { provide: Pauses, useValue: { pause: realPause } },
    { provide: IdGenerator, useClass: UuidV7 },
    { provide: CrashPoints, useFactory: () => new EnvironmentCrashPoints() },
    { provide: NodeIdentity, useClass: ProcessIdentity },
    ForwardSignatures,
  ],
  exports: [Clock, CrashPoints, ForwardSignatures, IdGenerator, NodeIdentity, Pauses],
})
export class PlatformModule {}
