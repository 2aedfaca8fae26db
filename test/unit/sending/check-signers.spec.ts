import { expect, it } from '@jest/globals';
import { hexlify, Transaction } from 'ethers';
import type { CustodyEntry, CustodyKey } from '../../../src/custody/custody-entry.js';
import { ElsewhereCustody } from '../../../src/custody/elsewhere.js';
import { ExternalCustody } from '../../../src/custody/external.js';
import { MnemonicCustody } from '../../../src/custody/mnemonic.js';
import { DEV_ACCOUNTS, DEV_MNEMONIC } from '../../../src/dev/dev-accounts.js';
import { parseAddress } from '../../../src/kernel/hex.js';
import { type Nonce, signerKey } from '../../../src/kernel/signer-id.js';
import { type ChainConnector, Chains, RpcUnavailable } from '../../../src/modules/chain/index.js';
import { CheckSigners, type SignerCheck } from '../../../src/modules/sending/application/check-signers.js';
import { CustodyAttemptSigner } from '../../../src/modules/sending/infrastructure/custody-attempt-signer.js';
import { SignerDirectory } from '../../../src/modules/signers/domain/signer-directory.js';
import { CheckedCustody } from '../../../src/modules/signers/infrastructure/checked-custody.js';
import { DEV_CHAIN } from '../../support/builders.js';
import { custodyTools } from '../../support/dev-custody.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { fakeOf } from '../../support/fakes/fake-of.js';

const [FIRST = '', SECOND = ''] = DEV_ACCOUNTS.map(parseAddress);
const phrase = Object.assign(new MnemonicCustody(), { phrase: DEV_MNEMONIC, count: 2 });
const elsewhere = Object.assign(new ElsewhereCustody(), { addresses: [FIRST] });

/** The keys of an entry, altered. */
function keysLike(
  entry: CustodyEntry,
  alter: (key: CustodyKey, all: readonly CustodyKey[]) => CustodyKey,
): CustodyEntry {
  return Object.assign(Object.create(entry) as CustodyEntry, {
    keys: async () => (await entry.keys()).map((key, _, all) => alter(key, all)),
  });
}

interface World {
  readonly chain?: Partial<ChainConnector>;
  readonly cursors?: () => Promise<ReadonlyMap<string, Nonce>>;
  readonly refuseMoved?: SignerDirectory['refuseMoved'];
}

async function checked(entry: CustodyEntry, world: World = {}): Promise<SignerCheck[]> {
  const chain = {
    balances: async (accounts: readonly unknown[]) => accounts.map((_, index) => BigInt(index + 1)),
    transactionCounts: async (accounts: readonly unknown[], tag: string) =>
      accounts.map(() => (tag === 'latest' ? 7n : 9n)),
    ...world.chain,
  };
  const check = new CheckSigners(
    fakeOf(Chains, { get: () => chain as ChainConnector }),
    (custody) => new CustodyAttemptSigner(custody),
    fakeOf(SignerDirectory, { refuseMoved: world.refuseMoved ?? (async () => undefined) }),
    { cursors: world.cursors ?? (async () => new Map([[`${DEV_CHAIN}:${FIRST}`, 9n]])) },
    new FakeClock(),
  );
  const custody = await CheckedCustody.open({ chains: [{ id: DEV_CHAIN, signers: [entry] }] }, custodyTools());
  return check.execute(DEV_CHAIN, custody);
}

it('tells of each signer its custody, its balance, its nonces, and that a signature recovers', async () => {
  const [first, second] = await checked(phrase);
  expect(first).toEqual({
    signer: { chainId: DEV_CHAIN, address: FIRST },
    custody: { type: 'mnemonic', path: "m/44'/60'/0'/0/0" },
    signedInMs: 0,
    balance: 1n,
    nonces: { latest: 7n, pending: 9n, next: 9n },
    note: null,
    problems: [],
  });
  expect(second).toMatchObject({ signer: { address: SECOND }, balance: 2n, nonces: { next: null }, problems: [] });
});

it('has no signature of an account whose key is elsewhere, and no problem with it', async () => {
  const [check] = await checked(elsewhere);
  expect(check).toMatchObject({ custody: { type: 'elsewhere' }, signedInMs: null, balance: 1n, problems: [] });
});

it('asks nothing of an account whose key outside senders have, and says so', async () => {
  const external = Object.assign(new ExternalCustody(), { type: 'external', addresses: [FIRST] });
  const [check] = await checked(external);
  expect(check).toMatchObject({
    custody: { type: 'external' },
    signedInMs: null,
    balance: 1n,
    nonces: { latest: 7n },
    note: 'external: nothing to check but its balance and nonce',
    problems: [],
  });
});

it('tells of the one signer whose custody signs with the key of another', async () => {
  const [first, second] = await checked(
    keysLike(phrase, (key, [other = key]) => ({ ...key, sign: (items) => other.sign(items) })),
  );
  expect(first?.problems).toEqual([]);
  expect(second).toMatchObject({
    signedInMs: null,
    problems: ['the custody of the signer signs with another key'],
  });
});

it('asks for what a custody can read that takes nonces for JavaScript numbers', async () => {
  const reading = (key: CustodyKey): CustodyKey => ({
    ...key,
    sign: (items) => {
      for (const { bytes } of items) expect(Transaction.from(hexlify(bytes)).nonce).toBe(Number.MAX_SAFE_INTEGER);
      return key.sign(items);
    },
  });
  expect((await checked(keysLike(phrase, reading))).flatMap(({ problems }) => problems)).toEqual([]);
});

it('says why a custody does not sign', async () => {
  const sign = (): Promise<never> => Promise.reject(new Error('AccessDenied'));
  const [check] = await checked(keysLike(phrase, (key) => ({ ...key, sign })));
  expect(check?.problems).toEqual(['the custody of the signer does not sign: AccessDenied']);
});

it('tells of a key that had another address before', async () => {
  const refuseMoved: SignerDirectory['refuseMoved'] = ([{ signer } = { signer: null }]) =>
    signer?.address === SECOND ? Promise.reject(new Error('the key had another address')) : Promise.resolve();
  const checks = await checked(phrase, { refuseMoved });
  expect(checks.map(({ problems }) => problems)).toEqual([[], ['the key had another address']]);
});

it('signs all the same where the chain or the database does not answer, and says so', async () => {
  const balances = (): Promise<never> =>
    Promise.reject(
      new RpcUnavailable('rpc_unavailable', { chainId: DEV_CHAIN, method: 'eth_getBalance' }, 'no endpoint answers'),
    );
  const cursors = (): Promise<never> => Promise.reject(new Error('no such table'));
  const checks = await checked(phrase, { chain: { balances }, cursors });
  for (const { signedInMs, balance, nonces, problems } of checks) {
    expect({ signedInMs, balance, nonces }).toEqual({
      signedInMs: 0,
      balance: null,
      nonces: { latest: null, pending: null, next: null },
    });
    expect(problems).toEqual([`chain ${DEV_CHAIN}, eth_getBalance: no endpoint answers`, 'database: no such table']);
  }
  expect(checks.map(({ signer }) => signerKey(signer))).toEqual([FIRST, SECOND].map((each) => `${DEV_CHAIN}:${each}`));
});
