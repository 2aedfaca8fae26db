import { Injectable } from '@nestjs/common';
import { request } from 'undici';
import { messageOf, Unavailable } from '../../../../kernel/errors.js';
import { assertOutsideTransaction } from '../../../../platform/database/transaction-scope.js';
import { ForwardSignatures, isRefusal } from '../../../../platform/http/forward-signatures.js';
import { Log } from '../../../../platform/logging/log.js';
import type { LeaseHolder } from '../../../signers/index.js';
import { type ForwardedAnswer, Forwarding, type OriginalRequest } from '../../application/forwarding.js';

const TIMEOUT_MS = 10_000;

/**
 * Forwards requests to other nodes over HTTP.
 */
@Injectable()
export class HttpForwarding extends Forwarding {
  constructor(
    private readonly signatures: ForwardSignatures,
    private readonly log: Log,
  ) {
    super();
  }

  async forward(
    { nodeId, advertisedUrl }: LeaseHolder,
    { path, body, caller }: OriginalRequest,
  ): Promise<ForwardedAnswer | null> {
    assertOutsideTransaction('forward');
    const answer = await this.send(`${advertisedUrl ?? ''}${path}`, nodeId, JSON.stringify(body), { path, caller });
    if (!isRefusal(answer)) return answer;
    // The clocks or the secrets of the nodes differ, which is not the client's fault.
    this.log.warn('failed to forward a request: the owner does not take what this node signs', {
      ownerNodeId: nodeId,
      answer: answer.body,
    });
    return null;
  }

  private async send(
    url: string,
    to: string,
    text: string,
    { path, caller }: Pick<OriginalRequest, 'path' | 'caller'>,
  ): Promise<ForwardedAnswer> {
    try {
      const answer = await request(url, {
        method: 'POST',
        body: text,
        headers: { 'content-type': 'application/json', ...this.signatures.headersOf({ to, path, body: text, caller }) },
        headersTimeout: TIMEOUT_MS,
        bodyTimeout: TIMEOUT_MS,
      });
      return {
        status: answer.statusCode,
        headers: answeredHeaders(answer.headers),
        body: await answer.body.text(),
      };
    } catch (error) {
      throw new Unavailable(
        'owner_unreachable',
        `the node that acts for the signer did not answer: ${messageOf(error)}`,
        'send it again with the same requestId',
        { ownerNodeId: to },
      );
    }
  }
}

function answeredHeaders({
  'content-type': type = 'application/json',
  'retry-after': retryAfter,
}: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  return { 'content-type': String(type), ...(retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }) };
}
