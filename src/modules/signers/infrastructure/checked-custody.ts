import type { LockstepConfig } from '../../../config/lockstep-config.js';
import type { CustodyKey } from '../../../custody/custody-entry.js';
import { SECP256K1 } from '../../../custody/secp256k1.js';
import { Unprocessable } from '../../../kernel/errors.js';
import { signerKey, type SignerId } from '../../../kernel/signer-id.js';
import type { EcdsaSignature, Signable } from '../../../kernel/signing.js';
import type { Log } from '../../../platform/logging/log.js';
import { mapInTurns } from '../../../platform/scheduling/map-in-turns.js';
import { CannotSign, type CustodiedSigner, Custody, CustodyFailed, type SignerRules } from '../domain/custody.js';

/** The signers of a worker wait for each other. */
const TIME_LIMIT_MS = 10_000;

interface Known {
  readonly custodied: CustodiedSigner;
  readonly key: CustodyKey;
}

/** The keys of the config. Nothing that they sign leaves here before it is checked. */
export class CheckedCustody extends Custody {
  private constructor(
    private readonly keys: ReadonlyMap<string, Known>,
    private readonly known: ReadonlyMap<string, SignerRules>,
    private readonly log: Log,
  ) {
    super();
  }

  /** @throws Error when an account is named twice on a chain: one of its policies would be lost, and with it the limits of what it signs */
  static async open({ chains }: LockstepConfig, log: Log): Promise<CheckedCustody> {
    const keys = new Map<string, Known>();
    const rules = new Map<string, SignerRules>();
    for (const { id: chainId, signers } of chains)
      for (const entry of signers) {
        const own = await entry.keys();
        for (const address of [...own.map((key) => key.address), ...entry.accountsElsewhere()]) {
          const signer = { chainId, address };
          const { fees, policy } = entry;
          if (rules.has(signerKey(signer)))
            throw new Error(`chains[].signers[] names the account ${address} twice on chain ${chainId}: name it once`);
          rules.set(signerKey(signer), { signer, ...(fees && { fees }), ...(policy && { policy }) });
        }
        for (const key of own) {
          const signer = { chainId, address: key.address };
          keys.set(signerKey(signer), { key, custodied: { signer, reference: key.reference } });
        }
      }
    return new CheckedCustody(keys, rules, log);
  }

  signers(): readonly CustodiedSigner[] {
    return [...this.keys.values()].map(({ custodied }) => custodied);
  }

  rules(): readonly SignerRules[] {
    return [...this.known.values()];
  }

  has(signer: SignerId): boolean {
    return this.keys.has(signerKey(signer));
  }

  async sign(signer: SignerId, items: readonly Signable[]): Promise<EcdsaSignature[]> {
    const key = this.keys.get(signerKey(signer))?.key;
    if (!key)
      throw new Unprocessable('unknown_signer', 'this node has no key for the signer', 'add the signer to the config');
    const other = items.find(({ kind }) => key.signs?.includes(kind) === false);
    if (other) throw cannotSign(key, other);
    const signatures = await inTime(key.sign(items)).catch((cause: unknown) => {
      throw new CustodyFailed('the custody of the signer does not sign', { cause });
    });
    const good = await mapInTurns(items, ({ digest }, index) => isGood(key, digest, signatures[index]));
    if (!good.includes(false)) return signatures;
    this.log.error('custody signed with another key', { signer: signerKey(signer), custody: key.reference });
    throw new CustodyFailed('the custody of the signer signs with another key');
  }
}

function isGood({ address }: CustodyKey, digest: Signable['digest'], signature: EcdsaSignature | undefined): boolean {
  return signature !== undefined && SECP256K1.isBy(address, digest, signature);
}

function cannotSign({ reference }: CustodyKey, { kind }: Signable): CannotSign {
  const what = kind === 'authorization' ? 'authorizations' : `transactions of type ${kind}`;
  return new CannotSign('cannot_sign', `custody ${reference.type} signs no ${what}`, 'use a signer of another custody');
}

async function inTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer in ${TIME_LIMIT_MS} ms`)), TIME_LIMIT_MS);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
