import { createHmac, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { request } from 'undici';
import { NodeConfig } from '../../../../config/lockstep-config.js';
import { InvalidInput, messageOf, Unavailable } from '../../../../kernel/errors.js';
import { NodeIdentity } from '../../../../kernel/node-identity.js';
import { assertOutsideTransaction } from '../../../../platform/database/transaction-scope.js';
import type { LeaseHolder } from '../../../signers/index.js';
import { type ForwardedAnswer, Forwarding } from '../../application/forwarding.js';

const FROM = 'x-lockstep-forwarded-by';
const SIGNATURE = 'x-lockstep-forward-signature';
const TIMEOUT_MS = 10_000;

/**
 * Forwards requests to other nodes over HTTP. A forwarded request carries an HMAC of its sender and body with the secret of the deployment.
 */
@Injectable()
export class HttpForwarding extends Forwarding {
  constructor(
    private readonly config: NodeConfig,
    private readonly node: NodeIdentity,
  ) {
    super();
  }

  async forward({ nodeId, advertisedUrl }: LeaseHolder, path: string, body: unknown): Promise<ForwardedAnswer> {
    assertOutsideTransaction('forward');
    const text = JSON.stringify(body);
    try {
      const answer = await request(`${advertisedUrl ?? ''}${path}`, {
        method: 'POST',
        body: text,
        headers: {
          'content-type': 'application/json',
          [FROM]: this.node.id,
          [SIGNATURE]: this.sign(this.node.id, text),
        },
        headersTimeout: TIMEOUT_MS,
        bodyTimeout: TIMEOUT_MS,
      });
      const contentType = answer.headers['content-type'];
      return {
        status: answer.statusCode,
        contentType: typeof contentType === 'string' ? contentType : 'application/json',
        body: await answer.body.text(),
      };
    } catch (error) {
      throw new Unavailable(
        'owner_unreachable',
        `the node that acts for the signer did not answer: ${messageOf(error)}`,
        'send it again with the same requestId',
        { ownerNodeId: nodeId },
      );
    }
  }

  wasForwarded(headers: Readonly<Record<string, unknown>>, body: unknown): boolean {
    const from = headers[FROM];
    if (from === undefined) return false;
    const given = headers[SIGNATURE];
    const expected = typeof from === 'string' ? this.sign(from, JSON.stringify(body)) : '';
    if (typeof given !== 'string' || !sameText(given, expected)) {
      throw new InvalidInput(
        'bad_forward_signature',
        `${FROM} is set, but the request does not come from a node of this deployment`,
        'leave the header out',
      );
    }
    return true;
  }

  private sign(from: string, body: string): string {
    // Without a secret nothing can prove the sender, so the header is refused.
    const secret = this.config.forwardSecret;
    return secret === undefined ? '' : createHmac('sha256', secret).update(`${from}\n${body}`).digest('hex');
  }
}

function sameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length > 0 && left.length === right.length && timingSafeEqual(left, right);
}
