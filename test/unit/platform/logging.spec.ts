import { describe, expect, it } from '@jest/globals';
import { withoutUrls } from '../../../src/platform/logging/loggable.js';
import { NestLogger } from '../../../src/platform/logging/nest-logger.js';
import { readableLog } from './log-lines.js';

describe('a log line', () => {
  it('is one JSON object with level, time, event and fields', () => {
    const { log, lines } = readableLog();
    log.child({ nodeId: 'n1' }).info('lease.acquired', { token: 12n, signer: '0xab' });
    expect(lines).toEqual([
      { level: 'info', time: expect.any(String), nodeId: 'n1', token: '12', signer: '0xab', msg: 'lease.acquired' },
    ]);
  });

  it('keeps the stack and the cause of an error, and drops the path of its URLs', () => {
    const { log, lines } = readableLog();
    const cause = new Error('connect https://user:pw@rpc.example:8545/v2/SECRET?x=1 failed');
    log.error('rpc.failed', {
      error: Object.assign(new Error('no answer', { cause }), { code: 'ETIMEDOUT', value: 5n }),
    });
    const text = JSON.stringify(lines[0]);
    expect(lines[0]).toMatchObject({
      error: {
        name: 'Error',
        message: 'no answer',
        code: 'ETIMEDOUT',
        value: '5',
        stack: expect.stringContaining('logging.spec'),
        cause: { message: 'connect https://rpc.example:8545/… failed' },
      },
    });
    expect(text).not.toMatch(/SECRET|user:pw/);
  });

  it('redacts secrets at any depth', () => {
    const { log, lines } = readableLog();
    const secret = 's3cret';
    log.warn('config', {
      key: secret,
      Authorization: secret,
      chains: [
        {
          rpcUrls: [secret],
          signers: [{ privateKey: secret, phrase: secret, password: secret }],
          database: { url: secret },
        },
      ],
    });
    expect(JSON.stringify(lines)).not.toContain(secret);
    expect(JSON.stringify(lines).match(/\[redacted\]/g)).toHaveLength(7);
  });

  it('survives cycles and huge values', () => {
    const { log, lines } = readableLog();
    const loop: Record<string, unknown> = {
      list: Array.from({ length: 10_000 }, (_, i) => i),
      bytes: new Uint8Array(9),
    };
    loop['self'] = loop;
    log.info('odd', { loop, fn: () => 1, none: undefined, when: new Date(0), map: new Map([['a', 1n]]) });
    expect(lines[0]).toMatchObject({ when: '1970-01-01T00:00:00.000Z', map: { a: '1' }, loop: { bytes: '[9 bytes]' } });
    expect(JSON.stringify(lines[0]).length).toBeLessThan(20_000);
  });

  it('is not written below the level', () => {
    const { log, lines } = readableLog('warn');
    log.info('quiet');
    log.debug('quiet');
    log.warn('loud');
    expect(lines.map(({ msg }) => msg)).toEqual(['loud']);
  });
});

describe("Nest's own logs", () => {
  it('are the same lines, with the noise of its start at debug', () => {
    const { log, lines } = readableLog();
    const nest = new NestLogger(log);
    nest.log('Mapped {/x, GET} route', 'RouterExplorer');
    nest.log('hello', 'Other');
    nest.error(new Error('boom'), 'Error: boom\n  at x', 'ExceptionsHandler');
    nest.warn('careful');
    expect(lines).toMatchObject([
      { level: 'debug', msg: 'Mapped {/x, GET} route', context: 'RouterExplorer' },
      { level: 'info', msg: 'hello', context: 'Other' },
      { level: 'error', msg: 'boom', context: 'ExceptionsHandler', error: { message: 'boom' } },
      { level: 'warn', msg: 'careful' },
    ]);
  });
});

describe('a text that is logged', () => {
  it.each(['http', 'https', 'ws', 'wss', 'postgres', 'postgresql'])(
    'keeps nothing of a URL with %s but its host',
    (scheme) => {
      expect(withoutUrls(`no answer of ${scheme}://user:pw@rpc.example:8545/v2/SECRET?key=1, again`)).toBe(
        `no answer of ${scheme}://rpc.example:8545/…, again`,
      );
    },
  );
});
