import { describe, expect, it } from '@jest/globals';
import Fastify from 'fastify';
import { until } from '../../support/until.js';
import { hasTooManyValues, MAX_VALUES, parseBoundedJson } from '../../../src/platform/http/json-body.js';

/** An item costs one comma, and a list or an object one bracket. */
describe('the values of a body', () => {
  it.each([
    ['items', '[0,0,0,0]', 4],
    ['fields', '{"a":1,"b":2,"c":3}', 3],
    ['lists and objects', '[[{}]]       ', 3],
    ['no commas and brackets in texts', '["[,{\\",[","\\\\",0]', 3],
  ])('are counted: %s', (_words, text, count) => {
    expect([hasTooManyValues(text, count), hasTooManyValues(text, count - 1)]).toEqual([false, true]);
  });

  it('are not counted on where a text has no end', () => {
    expect(hasTooManyValues(`["${',[\\"'.repeat(9)}`, 1)).toBe(false);
  });

  it('may be as many as a batch of a thousand has', () => {
    const item = JSON.stringify({
      payload: { to: 1, value: 1, data: 1, gasLimit: 1 },
      fees: { a: 1, b: 1 },
      rest: [1, 2, 3, 4, 5, 6, 7, 8],
    });
    expect(hasTooManyValues(`[${new Array(1_000).fill(item).join(',')}]`)).toBe(false);
    expect(hasTooManyValues(`[${new Array(MAX_VALUES).fill('{}').join(',')}]`)).toBe(true);
  });
});

it('timers that are due have the thread between the parsing of a long body and what is done with it', async () => {
  const server = Fastify();
  const turns: string[] = [];
  const parse = server.getDefaultJsonParser('error', 'error');
  const getDefaultJsonParser = (): typeof parse => (request, text, done) => {
    setTimeout(() => turns.push('timer'));
    const due = performance.now() + 5;
    while (performance.now() < due);
    void parse(request, text, done);
  };
  parseBoundedJson(Object.assign(server, { getDefaultJsonParser }));
  server.post('/', async ({ body }) => void turns.push(typeof body));
  const url = await server.listen({ port: 0 });
  const headers = { 'content-type': 'application/json' };
  const post = async (payload: object): Promise<void> =>
    void (await fetch(url, { method: 'POST', headers, body: JSON.stringify(payload) }));
  await post({ short: 'a' });
  await until('the first timer has run', async () => turns.length === 2);
  await post({ long: 'a'.repeat(100_000) });
  await server.close();
  expect(turns).toEqual(['object', 'timer', 'timer', 'object']);
});
