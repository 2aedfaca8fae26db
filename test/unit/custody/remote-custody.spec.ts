import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Transaction, Wallet } from 'ethers';
import { configFrom } from '../../../src/config/index.js';
import { SECP256K1 } from '../../../src/custody/secp256k1.js';
import { type Hash, parseHash, parseHex } from '../../../src/kernel/hex.js';
import type { Signable, SignableKind } from '../../../src/kernel/signing.js';
import { CheckedCustody } from '../../../src/modules/signers/infrastructure/checked-custody.js';
import { keccak256 } from '../../../src/platform/crypto/keccak256.js';
import { DEV_CHAIN } from '../../support/builders.js';
import { custodyTools } from '../../support/dev-custody.js';
import { gate } from '../../support/gate.js';
import { LocalServer } from '../../support/local-server.js';

const WALLET = new Wallet(`0x${'31'.repeat(32)}`);
const PUBLIC_KEY = `0x${WALLET.signingKey.publicKey.slice(4)}`;
const KEY_ID = 'arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab';
const KEY_VERSION = 'projects/shop/locations/europe-west3/keyRings/r/cryptoKeys/k/cryptoKeyVersions/1';
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const GENERATOR_OF_P256 =
  '6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c2964fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5';
const hashOf = (bytes: Uint8Array): Hash => parseHash(`0x${keccak256(Buffer.from(bytes)).toString('hex')}`);

/** Signs as Web3Signer, clef, AWS KMS and Google Cloud KMS do, by the forms of their requests. */
class SigningServer extends LocalServer {
  asked = 0;
  wallet = WALLET;
  /** Of a key service, instead of that of the wallet. */
  publicKey: string | null = null;
  answer: (right: string) => string | Promise<string> = (right) => right;

  static start(): Promise<SigningServer> {
    return new SigningServer().listening();
  }

  protected async handle(body: string, response: ServerResponse): Promise<void> {
    const target = response.req.headers['x-amz-target'];
    const path = response.req.url ?? '';
    if (path.startsWith(`/v1/${KEY_VERSION}/publicKey`)) {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ pem: pemOf(this.publicKey ?? publicKeyOf(this.wallet)) }));
      return;
    }
    const asked = JSON.parse(body) as Asked;
    if (target === 'TrentService.GetPublicKey') {
      expect(asked).toEqual({ KeyId: KEY_ID });
      response.end(
        JSON.stringify({
          KeyId: KEY_ID,
          KeySpec: 'ECC_SECG_P256K1',
          PublicKey: this.publicKey ?? publicKeyOf(this.wallet),
        }),
      );
      return;
    }
    this.asked += 1;
    const answer = await this.answer(this.signedAs(target, asked, path));
    if (answer.includes('__type')) response.statusCode = 400;
    if (asked.digest) {
      response.setHeader('content-type', 'application/json');
      if (answer.includes('error')) response.statusCode = 403;
    }
    response.end(answer);
  }

  private signedAs(target: unknown, asked: Asked, path: string): string {
    if (target === 'TrentService.Sign') return this.signedByKms(asked);
    return asked.digest ? this.signedByGoogle(asked.digest.sha256, path) : this.signed(asked, path);
  }

  private signed({ data, method, params: [args] = [] }: Asked, path?: string): string {
    if (data !== undefined) {
      expect(path).toBe(`/vault/api/v1/eth1/sign/${PUBLIC_KEY}?token=1`);
      const { r, s, yParity } = SECP256K1.sign(hashOf(Buffer.from(data.slice(2), 'hex')), this.wallet.privateKey);
      return `${r}${s.slice(2)}${(27 + yParity).toString(16)}`;
    }
    const { from, gas, nonce, ...rest } = args ?? {};
    const type = rest['maxFeePerGas'] === undefined ? (rest['accessList'] === undefined ? 0 : 1) : 2;
    const tx = Transaction.from({ ...rest, type, gasLimit: gas, nonce: Number(nonce) } as object);
    tx.signature = this.wallet.signingKey.sign(tx.unsignedHash);
    expect(from).toBe(WALLET.address.toLowerCase());
    return JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      result: method === 'eth_signTransaction' ? tx.serialized : { raw: tx.serialized, tx: tx.toJSON() },
    });
  }

  /** DER, and a high s as often as a low one. */
  private signedByKms({ KeyId, Message = '', MessageType, SigningAlgorithm }: Asked): string {
    expect([KeyId, MessageType, SigningAlgorithm]).toEqual([KEY_ID, 'DIGEST', 'ECDSA_SHA_256']);
    return JSON.stringify({ KeyId, Signature: this.der(Message) });
  }

  private signedByGoogle(sha256: string, path: string): string {
    expect(path).toMatch(`/v1/${KEY_VERSION}:asymmetricSign`);
    return JSON.stringify({ name: KEY_VERSION, signature: this.der(sha256) });
  }

  /** Of a digest in base64, in base64. */
  private der(text: string): string {
    const digest = Buffer.from(text, 'base64');
    const { r, s } = this.wallet.signingKey.sign(digest);
    const isHigh = (digest[0] ?? 0) % 2 === 0;
    const der = Buffer.concat([integer(BigInt(r)), integer(isHigh ? ORDER - BigInt(s) : BigInt(s))]);
    return Buffer.concat([Buffer.of(0x30, der.length), der]).toString('base64');
  }
}

const pemOf = (der: string): string => `-----BEGIN PUBLIC KEY-----\n${der}\n-----END PUBLIC KEY-----\n`;

/** A SubjectPublicKeyInfo in DER, in base64. */
function publicKeyOf({ signingKey }: Wallet): string {
  const point = Buffer.from(signingKey.publicKey.slice(2), 'hex');
  return Buffer.concat([Buffer.from('3056301006072a8648ce3d020106052b8104000a034200', 'hex'), point]).toString(
    'base64',
  );
}

function integer(value: bigint): Buffer {
  const hex = value.toString(16);
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
  const signed = (bytes[0] ?? 0) > 127 ? Buffer.concat([Buffer.of(0), bytes]) : bytes;
  return Buffer.concat([Buffer.of(0x02, signed.length), signed]);
}

interface Asked {
  readonly KeyId?: string;
  readonly Message?: string;
  readonly MessageType?: string;
  readonly SigningAlgorithm?: string;
  readonly digest?: { readonly sha256: string };
  readonly data?: string;
  readonly method?: string;
  readonly params?: readonly Record<string, unknown>[];
}

let server: SigningServer;
let folder: string;

beforeAll(async () => {
  server = await SigningServer.start();
  folder = await mkdtemp(join(tmpdir(), 'lockstep-google-'));
  const account = join(folder, 'account.json');
  await writeFile(account, JSON.stringify(aServiceAccount()));
  process.env['GOOGLE_APPLICATION_CREDENTIALS'] = account;
});
afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true });
});
beforeEach(() => {
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' });
  server.wallet = WALLET;
  server.publicKey = null;
  server.asked = 0;
  server.answer = (right) => right;
});

/** Its tokens are signed here; nobody is asked for them. */
function aServiceAccount(): object {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return {
    type: 'service_account',
    client_email: 'lockstep@shop.iam.gserviceaccount.com',
    private_key: privateKey.export({ format: 'pem', type: 'pkcs8' }),
  };
}

const TYPES = {
  web3signer: {
    kinds: [0, 1, 2, 3, 4, 'authorization', 'typedData'],
    entry: { type: 'web3signer', publicKeys: [PUBLIC_KEY] },
  },
  clef: { kinds: [0, 1, 2], entry: { type: 'clef', addresses: [WALLET.address] } },
  'a node': {
    kinds: [0, 1, 2],
    entry: { type: 'clef', addresses: [WALLET.address], method: 'eth_signTransaction' },
  },
  awsKms: { kinds: [0, 1, 2, 3, 4, 'authorization', 'typedData'], entry: { type: 'awsKms', keyIds: [KEY_ID] } },
  googleKms: {
    kinds: [0, 1, 2, 3, 4, 'authorization', 'typedData'],
    entry: { type: 'googleKms', keyIds: [KEY_VERSION] },
  },
} as const;
type Name = keyof typeof TYPES;
const NAMES = Object.keys(TYPES) as Name[];

const urlFor = (name: Name): string => (name === 'googleKms' ? server.url : `${server.url}/vault/?token=1`);

/** The SDK of Google takes its time to make a client. */
const opened = new Map<Name, Promise<CheckedCustody>>();

async function custodyOf(name: Name) {
  const opening = opened.get(name) ?? open(name);
  opened.set(name, opening);
  const custody = await opening;
  const [only] = custody.signers();
  if (only === undefined) throw new Error('there is no key');
  return { only, sign: (items: readonly Signable[]) => custody.sign(only.signer, items) };
}

function open(name: Name): Promise<CheckedCustody> {
  const config = configFrom({
    database: { url: 'postgres://nowhere' },
    chains: [
      { id: DEV_CHAIN, rpcUrls: ['http://127.0.0.1:1'], signers: [{ ...TYPES[name].entry, url: urlFor(name) }] },
    ],
  });
  return CheckedCustody.open(config, custodyTools());
}

/** The number makes them differ. */
function signable(kind: SignableKind, n: number): Signable {
  const first = { authorization: [5], typedData: [0x19, 1] };
  const bytes = typeof kind === 'number' ? unsigned(kind, n) : Buffer.of(...first[kind], n >> 8, n & 255);
  return { kind, bytes, digest: hashOf(bytes) };
}

function unsigned(type: 0 | 1 | 2 | 3 | 4, n: number): Buffer {
  const prices = type < 2 ? { gasPrice: 7n } : { maxFeePerGas: 9n, maxPriorityFeePerGas: 0n };
  const tx = Transaction.from({
    type,
    chainId: DEV_CHAIN,
    nonce: n,
    to: n % 5 === 1 && type < 3 ? null : `0x${'22'.repeat(20)}`,
    value: n % 3 === 0 ? 0n : 10n ** 18n,
    gasLimit: 21_000,
    data: n % 2 === 0 ? '0x' : '0xdeadbeef',
    ...prices,
    ...(type === 0 ? {} : { accessList: [[`0x${'33'.repeat(20)}`, [`0x${'44'.repeat(32)}`]]] }),
    ...(type === 3 ? { maxFeePerBlobGas: 1n, blobVersionedHashes: [`0x01${'55'.repeat(31)}`] } : {}),
    ...(type === 4 ? { authorizationList: [] } : {}),
  });
  return Buffer.from(tx.unsignedSerialized.slice(2), 'hex');
}

describe.each(NAMES)('a remote custody: %s', (name) => {
  const { kinds } = TYPES[name];

  it('signs all that it says that it signs, with one request for each, and is checked', async () => {
    const { only, sign } = await custodyOf(name);
    expect(only.signer.address).toBe(WALLET.address.toLowerCase());
    expect(only.reference).toEqual({
      type: TYPES[name].entry.type,
      ...(name === 'awsKms' && { keyId: KEY_ID, url: urlFor(name) }),
      ...(name === 'googleKms' && { keyId: KEY_VERSION, url: urlFor(name) }),
    });
    const items = Array.from({ length: 8 }, (_, n) => kinds.map((kind) => signable(kind, n))).flat();
    // `CheckedCustody` refuses a signature of another key, and one with a high s.
    expect(await sign(items)).toHaveLength(items.length);
    expect(server.asked).toBe(items.length);
  });

  it('is asked once more only for what it did not sign in a batch that failed', async () => {
    const { sign } = await custodyOf(name);
    const items = Array.from({ length: 10 }, (_, n) => signable(2, n));
    let left = 6;
    server.answer = (right) => (left-- > 0 ? right : 'sealed');
    await expect(sign(items)).rejects.toMatchObject({ name: 'CustodyFailed' });
    server.answer = (right) => right;
    const before = server.asked;
    expect(await sign(items)).toHaveLength(items.length);
    expect(server.asked - before).toBe(4);
  });

  it('has at most 16 requests at once, and none after the first refusal', async () => {
    const { sign } = await custodyOf(name);
    const held = gate();
    server.answer = () => held.opened.then(() => 'sealed');
    const signing = sign(Array.from({ length: 100 }, (_, n) => signable(2, n)));
    const outcome = expect(signing).rejects.toMatchObject({ name: 'CustodyFailed' });
    while (server.asked < 16) await new Promise(setImmediate);
    held.open();
    await outcome;
    expect(server.asked).toBe(16);
  });

  it('that signs with another key is refused', async () => {
    const { sign } = await custodyOf(name);
    server.wallet = new Wallet(`0x${'32'.repeat(32)}`);
    await expect(sign([signable(2, 1)])).rejects.toMatchObject({ name: 'CustodyFailed' });
    server.wallet = WALLET;
    expect(await sign([signable(2, 1)])).toHaveLength(1);
  });

  it('gives its own words when it refuses, and never its URL', async () => {
    const { sign } = await custodyOf(name);
    const message = 'Request denied';
    server.answer = () =>
      JSON.stringify({ message, error: { message }, ...(name === 'awsKms' && { __type: 'Denied' }) });
    const error = (await sign([signable(2, 1)]).catch((cause: unknown) => cause)) as Error;
    expect(String(error.cause)).toMatch(name === 'web3signer' ? /no signature/ : message);
    expect(String(error.cause)).not.toContain(server.url);
  });
});

it.each(['eth_signTransaction', 'account_signTransaction'])('%s of another transaction is refused', async (method) => {
  const { sign } = await custodyOf(method === 'eth_signTransaction' ? 'a node' : 'clef');
  server.answer = (right) => {
    const { result } = JSON.parse(right) as { result: string | { raw: string } };
    const tx = Transaction.from(typeof result === 'string' ? result : result.raw);
    tx.value = 5n;
    tx.signature = WALLET.signingKey.sign(tx.unsignedHash);
    return JSON.stringify({ result: { raw: tx.serialized } });
  };
  await expect(sign([signable(2, 1)])).rejects.toMatchObject({ name: 'CustodyFailed' });
});

describe.each(['awsKms', 'googleKms'] as const)('a key service %s', (name) => {
  it.each([
    ['another curve', '3059301306072a8648ce3d020106082a8648ce3d03010703420004' + GENERATOR_OF_P256],
    ['nothing', ''],
  ])('that tells %s instead of a key of secp256k1 is refused at the start', async (_what, der) => {
    server.publicKey = Buffer.from(der, 'hex').toString('base64');
    const [keyId] = TYPES[name].entry.keyIds;
    await expect(open(name)).rejects.toThrow(`the key ${keyId} of a custody ${name} cannot be used`);
  });

  it.each([
    ['cut', (der: Buffer) => der.subarray(0, -1)],
    ['longer', (der: Buffer) => Buffer.concat([der, Buffer.of(0)])],
    ['without r', () => Buffer.from('3005020002010a', 'hex')],
    ['empty', () => Buffer.alloc(0)],
  ])('whose signature is %s gives none', async (_what, change) => {
    const { sign } = await custodyOf(name);
    server.answer = (right) => {
      const { Signature, signature } = JSON.parse(right) as { Signature?: string; signature?: string };
      const changed = change(Buffer.from(Signature ?? signature ?? '', 'base64')).toString('base64');
      return JSON.stringify({ Signature: changed, signature: changed });
    };
    const error = (await sign([signable(2, 1)]).catch((cause: unknown) => cause)) as Error;
    expect(String(error.cause)).toMatch(/no signature/);
  });
});

it('what a remote custody answers is bounded', async () => {
  const { sign } = await custodyOf('web3signer');
  server.answer = () => 'a'.repeat(2 * 1024 * 1024);
  const error = (await sign([signable(2, 1)]).catch((cause: unknown) => cause)) as Error;
  expect(String(error.cause)).toMatch(/too long/);
});

it.each([
  [{ type: 'clef', url: 'ftp://127.0.0.1', addresses: [WALLET.address] }, 'url'],
  [{ type: 'clef', url: 'http://me:secret@127.0.0.1', addresses: [WALLET.address] }, 'url'],
  [{ type: 'clef', url: 'http://127.0.0.1' }, 'addresses'],
  [{ type: 'web3signer', url: 'http://127.0.0.1', publicKeys: [parseHex('0x12')] }, 'publicKeys'],
  [{ type: 'googleKms', keyIds: ['projects/p'] }, 'keyIds'],
  [{ type: 'googleKms', keyIds: [KEY_VERSION], url: 'http://127.0.0.1/v1' }, 'url'],
])('a config of a remote custody is refused that has no right %s', (entry, key) => {
  const chains = [{ id: DEV_CHAIN, rpcUrls: ['http://127.0.0.1:1'], signers: [entry] }];
  const load = () => configFrom({ database: { url: 'postgres://nowhere' }, chains });
  const path: unknown = expect.stringContaining(`signers[0].${key}`);
  expect(load).toThrow(expect.objectContaining({ mistakes: [expect.objectContaining({ path })] }));
});
