import type { ServerResponse } from 'node:http';
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
const hashOf = (bytes: Uint8Array): Hash => parseHash(`0x${keccak256(Buffer.from(bytes)).toString('hex')}`);

/** Signs as Web3Signer and clef do, by the forms of their requests. */
class SigningServer extends LocalServer {
  asked = 0;
  answer: (right: string) => string | Promise<string> = (right) => right;

  static start(): Promise<SigningServer> {
    return new SigningServer().listening();
  }

  protected async handle(body: string, response: ServerResponse): Promise<void> {
    this.asked += 1;
    response.end(await this.answer(this.signed(JSON.parse(body) as Asked, response.req.url)));
  }

  private signed({ data, method, params: [args] = [] }: Asked, path?: string): string {
    if (data !== undefined) {
      expect(path).toBe(`/vault/api/v1/eth1/sign/${PUBLIC_KEY}?token=1`);
      const { r, s, yParity } = SECP256K1.sign(hashOf(Buffer.from(data.slice(2), 'hex')), WALLET.privateKey);
      return `${r}${s.slice(2)}${(27 + yParity).toString(16)}`;
    }
    const { from, gas, nonce, ...rest } = args ?? {};
    const type = rest['maxFeePerGas'] === undefined ? (rest['accessList'] === undefined ? 0 : 1) : 2;
    const tx = Transaction.from({ ...rest, type, gasLimit: gas, nonce: Number(nonce) } as object);
    tx.signature = WALLET.signingKey.sign(tx.unsignedHash);
    expect(from).toBe(WALLET.address.toLowerCase());
    return JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      result: method === 'eth_signTransaction' ? tx.serialized : { raw: tx.serialized, tx: tx.toJSON() },
    });
  }
}

interface Asked {
  readonly data?: string;
  readonly method?: string;
  readonly params?: readonly Record<string, unknown>[];
}

let server: SigningServer;

beforeAll(async () => {
  server = await SigningServer.start();
});
afterAll(() => server.stop());
beforeEach(() => {
  server.asked = 0;
  server.answer = (right) => right;
});

const TYPES = {
  web3signer: { kinds: [0, 1, 2, 3, 4, 'authorization'], entry: { type: 'web3signer', publicKeys: [PUBLIC_KEY] } },
  clef: { kinds: [0, 1, 2], entry: { type: 'clef', addresses: [WALLET.address] } },
  'a node': {
    kinds: [0, 1, 2],
    entry: { type: 'clef', addresses: [WALLET.address], method: 'eth_signTransaction' },
  },
} as const;
type Name = keyof typeof TYPES;
const NAMES = Object.keys(TYPES) as Name[];

async function custodyOf(name: Name) {
  const signers = [{ ...TYPES[name].entry, url: `${server.url}/vault/?token=1` }];
  const config = configFrom({
    database: { url: 'postgres://nowhere' },
    chains: [{ id: DEV_CHAIN, rpcUrls: ['http://127.0.0.1:1'], signers }],
  });
  const custody = await CheckedCustody.open(config, custodyTools());
  const [only] = custody.signers();
  if (only === undefined) throw new Error('there is no key');
  return { only, sign: (items: readonly Signable[]) => custody.sign(only.signer, items) };
}

/** The number makes them differ. */
function signable(kind: SignableKind, n: number): Signable {
  const bytes = kind === 'authorization' ? Buffer.of(5, n >> 8, n & 255) : unsigned(kind, n);
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
    expect(JSON.stringify(only.reference)).toBe(`{"type":"${TYPES[name].entry.type}"}`);
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

  it('that signs something else is refused: another key, or another transaction', async () => {
    const { sign } = await custodyOf(name);
    const other = new Wallet(`0x${'32'.repeat(32)}`);
    server.answer = (right) => {
      if (name === 'web3signer') {
        const { r, s, yParity } = SECP256K1.sign(signable(2, 1).digest, other.privateKey);
        return `${r}${s.slice(2)}1${'bc'[yParity] ?? ''}`;
      }
      const { result } = JSON.parse(right) as { result: string | { raw: string } };
      const tx = Transaction.from(typeof result === 'string' ? result : result.raw);
      tx.value = 5n;
      tx.signature = WALLET.signingKey.sign(tx.unsignedHash);
      return JSON.stringify({ result: { raw: tx.serialized } });
    };
    await expect(sign([signable(2, 1)])).rejects.toMatchObject({ name: 'CustodyFailed' });
  });

  it('gives its own words when it refuses, and never its URL', async () => {
    const { sign } = await custodyOf(name);
    server.answer = () => '{"error":{"code":-32000,"message":"Request denied"}}';
    const error = (await sign([signable(2, 1)]).catch((cause: unknown) => cause)) as Error;
    expect(String(error.cause)).toMatch(name === 'web3signer' ? /no signature/ : /Request denied/);
    expect(String(error.cause)).not.toContain(server.url);
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
])('a config of a remote custody is refused that has no right %s', (entry, key) => {
  const chains = [{ id: DEV_CHAIN, rpcUrls: ['http://127.0.0.1:1'], signers: [entry] }];
  const load = () => configFrom({ database: { url: 'postgres://nowhere' }, chains });
  const path: unknown = expect.stringContaining(`signers[0].${key}`);
  expect(load).toThrow(expect.objectContaining({ mistakes: [expect.objectContaining({ path })] }));
});
