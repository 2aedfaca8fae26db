import { isIP } from 'node:net';
import { Injectable } from '@nestjs/common';
import { InvalidInput } from '../../../../kernel/errors.js';
import { WebhookTargets } from '../../domain/webhook-targets.js';
import { TargetGuard } from './target-guard.js';

const MAX_LENGTH = 2_000;
const REACHABLE = 'use an address that the internet reaches, or ask the operator to add it to webhooks.allow';

@Injectable()
export class GuardedTargets extends WebhookTargets {
  constructor(private readonly guard: TargetGuard) {
    super();
  }

  checkedUrl(text: string): URL {
    const url = parsed(text);
    if (url.username !== '' || url.password !== '') {
      throw invalid('it has a user or a password', 'leave them out and check the signature of what arrives');
    }
    // Not `url.hash`, which is empty for a bare `#`.
    if (text.includes('#')) throw invalid('it has a fragment (#…)', 'leave it out: a fragment is never sent');
    if (url.protocol !== 'https:' && url.protocol !== 'http:') {
      throw invalid(`it begins with ${url.protocol}`, 'use https://');
    }
    this.checkHost(url);
    return url;
  }

  private checkHost({ hostname, protocol }: URL): void {
    const host = withoutBrackets(hostname);
    if (protocol === 'http:' && !this.guard.mayListAddressOf(host)) {
      throw invalid(
        'plain http goes only to targets in webhooks.allow',
        'use https, or ask the operator to add the target',
      );
    }
    const refusal = isIP(host) === 0 ? null : this.guard.refusal(host, host, protocol);
    if (refusal !== null) throw invalid(refusal, REACHABLE);
  }
}

/** URLs write IPv6 addresses in brackets. */
function withoutBrackets(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1');
}

function parsed(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null)
    throw invalid('it is not an absolute URL', 'write it with scheme and host: https://example.com/hook');
  // The canonical form may be longer: it writes other scripts in ASCII.
  if (Math.max(text.length, url.href.length) > MAX_LENGTH) {
    throw invalid('it has more than 2,000 characters', 'shorten it');
  }
  return url;
}

function invalid(problem: string, advice: string): InvalidInput {
  return new InvalidInput('invalid_webhook_url', `the URL of a webhook is not usable: ${problem}`, advice);
}
