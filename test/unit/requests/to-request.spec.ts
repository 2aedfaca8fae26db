import { describe, expect, it } from '@jest/globals';
import { ANYONE, limitedTo, NO_LIMITS } from '../../../src/kernel/caller.js';
import { parseAddress } from '../../../src/kernel/hex.js';
import type { CreateTxDto } from '../../../src/modules/requests/infrastructure/http/create-tx.dto.js';
import { toRequest } from '../../../src/modules/requests/infrastructure/http/to-request.js';
import { NO_FEES } from '../../../src/modules/ledger/domain/tx-request.js';
import { aHash, anAddress, DEV_CHAIN } from '../../support/builders.js';

const LEAST: CreateTxDto = { signer: anAddress(1), requestId: 'r-1', payload: { to: anAddress(2) } };
const KEY = `0x${'AB'.repeat(32)}`;

const SIGNED = { address: anAddress(0xab), nonce: '7', yParity: 1, r: KEY, s: aHash(9) };

const OWN = { address: anAddress(3), signer: anAddress(1) };
const OTHER = { address: anAddress(3), signer: anAddress(9) };

const read = (body: object, key?: string) => toRequest({ ...LEAST, ...body }, DEV_CHAIN, key, ANYONE);
const refused = (code: string): unknown => expect.objectContaining({ code });

describe('a create in terms of the domain', () => {
  it('has defaults for everything that was left out, or is null', () => {
    const signer = { chainId: DEV_CHAIN, address: anAddress(1) };
    const request = {
      signer,
      sender: ANYONE,
      requestId: 'r-1',
      payload: { to: anAddress(2), value: 0n, data: '0x', gasLimit: null, accessList: [] },
      fees: NO_FEES,
      speed: 'standard',
      priority: 0,
      confirmations: null,
      expiresAt: null,
      metadata: null,
    };
    expect(read({})).toEqual(request);
    const nulls = { fees: null, speed: null, priority: null, confirmations: null, expiresAt: null, metadata: null };
    expect(read(nulls)).toEqual(request);
  });

  it('has what was asked for, each in its own place', () => {
    const body = {
      payload: {
        to: anAddress(0xab).replace('ab', 'AB'),
        value: '0x10',
        data: '0xAB',
        gasLimit: 30_000,
        accessList: [{ address: anAddress(3), storageKeys: [KEY] }],
      },
      fees: { maxFeePerGas: '30', maxPriorityFeePerGas: 4 },
      speed: 'fast',
      priority: -7,
      confirmations: 0,
      expiresAt: '2030-01-01T00:00:00.000Z',
      metadata: { order: '4711' },
    };
    expect(read(body)).toEqual({
      signer: { chainId: DEV_CHAIN, address: anAddress(1) },
      sender: ANYONE,
      requestId: 'r-1',
      payload: {
        to: anAddress(0xab),
        value: 16n,
        data: '0xab',
        gasLimit: 30_000n,
        accessList: [{ address: anAddress(3), storageKeys: [KEY.toLowerCase()] }],
      },
      fees: { ...NO_FEES, maxFeePerGas: 30n, maxPriorityFeePerGas: 4n },
      speed: 'fast',
      priority: -7,
      confirmations: 0,
      expiresAt: new Date('2030-01-01T00:00:00.000Z'),
      metadata: { order: '4711' },
    });
  });

  it('may have no receiver when it has init code, and not with neither', () => {
    expect(read({ payload: { data: '0x60' } }).payload).toMatchObject({ to: null, data: '0x60' });
    for (const payload of [{}, { to: null, data: '0x' }, { value: '1' }])
      expect(() => read({ payload })).toThrow(refused('invalid_payload'));
  });
});

describe('the authorizations of a create', () => {
  const ofList = (...authorizationList: readonly object[]) =>
    read({ payload: { to: anAddress(2), authorizationList } }).payload.authorizationList;

  it('are those that accounts have signed, for the chain of the transaction or for every chain', () => {
    const signed = { nonce: 7n, yParity: 1, r: KEY.toLowerCase(), s: aHash(9) };
    expect(ofList(SIGNED, { ...SIGNED, chainId: '0' }, { ...SIGNED, chainId: DEV_CHAIN })).toEqual(
      [DEV_CHAIN, 0, DEV_CHAIN].map((chainId) => ({ chainId: BigInt(chainId), address: anAddress(0xab), ...signed })),
    );
  });

  it.each<[string, string, readonly object[]]>([
    ['an empty list', 'invalid_authorization', []],
    ['another chain', 'invalid_authorization', [{ ...SIGNED, chainId: 1 }]],
    ['no signature', 'invalid_authorization', [{ address: anAddress(3), nonce: 1 }]],
    ['no nonce', 'invalid_authorization', [{ ...SIGNED, nonce: undefined }]],
    ['an s in the upper half', 'invalid_authorization', [{ ...SIGNED, s: `0x${'f'.repeat(64)}` }]],
    ['a nonce that no account reaches', 'invalid_quantity', [{ ...SIGNED, nonce: (2n ** 64n - 1n).toString() }]],
    ['the name of another signer twice', 'invalid_authorization', [OTHER, OTHER]],
    ['a signature beside the name of the signer', 'invalid_authorization', [{ ...SIGNED, ...OWN }]],
    ['the name of the signer twice', 'invalid_authorization', [OWN, OWN]],
    ['the name of the signer, without a gas limit', 'gas_limit_required', [OWN]],
  ])('are refused with %s', (_, code, list) => {
    expect(() => ofList(...list)).toThrow(refused(code));
  });

  it('may be left to Lockstep for the signer itself', () => {
    const payload = { to: anAddress(2), gasLimit: 60_000, authorizationList: [OWN] };
    expect(read({ payload }).payload.authorizationList).toEqual([{ ...OWN, chainId: BigInt(DEV_CHAIN) }]);
  });

  it('may be left to Lockstep for another signer, which needs no gas limit', () => {
    const payload = { to: anAddress(2), authorizationList: [OTHER] };
    expect(read({ payload }).payload.authorizationList).toEqual([
      { address: anAddress(3), authority: anAddress(9), chainId: BigInt(DEV_CHAIN) },
    ]);
  });

  it('are refused in a creation', () => {
    expect(() => read({ payload: { data: '0x60', authorizationList: [SIGNED] } })).toThrow(refused('invalid_payload'));
  });
});

describe('the key of a create', () => {
  const keyOf = (requestId: string | null | undefined, header?: string) => read({ requestId }, header).requestId;

  it('is in the body, in the header, or the same in both', () => {
    expect(keyOf('a')).toBe('a');
    for (const none of [undefined, null]) expect(keyOf(none, 'b')).toBe('b');
    expect(keyOf('c', 'c')).toBe('c');
    expect(() => keyOf('a', 'b')).toThrow(refused('request_id_mismatch'));
  });

  it('must be there', () => {
    for (const [body, header] of [[undefined], [null], [''], [undefined, '']] as const)
      expect(() => keyOf(body, header)).toThrow(refused('missing_request_id'));
  });

  it('has up to 200 printable characters', () => {
    expect(keyOf('k'.repeat(200))).toHaveLength(200);
    // Each is one character of text, and two of JavaScript.
    expect(keyOf('😀'.repeat(200))).toHaveLength(400);
    for (const key of ['k'.repeat(201), 'a\nb', 'a\0', 'a\ud800'])
      for (const [body, header] of [[key], [undefined, key]] as const)
        expect(() => keyOf(body, header)).toThrow(refused('invalid_request_id'));
  });
});

describe('a create is refused', () => {
  const MOST_FEE = 2n ** 128n;
  const MOST_GAS = 2n ** 63n - 1n;

  it('for any address with the checksum of another chain', () => {
    const rootstock = '0x5aaEB6053f3e94c9b9a09f33669435E7ef1bEAeD';
    const accessList = [{ address: rootstock, storageKeys: [] }];
    const authorizationList = [{ ...SIGNED, address: rootstock, r: aHash(1), yParity: 1 as const }];
    for (const body of [
      { ...LEAST, signer: rootstock },
      ...[{ to: rootstock }, { to: anAddress(2), accessList }, { to: anAddress(2), authorizationList }].map(
        (payload) => ({
          ...LEAST,
          payload,
        }),
      ),
    ]) {
      expect(toRequest(body, 30, undefined, ANYONE).requestId).toBe(LEAST.requestId);
      expect(() => toRequest(body, DEV_CHAIN, undefined, ANYONE)).toThrow(refused('invalid_checksum'));
    }
  });

  it('for a gas limit of 0, or one that the database cannot store', () => {
    const gas = (gasLimit: string | number) => read({ payload: { to: anAddress(2), gasLimit } }).payload.gasLimit;
    expect([gas(1), gas(MOST_GAS.toString())]).toEqual([1n, MOST_GAS]);
    for (const gasLimit of [0, '0x0', (MOST_GAS + 1n).toString()])
      expect(() => gas(gasLimit)).toThrow(refused('invalid_quantity'));
  });

  it.each(['maxFeePerGas', 'maxPriorityFeePerGas'])('for a %s above 2^128', (name) => {
    expect(read({ fees: { [name]: MOST_FEE.toString() } }).fees).toMatchObject({ [name]: MOST_FEE });
    expect(() => read({ fees: { [name]: (MOST_FEE + 1n).toString() } })).toThrow(refused('invalid_fees'));
  });

  it('not for a price of 0: there are chains whose gas is free', () => {
    for (const name of ['maxFeePerGas', 'maxPriorityFeePerGas', 'gasPrice'])
      expect(read({ fees: { [name]: '0' } }).fees).toEqual({ ...NO_FEES, [name]: 0n });
  });

  it('for a gas price beside other prices, and for a blob fee without blobs', () => {
    expect(read({ fees: { gasPrice: '5' } }).fees).toEqual({ ...NO_FEES, gasPrice: 5n });
    const to = anAddress(2);
    for (const fees of [
      { gasPrice: '5', maxFeePerGas: '6' },
      { gasPrice: '5', maxPriorityFeePerGas: '0' },
      { maxFeePerBlobGas: '1' },
    ])
      expect(() => read({ payload: { to }, fees })).toThrow(refused('invalid_fees'));
    expect(() => read({ payload: { to, authorizationList: [SIGNED] }, fees: { gasPrice: '5' } })).toThrow(
      refused('invalid_fees'),
    );
  });

  it('for an end that is no time', () => {
    expect(() => read({ expiresAt: '2030-13-45' })).toThrow(refused('invalid_time'));
  });
});

describe('a sender that is limited', () => {
  const limited = limitedTo([{ chainId: DEV_CHAIN, address: parseAddress(anAddress(1)) }], null);
  const sent = (payload: object, only = limited, chainId = DEV_CHAIN) =>
    toRequest({ ...LEAST, payload: { ...LEAST.payload, gasLimit: 99_000, ...payload } }, chainId, undefined, {
      ...ANYONE,
      only,
    });

  it('sends with the signers that it may use', () => {
    expect(sent({}).signer.address).toBe(anAddress(1));
    expect(() => sent({}, limited, DEV_CHAIN + 1)).toThrow(refused('outside_limits'));
    expect(() => sent({}, limitedTo(null, [DEV_CHAIN + 1]))).toThrow(refused('outside_limits'));
  });

  it('gets authorizations of these only, and none that counts on other chains', () => {
    expect(sent({ authorizationList: [OWN] }).payload.authorizationList).toHaveLength(1);
    expect(sent({ authorizationList: [{ ...SIGNED, chainId: '0' }] }).payload.authorizationList).toHaveLength(1);
    expect(sent({ authorizationList: [OTHER] }, limitedTo(null, [DEV_CHAIN])).signer.address).toBe(anAddress(1));
    expect(() => sent({ authorizationList: [OTHER] })).toThrow(refused('outside_limits'));
    for (const only of [limited, limitedTo(null, [DEV_CHAIN])])
      expect(() => sent({ authorizationList: [{ ...OWN, chainId: '0' }] }, only)).toThrow(refused('outside_limits'));
    expect(sent({ authorizationList: [{ ...OWN, chainId: '0' }] }, NO_LIMITS).payload.authorizationList).toHaveLength(
      1,
    );
  });
});
