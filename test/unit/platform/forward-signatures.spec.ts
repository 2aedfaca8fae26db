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

/** What a node does with a request. */
function taken(by: ForwardSignatures, headers: Record<string, unknown>, path: string, body: unknown): Caller | null {
  const caller = by.callerOf(headers, path);
  if (caller !== null) by.assertBody(headers, body);
  return caller;
}

describe('a request that a node forwarded', () => {
  it('is its caller’s, for what nodes forward', () => {
    expect(taken(node('b'), sent(), PATH, BODY)).toEqual(CALLER);
    const all: Caller = {
      name: 'key:1',
      account: 'a',
      scopes: ['keys:admin', 'tx:write'],
      only: NO_LIMITS,
      endsAt: null,
    };
    const headers = node('a').headersOf({ to: 'b', path: PATH, body: '{}', caller: all });
    expect(taken(node('b'), headers, PATH, {})).toEqual({ ...all, scopes: ['tx:write'] });
  });

  it('is taken once', () => {
    const b = node('b');
    const headers = sent();
    taken(b, headers, PATH, BODY);
    expect(() => taken(b, headers, PATH, BODY)).toThrow(REFUSED);
    clock.advance(59_000);
    expect(() => taken(b, headers, PATH, BODY)).toThrow(REFUSED);
    expect(taken(b, sent(), PATH, BODY)).toEqual(CALLER);
  });

  it('is not taken once more while its time is good, however many others came since', () => {
    const b = node('b');
    clock.advance(119_000);
    const headers = sent();
    taken(b, headers, PATH, BODY);
    clock.advance(2_000);
    taken(b, sent(), PATH, BODY);
    expect(() => taken(b, headers, PATH, BODY)).toThrow(
      expect.objectContaining({ message: expect.stringContaining('before') }),
    );
  });

  it('is not taken a minute later, nor from a minute ahead', () => {
    const late = sent();
    clock.advance(60_001);
    const ahead = sent();
    expect(() => taken(node('b'), late, PATH, BODY)).toThrow(REFUSED);
    clock = new FakeClock();
    expect(() => taken(node('b'), ahead, PATH, BODY)).toThrow(REFUSED);
  });

  it('is not taken by another node, on another path, or with another body', () => {
    expect(() => taken(node('c'), sent(), PATH, BODY)).toThrow(REFUSED);
    expect(() => taken(node('b'), sent(), '/api/v1/keys', BODY)).toThrow(REFUSED);
    expect(() => taken(node('b'), sent(), PATH, { requestId: 'x' })).toThrow(REFUSED);
  });

  it.each([
    'x-lockstep-forwarded-by',
    'x-lockstep-caller',
    'x-lockstep-forwarded-at',
    'x-lockstep-forward-nonce',
    'x-lockstep-forward-body',
    'x-lockstep-forward-signature',
  ])('is not taken when %s was changed, left out, or came twice', (header) => {
    const { [header]: right, ...rest } = sent();
    for (const wrong of [`${right}1`, '', [right, right]])
      expect(() => taken(node('b'), { ...rest, [header]: wrong }, PATH, BODY)).toThrow(REFUSED);
    if (header === 'x-lockstep-forwarded-by') expect(taken(node('b'), rest, PATH, BODY)).toBeNull();
    else expect(() => taken(node('b'), rest, PATH, BODY)).toThrow(REFUSED);
  });

  it('is known before its body is read', () => {
    expect(node('b').callerOf(sent(), PATH)).toEqual(CALLER);
  });

  it('is not taken with another secret, nor where there is none, not even with an empty signature', () => {
    expect(() => taken(node('b', 'another'), sent(), PATH, BODY)).toThrow(REFUSED);
    const none = new ForwardSignatures(new NodeConfig(), { id: 'b' }, clock);
    for (const signature of ['', 'x'])
      expect(() => taken(none, { ...sent(), 'x-lockstep-forward-signature': signature }, PATH, BODY)).toThrow(REFUSED);
    expect(() => taken(none, sent(new ForwardSignatures(new NodeConfig(), { id: 'a' }, clock)), PATH, BODY)).toThrow(
      REFUSED,
    );
  });
});

it('a request that names no node is a client’s', () => {
  expect(taken(node('b'), { 'x-lockstep-forward-signature': '' }, PATH, BODY)).toBeNull();
});
