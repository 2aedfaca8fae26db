import { Module } from '@nestjs/common';
import { EventsModule } from '../events/events.module.js';
import { ChangeEndpoint } from './application/change-endpoint.js';
import { CreateEndpoint } from './application/create-endpoint.js';
import { FanOut } from './application/fan-out.js';
import { RotateSecret } from './application/rotate-secret.js';
import { TestEndpoint } from './application/test-endpoint.js';
import { FanOutLog } from './domain/fan-out-log.js';
import { WebhookEndpoints } from './domain/webhook-endpoints.js';
import { WebhookSender } from './domain/webhook-sender.js';
import { WebhookSignatures } from './domain/webhook-signatures.js';
import { WebhookTargets } from './domain/webhook-targets.js';
import { FanOutScheduler } from './infrastructure/fan-out-scheduler.js';
import { GuardedTargets } from './infrastructure/guard/guarded-targets.js';
import { DnsResolver, NameResolver } from './infrastructure/guard/name-resolver.js';
import { TargetGuard } from './infrastructure/guard/target-guard.js';
import { GuardedSender } from './infrastructure/guarded-sender.js';
import { WebhooksController } from './infrastructure/http/webhooks.controller.js';
import { PgFanOutLog } from './infrastructure/pg-fan-out-log.js';
import { PgWebhookEndpoints } from './infrastructure/pg-webhook-endpoints.js';
import { StandardWebhookSignatures } from './infrastructure/sign-webhook.js';

@Module({
  imports: [EventsModule],
  controllers: [WebhooksController],
  providers: [
    TargetGuard,
    { provide: NameResolver, useClass: DnsResolver },
    { provide: WebhookTargets, useClass: GuardedTargets },
    { provide: WebhookSender, useClass: GuardedSender },
    { provide: WebhookSignatures, useClass: StandardWebhookSignatures },
    { provide: WebhookEndpoints, useClass: PgWebhookEndpoints },
    { provide: FanOutLog, useClass: PgFanOutLog },
    CreateEndpoint,
    ChangeEndpoint,
    RotateSecret,
    TestEndpoint,
    FanOut,
    FanOutScheduler,
  ],
})
export class WebhooksModule {}
