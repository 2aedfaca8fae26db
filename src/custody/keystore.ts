import { scrypt as nodeScrypt } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { decryptKeystoreJson, getBytes, hexlify, scrypt } from 'ethers';
import { Text } from '../config/config-fields.js';
import { messageOf } from '../kernel/errors.js';
import { CustodyEntry, type CustodyKey } from './custody-entry.js';
import { localKey } from './local-key.js';

// Of ethers it would be JavaScript in the event loop, and take ten times as long; Node has threads for it.
scrypt.register(async (password, salt, N, r, p, length) => {
  const derive = promisify<Uint8Array, Uint8Array, number, object, Buffer>(nodeScrypt);
  // What the algorithm needs, and Node's own margin above it.
  const maxmem = 128 * N * r + 128 * r * p + 1024 * 1024;
  return hexlify(await derive(getBytes(password), getBytes(salt), length, { N, r, p, maxmem }));
});

/** Many chains may have the same key, and to unlock it takes a second and 256 MB: each is unlocked once. */
const unlocked = new Map<string, Promise<CustodyKey>>();

/** A file of the Web3 Secret Storage, version 3, as geth, clef and most wallets write it. */
export class KeystoreCustody extends CustodyEntry {
  @Text({ required: true })
  file = '';

  @Text({ required: true })
  password = '';

  async keys(): Promise<readonly CustodyKey[]> {
    const name = `${this.file}\n${this.password}`;
    const key = unlocked.get(name) ?? unlock(this.file, this.password);
    unlocked.set(name, key);
    return [await key];
  }
}

async function unlock(file: string, password: string): Promise<CustodyKey> {
  const json = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new Error(`the keystore ${file} cannot be read: ${messageOf(error)}`, { cause: error });
  });
  try {
    return localKey(await decryptKeystoreJson(json, password), { type: 'keystore', path: file });
  } catch (error) {
    // Without its cause: an error of the decryption may quote the password.
    const what = messageOf(error).includes('incorrect password')
      ? 'the password is wrong'
      : 'it is no keystore of version 3';
    throw new Error(`the keystore ${file} cannot be unlocked: ${what}`);
  }
}
