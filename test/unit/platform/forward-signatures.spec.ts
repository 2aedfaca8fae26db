import { beforeEach, describe, expect, it } from '@jest/globals';
import { NodeConfig } from '../../../src/config/index.js';
import { type Caller, limitedTo, NO_LIMITS } from '../../../src/kernel/caller.js';
import { parseAddress } from '../../../src/kernel/hex.js';
import { ForwardSignatures } from '../../../src/platform/http/forward-signatures.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';

const CALLER: Caller = {
  name: 'token:Zoë\n',
  account: 'a',
  scopes: ['tx:write'],
  only: limitedTo([{ chainId: 7, address: parseAddress(`0x${'ab'.repeat(20)}`) }], null),
  endsAt: null,
};
const PATH = '/api/v1/tx';
const BODY = { requestId: 'invoice-4711' };
const REFUSED = expect.objectContaining({ code: 'bad_forward_signature' });

let clock: FakeClock;
beforeEach(() => {
  clock = new FakeClock();
});

function node(id: string, forwardSecret: string | undefined = 'secret'): ForwardSignatures {
  return new ForwardSignatures(Object.assign(new NodeConfig(), { forwardSecret }), { id }, clock);
}

/** As node a sends it to node b. */
function sent(from = node('a')): Record<string, string> {
  return from.headersOf({ to: 'b', path: PATH, body: JSON.stringify(BODY), caller: CALLER });
}

describe('a request that a node forwarded', () => {
  it('is its caller’s, for what nodes forward', () => {
    expect(node('b').callerOf(sent(), PATH, BODY)).toEqual(CALLER);
    const all: Caller = {
      name: 'key:1',
      account: 'a',
      scopes: ['keys:admin', 'tx:write'],
      only: NO_LIMITS,
      endsAt: null,
    };
    const headers = node('a').headersOf({ to: 'b', path: PATH, body: '{}', caller: all });
    expect(node('b').callerOf(headers, PATH, {})).toEqual({ ...all, scopes: ['tx:write'] });
  });

  it('is taken once', () => {
    const b = node('b');
    const headers = sent();
    b.callerOf(headers, PATH, BODY);
    expect(() => b.callerOf(headers, PATH, BODY)).toThrow(REFUSED);
    clock.advance(59_000);
    expect(() => b.callerOf(headers, PATH, BODY)).toThrow(REFUSED);
    expect(b.callerOf(sent(), PATH, BODY)).toEqual(CALLER);
  });

  it('is not taken once more while its time is good, however many others came since', () => {
    const b = node('b');
    clock.advance(119_000);
    const headers = sent();
    b.callerOf(headers, PATH, BODY);
    clock.advance(2_000);
    b.callerOf(sent(), PATH, BODY);
    expect(() => b.callerOf(headers, PATH, BODY)).toThrow(
      expect.objectContaining({ message: expect.stringContaining('before') }),
    );
  });

  it('is not taken a minute later, nor from a minute ahead', () => {
    const late = sent();
    clock.advance(60_001);
    const ahead = sent();
    expect(() => node('b').callerOf(late, PATH, BODY)).toThrow(REFUSED);
    clock = new FakeClock();
    expect(() => node('b').callerOf(ahead, PATH, BODY)).toThrow(REFUSED);
  });

  it('is not taken by another node, on another path, or with another body', () => {
    expect(() => node('c').callerOf(sent(), PATH, BODY)).toThrow(REFUSED);
    expect(() => node('b').callerOf(sent(), '/api/v1/keys', BODY)).toThrow(REFUSED);
    expect(() => node('b').callerOf(sent(), PATH, { requestId: 'x' })).toThrow(REFUSED);
  });

  it.each([
    'x-lockstep-forwarded-by',
    'x-lockstep-caller',
    'x-lockstep-forwarded-at',
    'x-lockstep-forward-nonce',
    'x-lockstep-forward-signature',
  ])('is not taken when %s was changed, left out, or came twice', (header) => {
    const { [header]: right, ...rest } = sent();
    for (const wrong of [`${right}1`, '', [right, right]])
      expect(() => node('b').callerOf({ ...rest, [header]: wrong }, PATH, BODY)).toThrow(REFUSED);
    if (header === 'x-lockstep-forwarded-by') expect(node('b').callerOf(rest, PATH, BODY)).toBeNull();
    else expect(() => node('b').callerOf(rest, PATH, BODY)).toThrow(REFUSED);
  });

  it('is not taken with another secret, nor where there is none, not even with an empty signature', () => {
    expect(() => node('b', 'another').callerOf(sent(), PATH, BODY)).toThrow(REFUSED);
    const none = new ForwardSignatures(new NodeConfig(), { id: 'b' }, clock);
    for (const signature of ['', 'x'])
      expect(() => none.callerOf({ ...sent(), 'x-lockstep-forward-signature': signature }, PATH, BODY)).toThrow(
        REFUSED,
      );
    expect(() => none.callerOf(sent(new ForwardSignatures(new NodeConfig(), { id: 'a' }, clock)), PATH, BODY)).toThrow(
      REFUSED,
    );
  });
});

it('a request that names no node is a client’s', () => {
  expect(node('b').callerOf({ 'x-lockstep-forward-signature': '' }, PATH, BODY)).toBeNull();
});
