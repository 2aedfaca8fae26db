import { Injectable } from '@nestjs/common';
import { HDNodeWallet, Mnemonic, Wallet } from 'ethers';
import { LockstepConfig, type SignerConfig } from '../../../config/lockstep-config.js';
import { Unprocessable } from '../../../kernel/errors.js';
import { type Address, type Hash, parseAddress } from '../../../kernel/hex.js';
import { signerKey, type SignerId } from '../../../kernel/signer-id.js';
import { mapInTurns } from '../../../platform/scheduling/map-in-turns.js';
import { type CustodiedSigner, Custody, type EcdsaSignature } from '../domain/custody.js';
import { EcdsaSigner } from './ecdsa-signer.js';

interface LocalKey extends CustodiedSigner {
  readonly privateKey: string;
}

/** Keys from the config, in the memory of this process. For development, and where the environment keeps the keys safe. */
@Injectable()
export class LocalKeyCustody extends Custody {
  private readonly keys: ReadonlyMap<string, LocalKey>;

  constructor(
    config: LockstepConfig,
    private readonly ecdsa: EcdsaSigner,
  ) {
    super();
    const derived = new Derivations();
    const keys = config.chains.flatMap((chain) =>
      chain.signers.flatMap((signer) => readKeys(chain.id, signer, derived)),
    );
    this.keys = new Map(keys.map((key) => [signerKey(key.signer), key]));
  }

  signers(): readonly CustodiedSigner[] {
    return [...this.keys.values()].map(({ signer, reference, fees }) => ({
      signer,
      reference,
      ...(fees === undefined ? {} : { fees }),
    }));
  }

  has(signer: SignerId): boolean {
    return this.keys.has(signerKey(signer));
  }

  async sign(signer: SignerId, digests: readonly Hash[]): Promise<EcdsaSignature[]> {
    const key = this.keys.get(signerKey(signer));
    if (!key)
      throw new Unprocessable('unknown_signer', 'this node has no key for the signer', 'add the signer to the config');
    return mapInTurns(digests, (digest) => this.ecdsa.sign(digest, key.privateKey));
  }
}

interface DerivedKey {
  readonly address: Address;
  readonly privateKey: string;
}

/** A derivation takes about a millisecond, and many chains may use the same accounts, so results are kept. */
class Derivations {
  private readonly keys = new Map<string, DerivedKey>();

  of(phrase: string, path: string, count: number): DerivedKey[] {
    let root: HDNodeWallet | null = null;
    return Array.from({ length: count }, (_, index) => {
      const name = `${phrase}/${path}/${index}`;
      const known = this.keys.get(name);
      if (known) return known;
      root ??= HDNodeWallet.fromMnemonic(Mnemonic.fromPhrase(phrase), path);
      const { address, privateKey } = root.deriveChild(index);
      const key = { address: parseAddress(address), privateKey };
      this.keys.set(name, key);
      return key;
    });
  }
}

function readKeys(chainId: number, config: SignerConfig, derived: Derivations): LocalKey[] {
  const fees = config.fees === undefined ? {} : { fees: config.fees };
  if (config.type === 'privateKey') {
    const wallet = new Wallet(config.key);
    return [
      {
        signer: { chainId, address: parseAddress(wallet.address) },
        reference: { type: 'privateKey' },
        privateKey: wallet.privateKey,
        ...fees,
      },
    ];
  }
  return derived.of(config.phrase, config.path, config.count).map(({ address, privateKey }, index) => ({
    signer: { chainId, address },
    reference: { type: 'mnemonic', path: `${config.path}/${index}` },
    privateKey,
    ...fees,
  }));
}
