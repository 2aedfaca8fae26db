import { Conflict } from '../../../kernel/errors.js';
import { signerKey, type SignerId } from '../../../kernel/signer-id.js';
import type { LeaseHolder } from './node-registry.js';

/** Another node acts for the signer, and this node may not handle the request in its place. Nothing was stored. */
export class NotLeader extends Conflict {
  override readonly retryable = true;
  /** Seconds until a new request can succeed. */
  override readonly retryAfterSeconds: number;

  constructor(signer: SignerId, holder: LeaseHolder | null) {
    super(
      'not_leader',
      `another node acts for ${signer.address}`,
      'send the request to the owner, or try again later',
      {
        signer: signerKey(signer),
        ownerNodeId: holder?.nodeId ?? null,
        ownerUrl: holder?.advertisedUrl ?? null,
      },
    );
    this.retryAfterSeconds = Math.max(1, Math.ceil((holder?.expiresInMs ?? 0) / 1000));
  }
}
