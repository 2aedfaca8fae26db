import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { SlowClient, writeTo } from '../../../src/modules/events/infrastructure/http/slow-client.js';

let stream: PassThrough;
let leaving: AbortController;

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] });
  [stream, leaving] = [new PassThrough({ highWaterMark: 4 }), new AbortController()];
});
afterEach(() => {
  expect(stream.listenerCount('drain')).toBe(0);
  jest.useRealTimers();
});

const write = (text: string) => writeTo(stream, text, 1_000, leaving.signal);

describe('writeTo', () => {
  it('is done at once while the client has room', async () => {
    await write('abc');
    expect([String(stream.read()), jest.getTimerCount()]).toEqual(['abc', 0]);
  });

  it('waits until the client has taken what is there, and not longer', async () => {
    const written = write('abcdef');
    expect(String(stream.read())).toBe('abcdef');
    await written;
    expect(jest.getTimerCount()).toBe(0);
  });

  it('fails with SlowClient when the client takes nothing in time', async () => {
    const written = expect(write('abcdef')).rejects.toThrow(SlowClient);
    jest.advanceTimersByTime(1_000);
    await written;
  });

  it('ends when the client leaves, and writes nothing to one that has left', async () => {
    const written = write('abcdef');
    leaving.abort();
    await written;
    await write('ghi');
    expect([String(stream.read()), jest.getTimerCount()]).toEqual(['abcdef', 0]);
  });
});
