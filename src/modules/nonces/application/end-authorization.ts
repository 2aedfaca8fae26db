import { Injectable } from '@nestjs/common';
import { backoffMs } from '../../../kernel/backoff.js';
import type { AgreedCount } from '../../chain/index.js';
import type { Lease } from '../../signers/index.js';
import { AuthorizationStore, type ChangeSet, type Grant, WriteChanges } from '../../ledger/index.js';

/** The tx is not as it was read. */
const NOT_DONE: ChangeSet = {};
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
 * Ends a signed authorization, or takes it back from a tx that waits for too long or cannot go. The chain decides whether the nonce is used; if not, the
 * next payload of the signer gets it. If the bytes of the tx were sent, somebody may still use the signature: then the payload gets another nonce, like
 * after every foreign transaction.
 */
@Injectable()
export class EndAuthorization {
  constructor(
    private readonly store: AuthorizationStore,
    private readonly write: WriteChanges,
  ) {}

  /** @returns whether it has ended, or was taken back */
  async execute(lease: Lease, grant: Grant, agreed: AgreedCount | null): Promise<boolean> {
    const { stage, signer, nonce } = grant;
    if (nonce !== null && !agreed) return false;
    const isUsed = nonce !== null && agreed !== null && agreed.nonce > nonce;
    const changes = await this.write.underFence([lease], 'end_authorization', async (fence) => {
      const isDone =
        stage === 'overdue'
          ? await this.store.withdraw(fence, grant, pauseMs(grant))
          : await this.store.end(fence, grant);
      if (!isDone) return NOT_DONE;
      if (nonce === null) return {};
      const slot = { signer, nonce };
      return { slots: isUsed ? { forgotten: [slot] } : { released: [slot] } };
    });
    return changes !== NOT_DONE;
  }

  /** Ends the time of a tx that is in the way. Its owner, perhaps another node, closes its slot. */
  async endTime(lease: Lease, grant: Grant): Promise<void> {
    await this.write.underFence([lease], 'expire_authorization', async (fence) => {
      await this.store.expire(fence, grant);
      return {};
    });
  }
}
