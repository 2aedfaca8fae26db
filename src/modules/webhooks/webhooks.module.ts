import { Module } from '@nestjs/common';
import { WebhookSender } from './domain/webhook-sender.js';
import { WebhookSignatures } from './domain/webhook-signatures.js';
import { WebhookTargets } from './domain/webhook-targets.js';
import { GuardedTargets } from './infrastructure/guard/guarded-targets.js';
import { DnsResolver, NameResolver } from './infrastructure/guard/name-resolver.js';
import { TargetGuard } from './infrastructure/guard/target-guard.js';
import { GuardedSender } from './infrastructure/guarded-sender.js';
import { StandardWebhookSignatures } from './infrastructure/sign-webhook.js';

@Module({
  providers: [
    TargetGuard,
    { provide: NameResolver, useClass: DnsResolver },
    { provide: WebhookTargets, useClass: GuardedTargets },
    { provide: WebhookSender, useClass: GuardedSender },
    { provide: WebhookSignatures, useClass: StandardWebhookSignatures },
  ],
})
export class WebhooksModule {}
