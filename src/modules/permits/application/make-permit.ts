import { Injectable } from '@nestjs/common';
import { backoffMs, chanceOf, jittered } from '../../../kernel/backoff.js';
import { signerKey } from '../../../kernel/signer-id.js';
import { Log, type LogFields } from '../../../platform/logging/log.js';
import { encodeTypedData } from '../../../platform/crypto/typed-data.js';
import {
  Doorbell,
  fitsPlaces,
  type MadePermit,
  PermitStore,
  type PermitUse,
  type RequestedPermit,
  typeOfPermit,
  WriteChanges,
} from '../../ledger/index.js';
import { SignerPolicies } from '../../policies/index.js';
import { CannotSign, Custody, CustodyFailed, type Lease } from '../../signers/index.js';

const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 600_000;

/** Seconds for which a permit is not made each second before that is told, and until it is told again. */
const REFUSED_S = 60n;

/** A permit with its signature, which nothing carries before it is stored. */
export interface SignedPermit {
  readonly made: MadePermit;
  /** Of the policies by which its owner may sign it. */
  readonly policyMark: string;
}

/** How long a permit that could not be made, or was taken back, is not wanted: by its id, so that two txs that wait for each other get apart. */
export function pauseMs({ id, tries }: Pick<PermitUse, 'id' | 'tries'>): number {
  return jittered(backoffMs(FIRST_PAUSE_MS, tries, LONGEST_PAUSE_MS), chanceOf(id));
}

/**
 * Signs a permit and gives it to its tx. The nonce, its row and the signature in the request of the tx are one commit, under the lease of the owner,
 * before an attempt can have them.
 */
@Injectable()
export class MakePermit {
  /** When the refusal of a permit is told, in seconds since 1970, by its owner and contract. */
  private readonly refused = new Map<string, bigint>();

  constructor(
    private readonly custody: Custody,
    private readonly policies: SignerPolicies,
    private readonly store: PermitStore,
    private readonly write: WriteChanges,
    private readonly doorbell: Doorbell,
    private readonly log: Log,
  ) {}

  /** @returns null when the owner does not sign it now: then it is wanted again later */
  async sign(use: PermitUse, permit: RequestedPermit, permitNonce: bigint): Promise<SignedPermit | null> {
    const { present } = this.policies;
    const judged = present.ofTypedData(use.signer, typeOfPermit(permit));
    // Intake asks the same, but the policy may be stricter now.
    const refusal = judged.flatMap(({ verdict }) => (verdict.kind === 'allowed' ? [] : [verdict.reason]))[0];
    if (refusal !== undefined) return this.notNow(use, refusal);
    const terms = { permitNonce, deadline: use.now + BigInt(permit.ttl) };
    if (!fitsPlaces(terms, permit)) return this.notNow(use, `the call has no room for the nonce ${permitNonce}`);
    // No key signs once a second what is refused where it is stored: the contract may not have taken the nonce before yet.
    const mayBeMade = await this.store.mayMake(use, permitNonce, present.mark);
    this.noteRefusal(use, permitNonce, !mayBeMade);
    if (!mayBeMade) return null;
    const signature = await this.signature(use, permit, terms);
    return typeof signature === 'string'
      ? this.notNow(use, signature)
      : { made: { ...terms, signature }, policyMark: present.mark };
  }

  private async notNow(use: PermitUse, reason: string): Promise<null> {
    this.log.warn('permit not signed, it is tried again', { ...told(use), reason });
    await this.store.postpone(use, pauseMs(use));
    return null;
  }

  /** For a while that is usual: an endpoint lags, or this node has not read the newest policies. */
  private noteRefusal(use: PermitUse, permitNonce: bigint, isRefused: boolean): void {
    const key = `${signerKey(use.signer)} ${use.contract}`;
    const tellAt = this.refused.get(key) ?? use.now + REFUSED_S;
    const isTold = isRefused && use.now >= tellAt;
    if (isTold)
      this.log.warn('permit waits: another one has the nonce that its contract tells', { ...told(use), permitNonce });
    if (isRefused) this.refused.set(key, isTold ? use.now + REFUSED_S : tellAt);
    else this.refused.delete(key);
  }

  /** When something is not as it was read, it is looked at again after a pause. */
  async give(lease: Lease, use: PermitUse, signed: SignedPermit): Promise<void> {
    if (await this.isStored(lease, use, signed)) this.doorbell.ring([use.sender]);
    else await this.store.postpone(use, pauseMs(use));
  }

  private async isStored(lease: Lease, use: PermitUse, { made, policyMark }: SignedPermit): Promise<boolean> {
    let isStored = false;
    await this.write.underFence([lease], 'make_permit', async (fence) => {
      isStored = await this.store.make(fence, use, made, policyMark);
      return {};
    });
    return isStored;
  }

  private async signature(
    { signer }: PermitUse,
    { text }: RequestedPermit,
    { permitNonce, deadline }: Omit<MadePermit, 'signature'>,
  ): Promise<MadePermit['signature'] | string> {
    const message = { ...text.message, nonce: permitNonce.toString(), deadline: deadline.toString() };
    const encoded = encodeTypedData({ ...text, types: mutable(text.types), message });
    try {
      const [signature] = await this.custody.sign(signer, [{ kind: 'typedData', ...encoded }]);
      return signature ?? 'the custody returned no signature';
    } catch (error) {
      if (error instanceof CustodyFailed || error instanceof CannotSign) return error.message;
      throw error;
    }
  }
}

function told({ signer, contract, txId }: PermitUse): LogFields {
  return { signer: signerKey(signer), contract, txId };
}

/** ethers takes no lists that cannot change. */
function mutable(types: RequestedPermit['text']['types']): Record<string, { name: string; type: string }[]> {
  return Object.fromEntries(Object.entries(types).map(([name, fields]) => [name, [...fields]]));
}
