import { expect, it } from '@jest/globals';
import { chainIdOf, signerKey, signerOfKey } from '../../../src/kernel/signer-id.js';
import { chainsOf, signersOf } from '../../../src/modules/access/domain/token-claims.js';
import { decodeSigner, encodeCursor } from '../../../src/platform/http/page-cursor.js';
import { chainOfPath } from '../../../src/platform/http/path-params.js';
import { ANYONE } from '../../../src/kernel/caller.js';
import { anAddress } from '../../support/builders.js';

const LARGEST = Number.MAX_SAFE_INTEGER;

it.each([1, 31_337, 10 ** 15, LARGEST])('%p is a chain id wherever one is read', (chainId) => {
  const signer = { chainId, address: anAddress(1) };
  expect([
    chainIdOf(`${chainId}`),
    signerOfKey(signerKey(signer)),
    decodeSigner(encodeCursor(signerKey(signer))),
    signersOf(signerKey(signer)),
    chainsOf(`${chainId}`),
    chainsOf([chainId]),
    chainOfPath(`${chainId}`, ANYONE),
  ]).toEqual([chainId, signer, signer, [signer], [chainId], [chainId], chainId]);
});

it.each(['0', '01', '-1', '1.5', '1e3', '0x1', '', ' 1', `${LARGEST + 1}`, '9999999999999999', '1'.repeat(17)])(
  '%p is none anywhere',
  (text) => {
    expect([chainIdOf(text), signerOfKey(`${text}:${anAddress(1)}`), chainsOf([text])]).toEqual([null, null, null]);
    expect(() => chainOfPath(text, ANYONE)).toThrow(expect.objectContaining({ code: 'invalid_chain_id' }));
    expect(() => decodeSigner(encodeCursor(`${text}:${anAddress(1)}`))).toThrow(
      expect.objectContaining({ code: 'invalid_cursor' }),
    );
  },
);
