import { describe, expect, it } from '@jest/globals';
import { CreateTxDto } from '../../../src/modules/requests/infrastructure/http/create-tx.dto.js';
import type { InvalidRequest } from '../../../src/platform/http/invalid-request.js';
import { RequestValidationPipe } from '../../../src/platform/http/validation-pipe.js';
import { anAddress } from '../../support/builders.js';

const PIPE = new RequestValidationPipe();
const MOST_DATA = 128 * 1024;
const MOST_WEI = 2n ** 256n - 1n;
const KEY = `0x${'0'.repeat(64)}`;

const body = (field: object) => ({ signer: anAddress(1), payload: { to: anAddress(2) }, ...field });
const payload = (field: object) => ({ payload: { to: anAddress(2), ...field } });
const accessList = (entry: object) => payload({ accessList: [{ address: anAddress(3), storageKeys: [], ...entry }] });

/** @returns the paths of what is wrong */
async function mistakesOf(field: object): Promise<string[]> {
  try {
    PIPE.read(CreateTxDto, body(field));
    return [];
  } catch (error) {
    return (error as InvalidRequest).errors.map(({ path }) => path);
  }
}

describe('a field of a create is good up to its limit, and no further', () => {
  it.each<[string, object[], object[]]>([
    ['chainId', [{ chainId: 1 }, { chainId: Number.MAX_SAFE_INTEGER }], [{ chainId: 0 }, { chainId: 2 ** 53 }]],
    ['signer', [{ signer: anAddress(9) }], [{ signer: anAddress(9).slice(0, -1) }, { signer: null }]],
    [
      'requestId',
      [{ requestId: 'x' }, { requestId: 'x'.repeat(200) }],
      [{ requestId: '' }, { requestId: 'x'.repeat(201) }],
    ],
    [
      'priority',
      [{ priority: -1000 }, { priority: 1000 }],
      [{ priority: -1001 }, { priority: 1001 }, { priority: 0.5 }],
    ],
    [
      'confirmations',
      [{ confirmations: 0 }, { confirmations: 10_000 }],
      [{ confirmations: -1 }, { confirmations: 10_001 }],
    ],
    ['speed', ['slow', 'standard', 'fast'].map((speed) => ({ speed })), [{ speed: 'instant' }]],
    ['allocate', [{ allocate: 'now' }, { allocate: 'later' }], [{ allocate: 'never' }]],
    [
      'expiresAt',
      [{ expiresAt: '2030-01-01T00:00:00Z' }],
      [{ expiresAt: '2030-02-30T00:00:00Z' }, { expiresAt: '2030-01-01T00:00:00' }, { expiresAt: 1 }],
    ],
    ['metadata', [{ metadata: {} }], [{ metadata: [] }, { metadata: 'x' }]],
    ['payload.to', [payload({ to: null })], [payload({ to: '0x' })]],
    [
      'payload.value',
      [payload({ value: `${MOST_WEI}` })],
      [payload({ value: `${MOST_WEI + 1n}` }), payload({ value: -1 })],
    ],
    [
      'payload.data',
      [payload({ data: `0x${'00'.repeat(MOST_DATA)}` })],
      [payload({ data: `0x${'00'.repeat(MOST_DATA + 1)}` }), payload({ data: '0x0' })],
    ],
    ['payload.gasLimit', [payload({ gasLimit: 21_000 })], [payload({ gasLimit: 1.5 })]],
    [
      'payload.accessList',
      [
        payload({ accessList: [] }),
        payload({ accessList: new Array(1000).fill({ address: anAddress(3), storageKeys: [] }) }),
      ],
      [payload({ accessList: new Array(1001).fill({ address: anAddress(3), storageKeys: [] }) })],
    ],
    [
      'payload.accessList[0].storageKeys',
      [accessList({ storageKeys: new Array(1000).fill(KEY) })],
      [accessList({ storageKeys: new Array(1001).fill(KEY) }), accessList({ storageKeys: [KEY.slice(0, -1)] })],
    ],
    ['payload.accessList[0].address', [accessList({})], [accessList({ address: '0x' })]],
    ['fees.maxFeePerGas', [{ fees: { maxFeePerGas: '1' } }], [{ fees: { maxFeePerGas: '-1' } }]],
    ['fees.maxPriorityFeePerGas', [{ fees: { maxPriorityFeePerGas: 0 } }], [{ fees: { maxPriorityFeePerGas: 'x' } }]],
  ])('%s', async (path, good, bad) => {
    for (const field of good) expect(await mistakesOf(field)).toEqual([]);
    for (const field of bad) expect(await mistakesOf(field)).toEqual([path]);
  });
});

it('a create needs a signer and a payload', async () => {
  expect((await mistakesOf({ signer: undefined, payload: undefined })).sort()).toEqual(['payload', 'signer']);
});
