import { Injectable } from '@nestjs/common';
import { AuditLog } from '../../../kernel/audit-log.js';
import type { Caller } from '../../../kernel/caller.js';
import { Conflict, InvariantViolation, Unavailable, Unprocessable } from '../../../kernel/errors.js';
import { type Hash, parseAddress } from '../../../kernel/hex.js';
import { signerKey, type SignerId } from '../../../kernel/signer-id.js';
import type { EcdsaSignature } from '../../../kernel/signing.js';
import { encodeTypedData, type TypedData } from '../../../platform/crypto/typed-data.js';
import { SignerPolicies } from '../../policies/index.js';
import { AtMost } from '../../../platform/scheduling/at-most.js';
import { Custody, CustodyFailed, SignerPauses } from '../../signers/index.js';

/** For one signer: a flood does not take a key service from the lanes. */
const MOST_AT_ONCE = 2;

export interface SignedTypedData {
  readonly digest: Hash;
  readonly signature: EcdsaSignature;
}

/**
 * Signs typed data (EIP-712) that a policy of the signer names. Whoever has the signature may use it at any time, and daily amounts do not count it.
 * It takes no nonce of the account, so any node with the key signs, without a lease.
 */
@Injectable()
export class SignTypedData {
  private readonly turns = new Map<string, AtMost>();

  constructor(
    private readonly custody: Custody,
    private readonly policies: SignerPolicies,
    private readonly pauses: SignerPauses,
    private readonly audit: AuditLog,
  ) {}

  /**
   * @throws InvalidInput `invalid_typed_data`; Unprocessable `wrong_chain`, `no_key_here`, `cannot_sign`; Forbidden `policy_refused`; Conflict `signer_paused`;
   * Unavailable `custody_failed`
   */
  async execute(signer: SignerId, data: TypedData, by: Caller): Promise<SignedTypedData> {
    const { bytes, digest } = encodeTypedData(data);
    this.assertForChain(signer, data);
    this.assertSigns(signer);
    // Whoever is refused takes no turn of the others.
    await this.assertAllowed(signer, data, by.account);
    return this.turnsOf(signer).run(async () => {
      // It may have waited for its turn.
      await this.assertAllowed(signer, data, by.account);
      const { domain, types, primaryType, message } = data;
      const detail = { digest, domain, types, primaryType, message };
      // Before it is signed: a signature that nobody recorded could be used.
      await this.audit.record({ by, action: 'signTypedData', object: `signer:${signerKey(signer)}`, detail });
      return { digest, signature: await this.signed(signer, bytes, digest) };
    });
  }

  private async assertAllowed(signer: SignerId, data: TypedData, account: string): Promise<void> {
    // After a change of a policy was answered, no node signs what it forbids.
    await this.policies.refresh();
    this.policies.assertAllowed(signer, this.policies.present.ofTypedData(signer, nameOf(data)));
    await this.assertGoesOn(signer, account);
  }

  private assertForChain({ chainId }: SignerId, { domain }: TypedData): void {
    if (domain.chainId != null && BigInt(domain.chainId) === BigInt(chainId)) return;
    throw new Unprocessable(
      'wrong_chain',
      `domain.chainId is not ${chainId}, the chain of the signer`,
      'send the chainId of the signer: without one, or with another, the signature would hold on other chains',
    );
  }

  private assertSigns(signer: SignerId): void {
    this.custody.assertSigns(signer, 'typedData');
    if (this.custody.has(signer)) return;
    throw new Unprocessable(
      'no_key_here',
      'this node has no key for the signer',
      'send it to a node whose config has the key of the signer',
      { ...signer },
    );
  }

  private async assertGoesOn(signer: SignerId, account: string): Promise<void> {
    const pause = await this.pauses.of(signer, account);
    if (!pause) return;
    throw new Conflict(
      'signer_paused',
      `the signer or its caller is stopped since ${pause.since.toISOString()}, so it signs no typed data`,
      'wait until an operator lets it go on: GET /api/v1/stops shows it',
      { ...signer },
    );
  }

  private turnsOf(signer: SignerId): AtMost {
    const turns = this.turns.get(signerKey(signer)) ?? new AtMost(MOST_AT_ONCE);
    this.turns.set(signerKey(signer), turns);
    return turns;
  }

  private async signed(signer: SignerId, bytes: Uint8Array, digest: Hash): Promise<EcdsaSignature> {
    try {
      const [signature] = await this.custody.sign(signer, [{ kind: 'typedData', bytes, digest }]);
      if (signature) return signature;
      throw new InvariantViolation('the custody returned no signature');
    } catch (error) {
      if (!(error instanceof CustodyFailed)) throw error;
      throw new Unavailable('custody_failed', error.message, 'try again; signers check shows what is wrong', {
        ...signer,
      });
    }
  }
}

/** As policies name it (`TYPED_DATA`). A name that looks like an address names nothing: it is not that of a contract. */
function nameOf({ domain: { verifyingContract, name }, primaryType }: TypedData): string {
  const ownName = name == null || name.startsWith('0x') ? '' : name;
  return `${verifyingContract == null ? ownName : parseAddress(verifyingContract)}/${primaryType}`;
}
