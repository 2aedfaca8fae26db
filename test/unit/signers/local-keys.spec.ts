import { describe, expect, it } from '@jest/globals';
import { recoverAddress, Signature } from 'ethers';
import { ChainConfig, LockstepConfig } from '../../../src/config/index.js';
import { MnemonicSignerConfig, PrivateKeySignerConfig } from '../../../src/config/sections/signer-config.js';
import { DEV_MNEMONIC } from '../../../src/dev/dev-accounts.js';
import { parseAddress } from '../../../src/kernel/hex.js';
import type { SignerId } from '../../../src/kernel/signer-id.js';
import { EcdsaSigner } from '../../../src/modules/signers/infrastructure/ecdsa-signer.js';
import { LocalKeyCustody } from '../../../src/modules/signers/infrastructure/local-key-custody.js';
import { aHash, aSigner, DEV_CHAIN } from '../../support/builders.js';

/** The first accounts of the phrase that every development chain has, and the key of the first. */
const ACCOUNTS = [
  '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
  '0x70997970c51812dc3a010c7d01b50e0d17dc79c8',
  '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc',
].map(parseAddress);
const FIRST_KEY = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80';

function custodyOf(...signers: (MnemonicSignerConfig | PrivateKeySignerConfig)[]): LocalKeyCustody {
  const chains = [DEV_CHAIN, DEV_CHAIN + 1].map((id) => Object.assign(new ChainConfig(), { id, signers }));
  return new LocalKeyCustody(Object.assign(new LockstepConfig(), { chains }), new EcdsaSigner());
}
const phrase = (count: number, path = "m/44'/60'/0'/0", words = DEV_MNEMONIC): MnemonicSignerConfig =>
  Object.assign(new MnemonicSignerConfig(), { phrase: words, count, path });
/** Another valid phrase: the test vector of BIP-39 for 16 zero bytes. */
const OTHER_MNEMONIC = `${'abandon '.repeat(11)}about`;
const OTHER_ACCOUNT = parseAddress('0x9858effd232b4033e47d90003d41ec34ecaeda94');
const signerAt = (index: number, chainId = DEV_CHAIN): SignerId => ({
  chainId,
  address: ACCOUNTS[index] ?? aSigner().address,
});

describe('keys of the config', () => {
  it('are the accounts of a phrase from index 0, as many as it says, on every chain that has it', () => {
    const signers = custodyOf(phrase(3)).signers();
    expect(signers.map(({ signer }) => signer)).toEqual(
      [DEV_CHAIN, DEV_CHAIN + 1].flatMap((chainId) => [0, 1, 2].map((index) => signerAt(index, chainId))),
    );
    expect(signers[1]?.reference).toEqual({ type: 'mnemonic', path: "m/44'/60'/0'/0/1" });
  });

  it('are told apart by the path that they are derived by', () => {
    const [one, two] = custodyOf(phrase(1), phrase(1, "m/44'/60'/1'/0")).signers();
    expect(one?.signer.address).toBe(ACCOUNTS[0]);
    expect(two?.signer.address).not.toBe(ACCOUNTS[0]);
  });

  it('are told apart by their phrase, also at the same path', () => {
    const signers = custodyOf(phrase(1), phrase(1, undefined, OTHER_MNEMONIC)).signers();
    expect(signers.slice(0, 2).map(({ signer }) => signer.address)).toEqual([ACCOUNTS[0], OTHER_ACCOUNT]);
  });

  it('are private keys too, and a reference never says the key', () => {
    const custody = custodyOf(Object.assign(new PrivateKeySignerConfig(), { key: FIRST_KEY }));
    expect(custody.signers()[0]).toEqual({ signer: signerAt(0), reference: { type: 'privateKey' } });
    expect(JSON.stringify(custody.signers())).not.toContain(FIRST_KEY.slice(2));
  });

  it('are had for the chains that name them only', () => {
    const custody = custodyOf(phrase(1));
    expect([signerAt(0), signerAt(1), signerAt(0, DEV_CHAIN + 2)].map((signer) => custody.has(signer))).toEqual([
      true,
      false,
      false,
    ]);
  });
});

describe('signing', () => {
  const digests = Array.from({ length: 70 }, (_, n) => aHash(n + 1));

  it('answers a signature for each digest, in their order, by the key of the signer', async () => {
    const signatures = await custodyOf(phrase(2)).sign(signerAt(1), digests);
    const signedBy = signatures.map((signature, n) => recoverAddress(digests[n] ?? '', Signature.from(signature)));
    expect(new Set(signedBy.map(parseAddress))).toEqual(new Set([ACCOUNTS[1]]));
    expect(signatures).toHaveLength(digests.length);
  });

  it('is refused without the key', async () => {
    await expect(custodyOf(phrase(1)).sign(signerAt(1), digests)).rejects.toMatchObject({ code: 'unknown_signer' });
  });

  it('says the same by the native library and without it, for both parities, with a low s', () => {
    const [native, plain] = [new EcdsaSigner(), new EcdsaSigner(null)];
    expect(plain.implementation).toBe('javascript');
    const parities = new Set<number>();
    for (const digest of digests.slice(0, 20)) {
      const signature = plain.sign(digest, FIRST_KEY);
      expect(native.sign(digest, FIRST_KEY)).toEqual(signature);
      expect(BigInt(signature.s)).toBeLessThanOrEqual(HALF_ORDER);
      parities.add(signature.yParity);
    }
    expect(parities).toEqual(new Set([0, 1]));
  });
});

/** Of secp256k1, by EIP-2. */
const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;
