import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { recoverAddress, Signature } from 'ethers';
import { ChainConfig, LockstepConfig } from '../../../src/config/index.js';
import {
  type CustodyEntry,
  type CustodyKey,
  SignerFeesConfig,
  SignerPolicyConfig,
} from '../../../src/custody/custody-entry.js';
import { ElsewhereCustody } from '../../../src/custody/elsewhere.js';
import { MnemonicCustody } from '../../../src/custody/mnemonic.js';
import { PrivateKeyCustody } from '../../../src/custody/private-key.js';
import { Secp256k1, SECP256K1 } from '../../../src/custody/secp256k1.js';
import { DEV_MNEMONIC } from '../../../src/dev/dev-accounts.js';
import { parseAddress, parseHex } from '../../../src/kernel/hex.js';
import type { SignerId } from '../../../src/kernel/signer-id.js';
import type { EcdsaSignature, Signable } from '../../../src/kernel/signing.js';
import { CheckedCustody } from '../../../src/modules/signers/infrastructure/checked-custody.js';
import type { Pause } from '../../../src/platform/scheduling/pause.js';
import { aHash, aSigner, DEV_CHAIN } from '../../support/builders.js';
import { custodyTools } from '../../support/dev-custody.js';
import { FakeMetrics } from '../../support/fakes/fake-metrics.js';
import { gate } from '../../support/gate.js';
import { RecordingLog } from '../chain/chain-fixture.js';

/** The first accounts of the phrase that every development chain has, and the key of the first. */
const ACCOUNTS = [
  '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
  '0x70997970c51812dc3a010c7d01b50e0d17dc79c8',
  '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc',
].map(parseAddress);
const FIRST_KEY = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80';

const log = new RecordingLog();
const metrics = new FakeMetrics();
/** Pauses that have not ended, with their milliseconds. */
let pauses: { readonly ms: number; readonly end: () => void }[] = [];
const pause: Pause = (ms) => new Promise((end) => pauses.push({ ms, end }));
async function endPauses(ms: number): Promise<void> {
  for (const each of pauses) if (each.ms === ms) each.end();
  await nextTurn();
}

function custodyOf(...signers: CustodyEntry[]): Promise<CheckedCustody> {
  const chains = [DEV_CHAIN, DEV_CHAIN + 1].map((id) => Object.assign(new ChainConfig(), { id, signers }));
  return CheckedCustody.open(Object.assign(new LockstepConfig(), { chains }), custodyTools({ log, pause, metrics }));
}
const phrase = (count: number, path = "m/44'/60'/0'/0", words = DEV_MNEMONIC): MnemonicCustody =>
  Object.assign(new MnemonicCustody(), { phrase: words, count, path });
/** Another valid phrase: the test vector of BIP-39 for 16 zero bytes. */
const OTHER_MNEMONIC = `${'abandon '.repeat(11)}about`;
const OTHER_ACCOUNT = parseAddress('0x9858effd232b4033e47d90003d41ec34ecaeda94');
const signerAt = (index: number, chainId = DEV_CHAIN): SignerId => ({
  chainId,
  address: ACCOUNTS[index] ?? aSigner().address,
});

beforeEach(() => {
  pauses = [];
});

describe('keys of the config', () => {
  it('are the accounts of a phrase from index 0, as many as it says, on every chain that has it', async () => {
    const signers = (await custodyOf(phrase(3))).signers();
    expect(signers.map(({ signer }) => signer)).toEqual(
      [DEV_CHAIN, DEV_CHAIN + 1].flatMap((chainId) => [0, 1, 2].map((index) => signerAt(index, chainId))),
    );
    expect(signers[1]?.reference).toEqual({ type: 'mnemonic', path: "m/44'/60'/0'/0/1" });
  });

  it('are told apart by the path that they are derived by', async () => {
    const [one, two] = (await custodyOf(phrase(1), phrase(1, "m/44'/60'/1'/0"))).signers();
    expect(one?.signer.address).toBe(ACCOUNTS[0]);
    expect(two?.signer.address).not.toBe(ACCOUNTS[0]);
  });

  it('are told apart by their phrase, also at the same path', async () => {
    const signers = (await custodyOf(phrase(1), phrase(1, undefined, OTHER_MNEMONIC))).signers();
    expect(signers.slice(0, 2).map(({ signer }) => signer.address)).toEqual([ACCOUNTS[0], OTHER_ACCOUNT]);
  });

  it('are private keys too, and a reference never says the key', async () => {
    const custody = await custodyOf(Object.assign(new PrivateKeyCustody(), { key: FIRST_KEY }));
    expect(custody.signers()[0]).toEqual({ signer: signerAt(0), reference: { type: 'privateKey' } });
    expect(JSON.stringify(custody.signers())).not.toContain(FIRST_KEY.slice(2));
  });

  it('are not had of accounts whose keys other nodes have, and what the config says of those is known all the same', async () => {
    const policy = Object.assign(new SignerPolicyConfig(), { maxValue: 8n });
    const fees = Object.assign(new SignerFeesConfig(), { maxFeePerGas: 3n });
    const addresses = [signerAt(1).address.toUpperCase().replace('0X', '0x')];
    const custody = await custodyOf(phrase(1), Object.assign(new ElsewhereCustody(), { addresses, policy, fees }));
    const [first, second] = [signerAt(0), signerAt(1)];
    expect([custody.has(first), custody.has(second)]).toEqual([true, false]);
    expect(custody.signers().map(({ signer }) => signer.address)).not.toContain(second.address);
    expect(custody.rules().slice(0, 2)).toEqual([{ signer: first }, { signer: second, policy, fees }]);
  });

  it.each([
    ['with its key and as one of another node', Object.assign(new ElsewhereCustody(), { addresses: [ACCOUNTS[0]] })],
    ['with its key in two ways', Object.assign(new PrivateKeyCustody(), { key: FIRST_KEY })],
  ])(
    'are refused at the start when an account is named twice, %s: one of the policies would be lost',
    async (_, second) => {
      const first = phrase(1);
      first.policy = Object.assign(new SignerPolicyConfig(), { dailyValue: 8n });
      await expect(custodyOf(first, second)).rejects.toThrow(
        `names the account ${ACCOUNTS[0]} twice on chain ${DEV_CHAIN}`,
      );
    },
  );

  it('are had for the chains that name them only', async () => {
    const custody = await custodyOf(phrase(1));
    expect([signerAt(0), signerAt(1), signerAt(0, DEV_CHAIN + 2)].map((signer) => custody.has(signer))).toEqual([
      true,
      false,
      false,
    ]);
  });
});

describe('signing', () => {
  const digests = Array.from({ length: 70 }, (_, n) => aHash(n + 1));
  const items = digests.map((digest): Signable => ({ kind: 2, bytes: new Uint8Array(), digest }));

  it('answers a signature for each digest, in their order, by the key of the signer', async () => {
    const signatures = await (await custodyOf(phrase(2))).sign(signerAt(1), items);
    const signedBy = signatures.map((signature, n) => recoverAddress(digests[n] ?? '', Signature.from(signature)));
    expect(new Set(signedBy.map(parseAddress))).toEqual(new Set([ACCOUNTS[1]]));
    expect(signatures).toHaveLength(digests.length);
  });

  it('is refused without the key', async () => {
    const custody = await custodyOf(phrase(1));
    await expect(custody.sign(signerAt(1), items)).rejects.toMatchObject({ code: 'unknown_signer' });
  });

  it('says the same by the native library and without it, for both parities, with a low s', () => {
    const [native, plain] = [new Secp256k1(), new Secp256k1(null)];
    expect(plain.implementation).toBe('javascript');
    const parities = new Set<number>();
    for (const digest of digests.slice(0, 20)) {
      const signature = plain.sign(digest, FIRST_KEY);
      expect(native.sign(digest, FIRST_KEY)).toEqual(signature);
      const s = `0x${(ORDER - BigInt(signature.s)).toString(16).padStart(64, '0')}` as const;
      const high = { ...signature, s: parseHex(s), yParity: signature.yParity === 0 ? 1 : 0 } as const;
      for (const curve of [native, plain]) {
        expect(curve.isBy(signerAt(0).address, digest, signature)).toBe(true);
        // The same key, but no node takes a high s (EIP-2).
        expect(curve.isBy(signerAt(0).address, digest, high)).toBe(false);
        expect(curve.isBy(signerAt(1).address, digest, signature)).toBe(false);
        expect(curve.isBy(signerAt(0).address, digest, { ...signature, r: parseHex('0x') })).toBe(false);
      }
      parities.add(signature.yParity);
    }
    expect(parities).toEqual(new Set([0, 1]));
  });
});

/** Of secp256k1. */
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

describe('what a custody answers', () => {
  const item: Signable = { kind: 2, bytes: new Uint8Array(), digest: aHash(1) };
  const OTHER_KEY = `0x${'11'.repeat(32)}`;
  const byKey = (key: string, items: readonly Signable[]): EcdsaSignature[] =>
    items.map(({ digest }) => SECP256K1.sign(digest, key));

  const open = (sign: CustodyKey['sign'], signs?: CustodyKey['signs']): Promise<CheckedCustody> => {
    const key = { address: signerAt(0).address, reference: { type: 'toy' }, sign, ...(signs && { signs }) };
    return custodyOf({ type: 'toy', keys: async () => [key], accountsElsewhere: () => [] });
  };

  it('is refused, with an alarm, when one signature is by another key', async () => {
    const custody = await open(async ([first, ...rest]) => [
      ...byKey(FIRST_KEY, first ? [first] : []),
      ...byKey(OTHER_KEY, rest),
    ]);
    await expect(custody.sign(signerAt(0), [item, item])).rejects.toMatchObject({ name: 'CustodyFailed' });
    expect(log.lines.at(-1)?.event).toBe('custody signed with another key');
    expect(await custody.sign(signerAt(0), [item])).toHaveLength(1);
  });

  it('is refused when a signature is missing', async () => {
    const custody = await open(async (items) => byKey(FIRST_KEY, items.slice(1)));
    await expect(custody.sign(signerAt(0), [item, item])).rejects.toMatchObject({ name: 'CustodyFailed' });
  });

  it('may be that it fails: the cause is kept for the log', async () => {
    const cause = new Error('the vault is sealed');
    const custody = await open(() => Promise.reject(cause));
    await expect(custody.sign(signerAt(0), [item])).rejects.toMatchObject({ name: 'CustodyFailed', cause });
  });

  it('is not waited for twice while it hangs, and is asked again when its answer has come', async () => {
    const hanging = gate();
    let asked = 0;
    const late: (AbortSignal | undefined)[] = [];
    const custody = await open(async (items, signal) => {
      asked += 1;
      late.push(signal);
      await hanging.opened;
      return byKey(FIRST_KEY, items);
    });
    const first = expect(custody.sign(signerAt(0), [item])).rejects.toMatchObject({ name: 'CustodyFailed' });
    await endPauses(10_000);
    await first;
    expect(late.map((signal) => signal?.aborted)).toEqual([true]);
    await expect(custody.sign(signerAt(0), [item])).rejects.toThrow('has not answered yet');
    // Of another chain it is another entry.
    const other = custody.sign(signerAt(0, DEV_CHAIN + 1), [item]);
    expect(asked).toBe(2);
    hanging.open();
    await other;
    await nextTurn();
    expect(await custody.sign(signerAt(0), [item])).toHaveLength(1);
    expect(metrics.counted('custody_errors_total')).toMatchObject({ 'toy timeout': 1, 'toy overdue': 1 });
  });

  it('is asked again after a minute, when its answer never comes', async () => {
    let asked = 0;
    const custody = await open((items) =>
      ++asked === 1 ? new Promise(() => undefined) : Promise.resolve(byKey(FIRST_KEY, items)),
    );
    const first = expect(custody.sign(signerAt(0), [item])).rejects.toMatchObject({ name: 'CustodyFailed' });
    await endPauses(10_000);
    await first;
    await expect(custody.sign(signerAt(0), [item])).rejects.toThrow('has not answered yet');
    await endPauses(60_000);
    expect(await custody.sign(signerAt(0), [item])).toHaveLength(1);
  });

  it('that signs nothing is external: nothing of its accounts is asked for, and they are known', async () => {
    const custody = await open(async (items) => byKey(FIRST_KEY, items), []);
    const refusal = { code: 'external_signer', facts: signerAt(0) };
    expect([custody.isExternal(signerAt(0)), custody.has(signerAt(0))]).toEqual([true, true]);
    expect(() => custody.assertSigns(signerAt(0))).toThrow(expect.objectContaining(refusal));
    await expect(custody.sign(signerAt(0), [item])).rejects.toMatchObject(refusal);
    const elsewhere = { ...signerAt(0), chainId: 99 };
    expect(custody.isExternal(elsewhere)).toBe(false);
    expect(() => custody.assertSigns(elsewhere)).not.toThrow();
  });

  it('is asked for only what it says that it signs', async () => {
    const custody = await open(async (items) => byKey(FIRST_KEY, items), [2]);
    expect(await custody.sign(signerAt(0), [item])).toHaveLength(1);
    expect(custody.isExternal(signerAt(0))).toBe(false);
    await expect(custody.sign(signerAt(0), [{ ...item, kind: 4 }])).rejects.toMatchObject({
      code: 'cannot_sign',
      message: 'custody toy signs no transactions of type 4',
    });
  });
});
