import { beforeEach, describe, expect, it } from '@jest/globals';
import { configFrom } from '../../../src/config/index.js';
import { Forbidden, InvalidInput, Unprocessable } from '../../../src/kernel/errors.js';
import { ChainRules } from '../../../src/modules/chain/application/chain-rules.js';
import { AssertCallback } from '../../../src/modules/requests/application/assert-callback.js';
import { PayloadLimits } from '../../../src/modules/requests/application/payload-limits.js';
import { PolicyGate } from '../../../src/modules/requests/application/policy-gate.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { IntakeRules } from '../../../src/modules/requests/application/intake-rules.js';
import { type Address, parseHex } from '../../../src/kernel/hex.js';
import type { SignerId } from '../../../src/kernel/signer-id.js';
import type { SignableKind } from '../../../src/kernel/signing.js';
import { CannotSign } from '../../../src/modules/signers/index.js';
import { aHash, anAddress, aRequest, DEV_CHAIN } from '../../support/builders.js';
import { aPermit } from '../../support/permit-builders.js';
import { SignerFeeCaps } from '../../../src/modules/ledger/application/signer-fee-caps.js';
import { KeysOf } from '../../support/fakes/fake-node.js';
import { NO_FEES, type TxRequest } from '../../../src/modules/ledger/domain/tx-request.js';
import { NO_POLICIES } from '../../support/fakes/no-policies.js';

const OTHER_CHAIN = DEV_CHAIN + 1;
const config = configFrom({
  database: { url: 'postgres://nobody@localhost/none' },
  confirmations: { finality: 'depth', required: 12 },
  chains: [
    { id: OTHER_CHAIN, rpcUrls: ['http://127.0.0.1:1'] },
    {
      id: DEV_CHAIN,
      rpcUrls: ['http://127.0.0.1:1'],
      fees: { maxFeePerGas: '400', maxPriorityFeePerGas: '50' },
      confirmations: { finality: 'safe', required: 3 },
    },
  ],
});
const rules = new ChainRules(config);
const intake = new IntakeRules(
  new SignerFeeCaps(rules, NO_POLICIES, new KeysOf([])),
  Object.assign(config.intake, { maxMetadataBytes: 16 }),
  fakeOf(PayloadLimits, {
    assertPossible: async ({ payload }) => {
      if (payload.gasLimit === 1n) throw new Unprocessable('gas_limit_too_low', 'too little', 'give more');
    },
  }),
  fakeOf(PolicyGate, {
    assertAllowed: ({ payload }) => {
      if (payload.value === 7n) throw new Forbidden('policy_refused', 'no', 'do not');
    },
  }),
  fakeOf(AssertCallback, {
    execute: async ({ callback }) => {
      if (callback !== undefined) throw new Unprocessable('unknown_webhook', 'it is gone', 'name another');
    },
  }),
  Object.assign(new KeysOf([]), {
    assertSigns: ({ address }: SignerId, kind?: SignableKind) => {
      if (unsigned.has(address) && unsigned.get(address) === kind)
        throw new CannotSign('cannot_sign', 'not by this one', 'use another');
    },
  }),
);
/** What the custody of an account never signs; undefined: anything. */
const unsigned = new Map<Address, SignableKind | undefined>();

/** How often it was asked whether the request was stored before. */
let lookUps: number;
let isStored: boolean;
beforeEach(() => {
  [lookUps, isStored] = [0, false];
});
const isRepeated = async () => ((lookUps += 1), isStored);

/** What is thrown, for its parts. */
async function refusal(run: () => Promise<void>): Promise<unknown> {
  try {
    await run();
  } catch (error) {
    return error;
  }
  return null;
}

describe('the rules of a chain', () => {
  it('are its own', () => {
    expect(rules.feeCaps(DEV_CHAIN)).toMatchObject({ maxFeePerGas: 400n, maxPriorityFeePerGas: 50n });
    expect(rules.finality(DEV_CHAIN)).toBe('safe');
    expect(rules.requiredConfirmations(DEV_CHAIN)).toBe(3);
  });

  it.each([OTHER_CHAIN, 99])('are the defaults where the config says nothing of chain %d', (chainId) => {
    expect(rules.feeCaps(chainId)).toMatchObject({
      maxFeePerGas: 5_000_000_000_000n,
      maxPriorityFeePerGas: 500_000_000_000n,
    });
    expect(rules.finality(chainId)).toBe('depth');
    expect(rules.requiredConfirmations(chainId)).toBe(12);
  });
});

describe('a request is refused before it is stored', () => {
  it('when its metadata has more bytes as JSON than are stored', async () => {
    // {"a":"ä123456"} has 15 characters and 16 bytes.
    expect(
      await refusal(() => intake.assertAcceptable(aRequest({ metadata: { a: 'ä123456' } }), isRepeated)),
    ).toBeNull();
    const error = await refusal(() => intake.assertAcceptable(aRequest({ metadata: { a: 'ä1234567' } }), isRepeated));
    expect(error).toBeInstanceOf(Unprocessable);
    expect(error).toMatchObject({
      code: 'metadata_too_large',
      message: 'metadata has 17 bytes; the limit is 16',
      advice: 'store it yourself and send a reference to it',
      facts: { bytes: 17, maxBytes: 16 },
    });
  });

  it.each([
    ['maxFeePerGas', 'maxFeePerGas', 400n],
    ['maxPriorityFeePerGas', 'maxPriorityFeePerGas', 50n],
    ['gasPrice', 'maxFeePerGas', 400n],
    ['maxFeePerBlobGas', 'maxFeePerBlobGas', 5_000_000_000_000n],
  ] as const)('when its %s is above the cap %s', async (name, limit, cap) => {
    const asking = (wei: bigint) => aRequest({ fees: { ...NO_FEES, [name]: wei } });
    expect(await refusal(() => intake.assertAcceptable(asking(cap), isRepeated))).toBeNull();
    const error = await refusal(() => intake.assertAcceptable(asking(cap + 1n), isRepeated));
    expect(error).toBeInstanceOf(Unprocessable);
    expect(error).toMatchObject({
      code: 'fees_above_cap',
      message: `${name} ${cap + 1n} is above the cap of the chain and signer, ${cap}`,
      advice: `lower it, or raise fees.${limit} of the chain or the signer in the config`,
      facts: { chainId: DEV_CHAIN, cap: cap.toString() },
    });
  });

  it.each(['maxFeePerGas', 'maxPriorityFeePerGas'] as const)('when it has a gas price and %s', async (name) => {
    const error = await refusal(() =>
      intake.assertAcceptable(aRequest({ fees: { ...NO_FEES, gasPrice: 1n, [name]: 1n } }), isRepeated),
    );
    expect(error).toBeInstanceOf(InvalidInput);
    expect(error).toMatchObject({ code: 'invalid_fees' });
  });

  it('when no node could accept its payload', async () => {
    const payload = { ...aRequest().payload, gasLimit: 1n };
    expect(await refusal(() => intake.assertAcceptable(aRequest({ payload }), isRepeated))).toMatchObject({
      code: 'gas_limit_too_low',
    });
  });

  describe('when a custody never signs what it needs', () => {
    const { signer, payload } = aRequest();
    const [authority, target] = [anAddress(0xa), anAddress(0xb)];
    const own = { signer: 'self', chainId: BigInt(DEV_CHAIN), address: target };
    const signed = { chainId: 1n, address: target, nonce: 1n, r: parseHex('0x01'), s: parseHex('0x01'), yParity: 0 };
    const ofOther = { authority, chainId: BigInt(DEV_CHAIN), address: target };
    it.each<[string, Address, SignableKind | undefined, Partial<TxRequest['payload']>]>([
      ['anything', signer.address, undefined, {}],
      ['blobs', signer.address, 3, { blobHashes: [aHash(1)] }],
      ['a transaction with authorizations', signer.address, 4, { authorizationList: [signed] as never }],
      ['an authorization of its own', signer.address, 'authorization', { authorizationList: [own] as never }],
      ['an authorization of another', authority, 'authorization', { authorizationList: [ofOther] as never }],
      ['a permit of another', authority, 'typedData', { permits: [aPermit({ owner: authority })] }],
    ])('%s', async (_what, address, kind, more) => {
      const refused = () =>
        refusal(() => intake.assertAcceptable(aRequest({ payload: { ...payload, ...more } }), isRepeated));
      unsigned.set(address, kind);
      expect(await refused()).toMatchObject({ code: 'cannot_sign' });
      unsigned.clear();
      unsigned.set(anAddress(0xc), kind);
      expect(await refused()).toBeNull();
      unsigned.clear();
    });
  });

  it('never a nonce of an outside sender because nobody signs', async () => {
    unsigned.set(aRequest().signer.address, undefined);
    const hold = { ttl: null, count: 1, index: 0 };
    expect(await refusal(() => intake.assertAcceptable(aRequest({ hold }), isRepeated))).toBeNull();
    unsigned.clear();
  });

  it.each<[string, Partial<TxRequest>]>([
    ['metadata_too_large', { metadata: { a: 'ä1234567' } }],
    ['fees_above_cap', { fees: { ...NO_FEES, maxFeePerGas: 401n } }],
    ['gas_limit_too_low', { payload: { ...aRequest().payload, gasLimit: 1n } }],
    ['policy_refused', { payload: { ...aRequest().payload, value: 7n } }],
    ['unknown_webhook', { callback: 'gone' }],
  ])('never for %s when it was stored before that became a rule, which is asked once', async (code, broken) => {
    const refused = () => refusal(() => intake.assertAcceptable(aRequest(broken), isRepeated));
    expect([await refused(), lookUps]).toMatchObject([{ code }, 1]);
    isStored = true;
    expect([await refused(), lookUps]).toEqual([null, 2]);
  });

  it('and what keeps the rules is not looked up', async () => {
    expect([await refusal(() => intake.assertAcceptable(aRequest(), isRepeated)), lookUps]).toEqual([null, 0]);
  });

  it('never when it leaves both to Lockstep', async () => {
    expect(await refusal(() => intake.assertAcceptable(aRequest(), isRepeated))).toBeNull();
  });
});
