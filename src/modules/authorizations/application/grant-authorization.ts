import { Injectable } from '@nestjs/common';
import type { ChainConnector } from '../../chain/index.js';
import { CommittedCursors } from '../../lost-commits/index.js';
import { AuthorizationSigner } from '../../sending/index.js';
import { type Fence, grantNonces, type Lease, NonceLedger } from '../../signers/index.js';
import { type ChangeSet, type SignedAuthorization, WriteChanges } from '../../transactions/index.js';
import { AuthorizationStore } from '../domain/authorization-store.js';
import type { Grant } from '../domain/grant.js';
import { FindGrantNonce, type GrantNonce } from './find-grant-nonce.js';

/**
 * Signs the authorization of a signer for the tx of another one. The nonce, its slot and the signature in the request of the tx are one commit,
 * under the lease of the signer that signs.
 */
@Injectable()
export class GrantAuthorization {
  constructor(
    private readonly nonces: FindGrantNonce,
    private readonly signer: AuthorizationSigner,
    private readonly ledger: NonceLedger,
    private readonly store: AuthorizationStore,
    private readonly write: WriteChanges,
    private readonly cursors: CommittedCursors,
  ) {}

  /** @returns whether it is signed now */
  async execute(chain: ChainConnector, lease: Lease, grant: Grant): Promise<boolean> {
    if (!grant.isReady || grant.target === null) return false;
    const found = await this.nonces.execute(chain, lease);
    if (found === null) return false;
    const { signer } = lease;
    const signed = await this.signer.sign(signer, { ...grant.target, nonce: found.nonce });
    const { slots } = await this.write.underFence([lease], 'grant_authorization', (fence) =>
      this.changes(fence, lease, grant, signed, found),
    );
    if (!slots) return false;
    this.cursors.committed([{ signer, nonce: found.nonce }]);
    return true;
  }

  private async changes(
    fence: Fence,
    { signer }: Lease,
    grant: Grant,
    signed: SignedAuthorization,
    { nonce, chainNonces }: GrantNonce,
  ): Promise<ChangeSet> {
    await this.ledger.align(fence, chainNonces);
    const [sequence] = await this.ledger.read(fence, [signer], 1);
    if (!sequence) return {};
    const { nonces, cursor } = grantNonces(sequence.cursor, sequence.released, 1);
    // Something of the signer is not mined yet that only the chain knows, or the endpoints are behind.
    if (nonces[0] !== nonce || !(await this.store.grant(fence, grant, signed))) return {};
    return { slots: { held: [{ signer, nonce, txId: grant.id }], cursors: [{ from: sequence, to: cursor }] } };
  }
}
