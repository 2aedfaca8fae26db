import { beforeEach, describe, expect, it } from '@jest/globals';
import { AuditLog } from '../../../src/kernel/audit-log.js';
import { parseHex } from '../../../src/kernel/hex.js';
import type { Signable } from '../../../src/kernel/signing.js';
import { SignTypedData } from '../../../src/modules/permits/application/sign-typed-data.js';
import { SignerPolicies } from '../../../src/modules/policies/index.js';
import { toPolicy } from '../../../src/modules/policies/domain/policy-rules.js';
import { PolicySet } from '../../../src/modules/policies/domain/policy-set.js';
import { CannotSign, Custody, CustodyFailed, type Pause, SignerPauses } from '../../../src/modules/signers/index.js';
import { signerKey } from '../../../src/kernel/signer-id.js';
import type { TypedData } from '../../../src/platform/crypto/typed-data.js';
import { ANYONE } from '../../../src/kernel/caller.js';
import { aSigner } from '../../support/builders.js';
import { until } from '../../support/until.js';
import { fakeOf } from '../../support/fakes/fake-of.js';

const SIGNER = aSigner();
const TOKEN = '0x5FbDB2315678afecb367f032d93F642f64180aa3';
const DATA: TypedData = {
  domain: { name: 'Token', chainId: SIGNER.chainId, verifyingContract: TOKEN },
  types: { Permit: [{ name: 'value', type: 'uint256' }] },
  primaryType: 'Permit',
  message: { value: '7' },
};
const SIGNATURE = { r: parseHex('0x01'), s: parseHex('0x02'), yParity: 1 } as const;

/** What happened, in order. */
let calls: unknown[][];
let allowed: string[];
let hasKey: boolean;
let cannot: Error | null;
let failure: Error | null;
let pause: Pause | null;
/** The custody takes its time. */
let slow: () => Promise<void>;
let sign: SignTypedData;

beforeEach(() => {
  [calls, allowed, hasKey, cannot, failure, pause] = [[], [`${TOKEN}/Permit`, 'Mail/Mail'], true, null, null, null];
  slow = async () => undefined;
  const set = (): PolicySet =>
    new PolicySet(
      '',
      new Map([[signerKey(SIGNER), { signer: SIGNER, config: toPolicy({ typedData: allowed }), stored: null }]]),
    );
  sign = new SignTypedData(
    fakeOf(Custody, {
      has: () => hasKey,
      assertSigns: () => {
        if (cannot) throw cannot;
      },
      sign: async (_signer, items: readonly Signable[]) => {
        calls.push(['sign', ...items.map(({ kind }) => kind)]);
        await slow();
        if (failure) throw failure;
        return [SIGNATURE];
      },
    }),
    fakeOf(SignerPolicies, {
      refresh: async () => void calls.push(['refresh']),
      get present() {
        return set();
      },
      assertAllowed: (_signer, judged) => {
        const [refused] = judged.flatMap(({ verdict }) => (verdict.kind === 'allowed' ? [] : [verdict]));
        if (refused) throw new Error(refused.reason);
      },
    }),
    fakeOf(SignerPauses, { of: async (...args) => (calls.push(['pause of', ...args]), pause) }),
    fakeOf(AuditLog, { record: async (action) => void calls.push(['audit', action]) }),
  );
});

const execute = (change: Partial<TypedData> = {}) => sign.execute(SIGNER, { ...DATA, ...change }, ANYONE);

describe('typed data', () => {
  it('is recorded, and then signed', async () => {
    const { digest, signature } = await execute();
    expect(signature).toBe(SIGNATURE);
    const detail = { digest, ...DATA };
    const judged = [['refresh'], ['pause of', SIGNER, ANYONE.account]];
    expect(calls).toEqual([
      ...judged,
      ...judged,
      ['audit', { by: ANYONE, action: 'signTypedData', object: `signer:${signerKey(SIGNER)}`, detail }],
      ['sign', 'typedData'],
    ]);
  });

  it('of a domain without a contract goes by its name', async () => {
    const types = { Mail: DATA.types['Permit'] ?? [] };
    const domain = { name: 'Mail', chainId: SIGNER.chainId };
    await expect(execute({ domain, types, primaryType: 'Mail' })).resolves.toMatchObject({ signature: SIGNATURE });
  });

  it.each<[string, () => void, Partial<TypedData>, string | RegExp]>([
    ['a policy names it', () => void (allowed = ['Token/Permit']), {}, /may not sign typed data 0x5fbdb/],
    [
      'its name is not that of a contract',
      () => undefined,
      { domain: { name: TOKEN, chainId: SIGNER.chainId } },
      /typed data \/Permit/,
    ],
    ['it is for the chain of the signer', () => undefined, { domain: { ...DATA.domain, chainId: 5 } }, 'wrong_chain'],
    ['it names a chain', () => undefined, { domain: { verifyingContract: TOKEN } }, 'wrong_chain'],
    ['it can be encoded', () => undefined, { message: {} }, 'invalid_typed_data'],
    ['this node has the key', () => void (hasKey = false), {}, 'no_key_here'],
    ['the custody signs such', () => void (cannot = new CannotSign('cannot_sign', 'no', 'no')), {}, 'cannot_sign'],
    [
      'nobody stopped the signer',
      () =>
        void (pause = { chainId: null, address: null, account: null, since: new Date(0), by: ANYONE, reason: null }),
      {},
      'signer_paused',
    ],
  ])('is neither recorded nor signed unless %s', async (_what, change, data, problem) => {
    change();
    await expect(execute(data)).rejects.toMatchObject(
      typeof problem === 'string' ? { code: problem } : { message: expect.stringMatching(problem) },
    );
    expect(calls.filter(([what]) => what === 'audit' || what === 'sign')).toEqual([]);
  });

  it('of one signer takes two turns at once at most', async () => {
    const waits: (() => void)[] = [];
    slow = () => new Promise<void>((resolve) => waits.push(resolve));
    const all = Promise.all([execute(), execute(), execute()]);
    await until('two are asked for', async () => waits.length === 2);
    waits.forEach((end) => end());
    await until('the third is', async () => waits.length === 3);
    waits[2]?.();
    expect(await all).toHaveLength(3);
  });

  it('that was forbidden while it waited for its turn is not signed', async () => {
    const waits: (() => void)[] = [];
    slow = () => new Promise<void>((resolve) => waits.push(resolve));
    const [first, second, third] = [execute(), execute(), execute()];
    await until('two are asked for', async () => waits.length === 2);
    allowed = [];
    waits.forEach((end) => end());
    await expect(third).rejects.toThrow('may not sign typed data');
    expect(await Promise.all([first, second])).toHaveLength(2);
    expect(calls.filter(([what]) => what === 'audit')).toHaveLength(2);
  });

  it('that the custody does not sign now may be asked for again', async () => {
    failure = new CustodyFailed('it hangs');
    await expect(execute()).rejects.toMatchObject({ code: 'custody_failed', retryable: true });
    failure = new Error('a bug');
    await expect(execute()).rejects.toThrow('a bug');
  });
});
