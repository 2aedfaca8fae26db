import { Injectable } from '@nestjs/common';
import { backoffMs, chanceOf, jittered } from '../../../kernel/backoff.js';
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
  constructor(
    private readonly custody: Custody,
    private readonly policies: SignerPolicies,
    private readonly store: PermitStore,
    private readonly write: WriteChanges,
    private readonly doorbell: Doorbell,
  ) {}

  /** @returns null when the owner does not sign it now: then it is wanted again later */
  async sign(use: PermitUse, permit: RequestedPermit, permitNonce: bigint): Promise<SignedPermit | null> {
    const { present } = this.policies;
    const judged = present.ofTypedData(use.signer, typeOfPermit(permit));
    // Intake asks the same, but the policy may be stricter now.
    const isAllowed = judged.every(({ verdict }) => verdict.kind === 'allowed');
    // No key signs once a second what is refused where it is stored: the contract may not have taken the nonce before yet.
    if (isAllowed && !(await this.store.mayMake(use, permitNonce, present.mark))) return null;
    const deadline = use.now + BigInt(permit.ttl);
    const signature = isAllowed ? await this.signature(use, permit, { permitNonce, deadline }) : undefined;
    const made = signature && { permitNonce, deadline, signature };
    if (made && fitsPlaces(made, permit)) return { made, policyMark: present.mark };
    await this.store.postpone(use, pauseMs(use));
    return null;
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
  ): Promise<MadePermit['signature'] | undefined> {
    const message = { ...text.message, nonce: permitNonce.toString(), deadline: deadline.toString() };
    const encoded = encodeTypedData({ ...text, types: mutable(text.types), message });
    try {
      const [signature] = await this.custody.sign(signer, [{ kind: 'typedData', ...encoded }]);
      return signature;
    } catch (error) {
      if (error instanceof CustodyFailed || error instanceof CannotSign) return undefined;
      throw error;
    }
  }
}

/** ethers takes no lists that cannot change. */
function mutable(types: RequestedPermit['text']['types']): Record<string, { name: string; type: string }[]> {
  return Object.fromEntries(Object.entries(types).map(([name, fields]) => [name, [...fields]]));
}
