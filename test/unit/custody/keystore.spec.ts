import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import { encryptKeystoreJsonSync, Wallet } from 'ethers';
import { KeystoreCustody } from '../../../src/custody/keystore.js';
import { SECP256K1 } from '../../../src/custody/secp256k1.js';
import { parseAddress } from '../../../src/kernel/hex.js';
import { aHash } from '../../support/builders.js';

const folder = mkdtempSync(path.join(tmpdir(), 'lockstep-keystore-'));
afterAll(() => rmSync(folder, { recursive: true }));

const PASSWORD = 'correct horse';
const WALLET = new Wallet(`0x${'41'.repeat(32)}`);
/** The test vector of the Web3 Secret Storage, with PBKDF2. */
const VECTOR = {
  crypto: {
    cipher: 'aes-128-ctr',
    cipherparams: { iv: '6087dab2f9fdbbfaddc31a909735c1e6' },
    ciphertext: '5318b4d5bcd28de64ee5559e671353e16f075ecae9f99c7a79a38af5f869aa46',
    kdf: 'pbkdf2',
    kdfparams: {
      c: 262144,
      dklen: 32,
      prf: 'hmac-sha256',
      salt: 'ae3cd4e7013836a3df6bd7241b12db061dbe2c6785853cce422d148a624ce0bd',
    },
    mac: '517ead924a9d0dc3124507e3393d175ce3ff7c1e96529c6c555ce9e51205e9b2',
  },
  id: '3198bc9c-6672-5ab3-d995-4942343ae5b6',
  version: 3,
};

let files = 0;
function keystore(json: string, password = PASSWORD): KeystoreCustody {
  files += 1;
  const file = path.join(folder, `${files}.json`);
  writeFileSync(file, json);
  return Object.assign(new KeystoreCustody(), { type: 'keystore', file, password });
}
/** Of the size that geth writes by default, or smaller. */
const encrypted = (N: number): string =>
  encryptKeystoreJsonSync({ address: WALLET.address, privateKey: WALLET.privateKey }, PASSWORD, { scrypt: { N } });

it('a keystore with scrypt, and one with PBKDF2, have the key of their account, and a reference without it', async () => {
  const custody = keystore(encrypted(1024));
  const [key] = await custody.keys();
  expect(key?.address).toBe(parseAddress(WALLET.address));
  expect(key?.reference).toEqual({ type: 'keystore', path: custody.file });
  const signatures = await key?.sign([{ kind: 2, bytes: new Uint8Array(), digest: aHash(1) }]);
  expect(signatures).toEqual([SECP256K1.sign(aHash(1), WALLET.privateKey)]);
  const [other] = await keystore(JSON.stringify(VECTOR), 'testpassword').keys();
  expect(other?.address).toBe('0x008aeeda4d805471df9b2a5b0f38a0c3bcba786b');
});

it('a keystore is unlocked once for all chains that have it', async () => {
  const custody = keystore(encrypted(1024));
  const [first, second] = await Promise.all([custody.keys(), custody.keys()]);
  expect(first[0]).toBe(second[0]);
});

it('a keystore is unlocked beside the event loop: what takes a second there delays nothing here', async () => {
  // 256 MB, as geth's.
  const custody = keystore(encrypted(1024).replace('"n":1024', '"n":262144'));
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 1);
  // With another n the key is another one, which shows after the derivation.
  await expect(custody.keys()).rejects.toThrow('the password is wrong');
  clearInterval(timer);
  expect(turns).toBeGreaterThan(20);
});

it.each([
  ['the password is wrong', encrypted(1024), 'battery staple'],
  ['it is no keystore of version 3', '{"version":3}', PASSWORD],
  ['it is no keystore of version 3', 'not JSON', PASSWORD],
])('a keystore that cannot be unlocked says so, and why, without a secret: %s', async (why, json, password) => {
  const error = (await keystore(json, password)
    .keys()
    .catch((cause: unknown) => cause)) as Error;
  expect(error.message).toMatch(why);
  expect(error.message).not.toContain(password);
  expect(error.cause).toBeUndefined();
});

it('a keystore that is not there is named', async () => {
  const custody = Object.assign(new KeystoreCustody(), { file: path.join(folder, 'none.json'), password: PASSWORD });
  await expect(custody.keys()).rejects.toThrow(`the keystore ${custody.file} cannot be read`);
});
