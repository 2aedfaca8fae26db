import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { drainRequest } from '../../../src/platform/http/drain-request.js';

const MB = 1024 * 1024;

let body: PassThrough;
let isDrained: boolean;

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
  [body, isDrained] = [new PassThrough(), false];
});
afterEach(() => void jest.useRealTimers());

async function drain(): Promise<void> {
  void drainRequest(body as unknown as IncomingMessage).then(() => (isDrained = true));
  await turn();
}

async function turn(): Promise<void> {
  for (let n = 0; n < 5; n += 1) await new Promise((resolve) => setImmediate(resolve));
}

describe('the rest of a body', () => {
  it('is read to its end, and not answered before', async () => {
    await drain();
    body.write('some');
    await turn();
    expect(isDrained).toBe(false);
    body.end('more');
    await turn();
    expect([isDrained, body.readableEnded, jest.getTimerCount()]).toEqual([true, true, 0]);
  });

  it('is not waited for when the client has gone, before or meanwhile', async () => {
    await drain();
    body.destroy();
    await turn();
    expect(isDrained).toBe(true);
    isDrained = false;
    await drain();
    expect([isDrained, jest.getTimerCount()]).toEqual([true, 0]);
  });

  it('is waited for five seconds', async () => {
    await drain();
    jest.advanceTimersByTime(4_999);
    await turn();
    expect(isDrained).toBe(false);
    jest.advanceTimersByTime(1);
    await turn();
    expect(isDrained).toBe(true);
  });

  it('is read up to 64 MB', async () => {
    await drain();
    for (let n = 0; n < 64; n += 1) body.write(Buffer.alloc(MB));
    await turn();
    expect(isDrained).toBe(false);
    body.write('x');
    await turn();
    expect(isDrained).toBe(true);
  });
});
