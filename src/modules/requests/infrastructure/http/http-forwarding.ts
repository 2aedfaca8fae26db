import { Injectable } from '@nestjs/common';
import { request } from 'undici';
import { messageOf, Unavailable } from '../../../../kernel/errors.js';
import { assertOutsideTransaction } from '../../../../platform/database/transaction-scope.js';
import { ForwardSignatures } from '../../../../platform/http/forward-signatures.js';
import type { LeaseHolder } from '../../../signers/index.js';
import { type ForwardedAnswer, Forwarding, type OriginalRequest } from '../../application/forwarding.js';

const TIMEOUT_MS = 10_000;

/**
 * Forwards requests to other nodes over HTTP.
 */
@Injectable()
export class HttpForwarding extends Forwarding {
  constructor(private readonly signatures: ForwardSignatures) {
    super();
  }

  async forward(
    { nodeId, advertisedUrl }: LeaseHolder,
    { path, body, caller }: OriginalRequest,
  ): Promise<ForwardedAnswer> {
    assertOutsideTransaction('forward');
    const text = JSON.stringify(body);
    try {
      const answer = await request(`${advertisedUrl ?? ''}${path}`, {
        method: 'POST',
        body: text,
        headers: {
          'content-type': 'application/json',
          ...this.signatures.headersOf({ to: nodeId, path, body: text, caller }),
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
}
