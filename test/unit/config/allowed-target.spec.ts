import { describe, expect, it } from '@jest/globals';
import { parseAllowedTargets } from '../../../src/config/index.js';

const RANGE = /^must hold ranges .* entry 1 is none of these$/;
const PREFIX = 'has a prefix in entry 1 that is not a number from 0 to';

describe('an entry of webhooks.allow', () => {
  it.each([
    ['10.0.0.0/8', '10.0.0.0', 8],
    ['10.1.2.3', '10.1.2.3', 32],
    ['0.0.0.0/0', '0.0.0.0', 0],
    ['fd00::/8', 'fd00::', 8],
    ['FD00:0::1', 'fd00::1', 128],
    ['::ffff:10.0.0.0/104', '::ffff:a00:0', 104],
  ])('%s is a range', (text, network, prefix) => {
    const [target] = parseAllowedTargets([text]);
    expect(target).toMatchObject({ kind: 'range', prefix });
    expect(target?.kind === 'range' && target.network.toString()).toBe(network);
  });

  it.each([
    ['localhost', 'localhost'],
    ['Hooks.Internal.', 'hooks.internal'],
    ['my_hooks.default.svc', 'my_hooks.default.svc'],
    ['hök.example', 'xn--hk-fka.example'],
  ])('%s is the host name %s', (text, name) => {
    expect(parseAllowedTargets([text])).toEqual([{ kind: 'name', name }]);
  });

  it.each<[string, string | RegExp]>([
    ['10.0.0.0/33', `${PREFIX} 32`],
    ['fd00::/129', `${PREFIX} 128`],
    ['10.0.0.0/', `${PREFIX} 32`],
    ['10.0.0.0/-1', `${PREFIX} 32`],
    ['10.0.0.0/8/8', RANGE],
    ['10.1.2.3/8', 'has an address with bits behind its prefix in entry 1: write 10.0.0.0/8'],
    ['fd00::1/64', 'has an address with bits behind its prefix in entry 1: write fd00::/64'],
    ['127.1', RANGE],
    ['2130706433', RANGE],
    ['0x7f.1', RANGE],
    ['fe80::1%eth0', RANGE],
    ['[::1]', RANGE],
    ['localhost:8080', RANGE],
    ['localhost:443', RANGE],
    ['user@localhost', RANGE],
    ['https://localhost', RANGE],
    ['localhost/hook', RANGE],
    ['*.internal', RANGE],
    ['a b', RANGE],
    ['..', RANGE],
  ])('%s is a mistake', (text, problem) => {
    expect(() => parseAllowedTargets([text])).toThrow(problem);
  });

  it('is counted in what is said about it', () => {
    expect(() => parseAllowedTargets(['localhost', '10.0.0.0/33'])).toThrow('in entry 2');
  });

  it('comes from one text with commas, too, for the environment', () => {
    expect(parseAllowedTargets('localhost, 127.0.0.0/8')).toMatchObject([{ name: 'localhost' }, { prefix: 8 }]);
  });
});
