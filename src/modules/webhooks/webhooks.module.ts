import { Module } from '@nestjs/common';
import { EventsModule } from '../events/events.module.js';
import { ChangeEndpoint } from './application/change-endpoint.js';
import { CreateEndpoint } from './application/create-endpoint.js';
import { EncryptAgain } from './application/encrypt-again.js';
import { DeliverDue } from './application/deliver-due.js';
import { FanOut } from './application/fan-out.js';
import { PostDelivery } from './application/post-delivery.js';
import { RecordDeliveries } from './application/record-deliveries.js';
import { ReplayRange } from './application/replay-range.js';
import { RotateSecret } from './application/rotate-secret.js';
import { TestEndpoint } from './application/test-endpoint.js';
import { WebhookMetrics } from './application/webhook-metrics.js';
import { DeliveryLog } from './domain/delivery-log.js';
import { DeliveryQueue } from './domain/delivery-queue.js';
import { FanOutLog } from './domain/fan-out-log.js';
import { WebhookEndpoints } from './domain/webhook-endpoints.js';
import { WebhookSender } from './domain/webhook-sender.js';
import { WebhookSecrets } from './application/webhook-secrets.js';
import { WebhookSignatures } from './application/webhook-signatures.js';
import { WebhookTargets } from './domain/webhook-targets.js';
import { DeliveryScheduler } from './infrastructure/delivery-scheduler.js';
import { FanOutScheduler } from './infrastructure/fan-out-scheduler.js';
import { GuardedTargets } from './infrastructure/guard/guarded-targets.js';
import { DnsResolver, NameResolver } from './infrastructure/guard/name-resolver.js';
import { TargetGuard } from './infrastructure/guard/target-guard.js';
import { GuardedSender } from './infrastructure/guarded-sender.js';
import { WebhookDeliveriesController } from './infrastructure/http/webhook-deliveries.controller.js';
import { WebhooksController } from './infrastructure/http/webhooks.controller.js';
import { PgDeliveryLog } from './infrastructure/pg-delivery-log.js';
import { PgDeliveryQueue } from './infrastructure/pg-delivery-queue.js';
import { PgFanOutLog } from './infrastructure/pg-fan-out-log.js';
import { PgWebhookEndpoints } from './infrastructure/pg-webhook-endpoints.js';
import { WebhookHousekeeping } from './infrastructure/webhook-housekeeping.js';

@Module({
  imports: [EventsModule],
  controllers: [WebhooksController, WebhookDeliveriesController],
  providers: [
    TargetGuard,
    { provide: NameResolver, useClass: DnsResolver },
    { provide: WebhookTargets, useClass: GuardedTargets },
    { provide: WebhookSender, useClass: GuardedSender },
    WebhookSignatures,
    WebhookSecrets,
    { provide: WebhookEndpoints, useClass: PgWebhookEndpoints },
    { provide: FanOutLog, useClass: PgFanOutLog },
    { provide: DeliveryQueue, useClass: PgDeliveryQueue },
    WebhookMetrics,
    { provide: DeliveryLog, useClass: PgDeliveryLog },
    ReplayRange,
    CreateEndpoint,
    ChangeEndpoint,
    RotateSecret,
    TestEndpoint,
    FanOut,
    FanOutScheduler,
    PostDelivery,
    RecordDeliveries,
    DeliverDue,
    DeliveryScheduler,
    EncryptAgain,
    WebhookHousekeeping,
  ],
})
export class WebhooksModule {}
