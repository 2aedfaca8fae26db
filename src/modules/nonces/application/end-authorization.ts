import { Injectable } from '@nestjs/common';
import { backoffMs } from '../../../kernel/backoff.js';
import type { Nonce } from '../../../kernel/signer-id.js';
import type { AgreedCount } from '../../chain/index.js';
import type { Fence, Lease } from '../../signers/index.js';
import { AuthorizationStore, type ChangeSet, type Grant, WriteChanges } from '../../ledger/index.js';

const FIRST_PAUSE_MS = 5_000;
/** A tx that never comes to its end holds its authorities back for a few minutes in all, and then for some seconds in an hour. */
const LONGEST_PAUSE_MS = 3_600_000;

/**
 * How long a tx waits before its authorizations are signed again: one to two times the back-off, by its id, so that two txs that wait for each
 * other get apart.
 */
export function pauseMs({ id, tries }: Pick<Grant, 'id' | 'tries'>): number {
  return backoffMs(FIRST_PAUSE_MS, tries, LONGEST_PAUSE_MS) * (1 + Number.parseInt(id.slice(0, 8), 16) / 2 ** 32);
}

/**
 * Ends a signed authorization, or takes it back from a tx that waits for too long. The chain decides whether the nonce is used; if not, the next
 * payload of the signer gets it. The tx was not mined with it, but if its bytes were sent, somebody else may still use the signature: then the
 * payload gets another nonce, like after every foreign transaction.
 */
@Injectable()
export class EndAuthorization {
  constructor(
    private readonly store: AuthorizationStore,
    private readonly write: WriteChanges,
  ) {}

  /** @returns whether it has ended, or was taken back */
  async execute(lease: Lease, grant: Grant, agreed: AgreedCount | null): Promise<boolean> {
    const { nonce } = grant;
    if (nonce === null) return this.neverSigned(lease, grant);
    if (!agreed) return false;
    const isUsed = agreed.nonce > nonce;
    const { slots } = await this.write.underFence([lease], 'end_authorization', (fence) =>
      this.changes(fence, { ...grant, nonce }, isUsed),
    );
    return slots !== undefined;
  }

  private async changes(fence: Fence, grant: Grant & { readonly nonce: Nonce }, isUsed: boolean): Promise<ChangeSet> {
    const isDone =
      grant.stage === 'overdue'
        ? await this.store.withdraw(fence, grant, pauseMs(grant))
        : await this.store.end(fence, grant);
    if (!isDone) return {};
    const slot = { signer: grant.signer, nonce: grant.nonce };
    return { slots: isUsed ? { forgotten: [slot] } : { released: [slot] } };
  }

  private async neverSigned(lease: Lease, grant: Grant): Promise<boolean> {
    let isDone = false;
    await this.write.underFence([lease], 'end_authorization', async (fence) => {
      isDone = await this.store.end(fence, grant);
      return {};
    });
    return isDone;
  }
}
