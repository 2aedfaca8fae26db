import { beforeEach, expect, it } from '@jest/globals';
import { parseHex } from '../../../src/kernel/hex.js';
import { signerKey, type SignerId } from '../../../src/kernel/signer-id.js';
import type { Signable } from '../../../src/kernel/signing.js';
import { MakePermit, pauseMs } from '../../../src/modules/permits/application/make-permit.js';
import { toPolicy } from '../../../src/modules/policies/domain/policy-rules.js';
import { PolicySet } from '../../../src/modules/policies/domain/policy-set.js';
import { SignerPolicies } from '../../../src/modules/policies/index.js';
import { CannotSign, Custody, CustodyFailed, type Fence } from '../../../src/modules/signers/index.js';
import { Doorbell, PermitStore, WriteChanges } from '../../../src/modules/ledger/index.js';
import { encodeTypedData } from '../../../src/platform/crypto/typed-data.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { RecordingLog } from '../chain/chain-fixture.js';
import { aPermitUse, LEASE, OWNER, SENDER, SIGNABLE, TOKEN } from './permit-fixture.js';

const SIGNATURE = { r: parseHex('0x01'), s: parseHex('0x02'), yParity: 1 } as const;
const USE = aPermitUse();

/** What happened, in order. */
let calls: unknown[];
/** What would be stored. */
let asked: unknown[];
let allowed: string[];
let failure: Error | null;
let isRight: boolean;
let mayMake: boolean;
let make: MakePermit;
let log: RecordingLog;

beforeEach(() => {
  [calls, allowed, failure, isRight, mayMake] = [[], [`${TOKEN}/Permit`], null, true, true];
  asked = [];
  const fence = {} as Fence;
  const set = () =>
    new PolicySet(
      'mark',
      new Map([[signerKey(OWNER), { signer: OWNER, config: toPolicy({ typedData: allowed }), stored: null }]]),
    );
  make = new MakePermit(
    fakeOf(Custody, {
      sign: async (signer: SignerId, items: readonly Signable[]) => {
        calls.push(['sign', signer.address, ...items.map(({ kind, digest }) => `${kind} ${digest}`)]);
        if (failure) throw failure;
        return [SIGNATURE];
      },
    }),
    fakeOf(SignerPolicies, {
      get present() {
        return set();
      },
    }),
    fakeOf(PermitStore, {
      make: async (_fence, use, made, mark) => (calls.push(['make', use.id, made, mark]), isRight),
      mayMake: async (_use, permitNonce, mark) => (asked.push([permitNonce, mark]), mayMake),
      postpone: async ({ id }, ms) => void calls.push(['postpone', id, ms]),
    }),
    fakeOf(WriteChanges, {
      underFence: async (leases, operation, changesOf) => (calls.push([operation, leases]), changesOf(fence)),
    }),
    fakeOf(Doorbell, { ring: (signers: readonly SignerId[]) => void calls.push(['ring', ...signers]) }),
    (log = new RecordingLog()),
  );
});

it('a permit is signed with its nonce, and a deadline after its time to live from now on', async () => {
  const signed = await make.sign(USE, SIGNABLE, 7n);
  const made = { permitNonce: 7n, deadline: 1_000n + 3_600n, signature: SIGNATURE };
  expect(signed).toEqual({ made, policyMark: 'mark' });
  const { domain, types, primaryType, message } = SIGNABLE.text;
  const fields = Object.fromEntries(Object.entries(types).map(([name, list]) => [name, [...list]]));
  const whole = { ...message, nonce: 7, deadline: 4_600 };
  const { digest } = encodeTypedData({ domain, types: fields, primaryType, message: whole });
  expect(calls).toEqual([['sign', OWNER.address, `typedData ${digest}`]]);
  expect(asked).toEqual([[7n, 'mark']]);
});

it('is not signed when it would not be stored', async () => {
  mayMake = false;
  expect(await make.sign(USE, SIGNABLE, 7n)).toBeNull();
  expect(calls).toEqual([]);
});

it('is not given to a call that has no room for its nonce', async () => {
  const narrow = { ...SIGNABLE, places: [{ part: 'nonce', at: 4, bytes: 6 }] as const };
  expect(await make.sign(USE, narrow, 1n << 48n)).toBeNull();
  // No key has signed it.
  expect([calls, asked]).toEqual([[['postpone', USE.id, pauseMs(USE)]], []]);
});

it('is not signed when no policy names it, and is wanted again later', async () => {
  allowed = [`${TOKEN}/Other`];
  expect(await make.sign(USE, SIGNABLE, 7n)).toBeNull();
  expect(calls).toEqual([['postpone', USE.id, pauseMs(USE)]]);
});

it.each([new CustodyFailed('down'), new CannotSign('cannot_sign', 'never', 'use another')])(
  'is wanted again later when its custody does not sign',
  async (error) => {
    failure = error;
    expect(await make.sign(USE, SIGNABLE, 7n)).toBeNull();
    expect(calls.at(-1)).toEqual(['postpone', USE.id, pauseMs(USE)]);
    failure = new TypeError('a bug');
    await expect(make.sign(USE, SIGNABLE, 7n)).rejects.toBe(failure);
  },
);

const warnings = () => log.lines.map(({ event, fields }) => [event, fields['reason'] ?? fields['permitNonce']]);

it('that is not signed is told with the reason', async () => {
  failure = new CustodyFailed('down');
  await make.sign(USE, SIGNABLE, 7n);
  allowed = [];
  await make.sign(USE, SIGNABLE, 7n);
  expect(warnings()).toEqual([
    ['permit not signed, it is tried again', 'down'],
    ['permit not signed, it is tried again', expect.stringContaining('may not sign typed data')],
  ]);
});

it('whose nonce another one has for long is told once a minute', async () => {
  const look = async (now: bigint) => {
    await make.sign({ ...USE, now }, SIGNABLE, 7n);
    return warnings().length;
  };
  mayMake = false;
  expect([await look(1_000n), await look(1_059n), await look(1_060n), await look(1_119n), await look(1_120n)]).toEqual([
    0, 0, 1, 1, 2,
  ]);
  expect(warnings()[0]).toEqual(['permit waits: another one has the nonce that its contract tells', 7n]);
  mayMake = true;
  await look(1_121n);
  mayMake = false;
  expect([await look(1_200n), await look(1_259n)]).toEqual([2, 2]);
});

it.each([true, false])(
  'is stored under the lease of its owner, and its tx goes on if it has it (%p)',
  async (isGiven) => {
    isRight = isGiven;
    const signed = { made: { permitNonce: 7n, deadline: 1n, signature: SIGNATURE }, policyMark: 'mark' };
    await make.give(LEASE, USE, signed);
    expect(calls).toEqual([
      ['make_permit', [LEASE]],
      ['make', USE.id, signed.made, 'mark'],
      isGiven ? ['ring', SENDER] : ['postpone', USE.id, pauseMs(USE)],
    ]);
  },
);

it('pauses grow, and differ from permit to permit', () => {
  const pauses = [0, 1, 2, 20].map((tries) => pauseMs({ ...USE, tries }));
  expect([...pauses].sort((a, b) => a - b)).toEqual(pauses);
  expect(pauses[3]).toBeLessThanOrEqual(1_200_000);
  expect(pauseMs({ ...USE, id: '00000000-0000-4000-8000-000000000001', tries: 0 })).not.toBe(pauses[0]);
});
