import { isIP } from 'node:net';
import { Injectable } from '@nestjs/common';
import { WebhookTargets } from '../../domain/webhook-targets.js';
import { TargetGuard } from './target-guard.js';
import { invalidUrl, webhookUrl } from './webhook-url.js';

/** Says early what a connection would refuse, where that is known without asking DNS. */
@Injectable()
export class GuardedTargets extends WebhookTargets {
  constructor(private readonly guard: TargetGuard) {
    super();
  }

  checkedUrl(text: string): URL {
    const url = webhookUrl(text);
    // URLs write IPv6 addresses in brackets.
    const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
    if (url.protocol === 'http:' && !this.guard.mayListAddressOf(host)) {
      throw invalidUrl(
        'plain http goes only to targets in webhooks.allow',
        'use https, or ask the operator to add the target',
      );
    }
    const refusal = isIP(host) === 0 ? null : this.guard.refusal(host, host, url.protocol);
    if (refusal === null) return url;
    throw invalidUrl(
      refusal,
      'use an address that the internet reaches, or ask the operator to add it to webhooks.allow',
    );
  }
}
