import { describe, expect, it } from '@jest/globals';
import { EndpointUrl } from '../../../src/modules/chain/infrastructure/rpc/endpoint-url.js';
import type { HttpAnswer } from '../../../src/modules/chain/infrastructure/rpc/http-post.js';
import {
  type BatchAnswer,
  JsonRpcRoundTrip,
} from '../../../src/modules/chain/infrastructure/rpc/json-rpc-round-trip.js';

const SECRET = 'secret-key-123456';
const URL = EndpointUrl.parse(`https://rpc.example/${SECRET}`, 0);

/** Sends so many calls, and answers them with one HTTP response, or with the error of the transport. */
async function send(count: number, answer: Partial<HttpAnswer> | Error): Promise<BatchAnswer & { sent: string }> {
  let sent = '';
  const http = {
    post: async (body: string): Promise<HttpAnswer> => {
      sent = body;
      if (answer instanceof Error) throw answer;
      return { statusCode: 200, retryAfter: undefined, text: '', ...answer };
    },
    close: async () => undefined,
  };
  const calls = Array.from({ length: count }, (_, i) => ({ id: i + 1, text: `{"id":${i + 1}}` }));
  return { ...(await new JsonRpcRoundTrip(http, URL).send(calls)), sent };
}

const refusalOf = (answer: BatchAnswer): string | null => (answer.kind === 'refused' ? answer.refusal.message : null);
const failureOf = (answer: BatchAnswer): unknown => {
  const [reply] = answer.kind === 'answered' ? answer.replies : [];
  return reply?.kind === 'failed' ? reply.failure : null;
};

describe('JsonRpcRoundTrip.send', () => {
  it('sends one call without brackets, and several calls as a batch', async () => {
    expect((await send(1, {})).sent).toBe('{"id":1}');
    expect((await send(2, {})).sent).toBe('[{"id":1},{"id":2}]');
  });

  it('gives each call its reply', async () => {
    const text = JSON.stringify([
      { id: 2, result: 'b' },
      { id: 1, result: 'a' },
    ]);
    expect(await send(2, { text })).toMatchObject({
      kind: 'answered',
      replies: [
        { kind: 'result', value: 'a' },
        { kind: 'result', value: 'b' },
      ],
    });
  });

  it('uses an error of the node that comes with a 4xx', async () => {
    const text = JSON.stringify({ id: 1, error: { code: -32000, message: 'nonce too low' } });
    expect(await send(1, { statusCode: 400, text })).toMatchObject({
      kind: 'answered',
      replies: [{ kind: 'error', error: { message: 'nonce too low' } }],
    });
  });

  it.each([429, 500])('does not use an answer that comes with a %d', async (statusCode) => {
    const text = JSON.stringify({ id: 1, result: 'a' });
    expect(failureOf(await send(1, { statusCode, text }))).toMatchObject({ mayHaveArrived: true });
  });

  it('hides the key of the URL in a failure, in an error and in a refusal', async () => {
    const inFailure = await send(1, { statusCode: 502, text: `no route to /${SECRET}` });
    const inError = await send(1, { text: JSON.stringify({ id: 1, error: { message: `bad key ${SECRET}` } }) });
    const inRefusal = await send(2, { statusCode: 413, text: `too large for /${SECRET}` });
    expect(failureOf(inFailure)).toMatchObject({ message: 'HTTP 502: no route to /***' });
    expect(inError).toMatchObject({ replies: [{ error: { message: 'bad key ***' } }] });
    expect(refusalOf(inRefusal)).toBe('HTTP 413: too large for /***');
  });

  it('turns an error of the transport into a failure of every call', async () => {
    const refused = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
    expect(await send(2, refused)).toMatchObject({
      kind: 'answered',
      replies: [{ failure: { reason: 'unreachable' } }, { failure: { reason: 'unreachable' } }],
    });
  });
});
