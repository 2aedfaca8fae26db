import { Injectable } from '@nestjs/common';
import { type Nonce, signerKey } from '../../../kernel/signer-id.js';
import type { AgreedCount, ChainConnector } from '../../chain/index.js';
import { AdmitLanes, CommittedCursors } from '../../lost-commits/index.js';
import { AlignNonces, FillNonceGaps } from '../../nonces/index.js';
import { AuthorizationSigner } from '../../sending/index.js';
import { type Fence, grantNonces, type Lease, NonceLedger, type SlotRef } from '../../signers/index.js';
import {
  AuthorizationStore,
  type ChangeSet,
  Doorbell,
  type Grant,
  LaneMemory,
  type SignedAuthorization,
  WriteChanges,
} from '../../ledger/index.js';

/** The next nonce of a signer on its chain, and with what to align its cursor. */
interface GrantNonce {
  readonly nonce: Nonce;
  readonly chainNonces: readonly SlotRef[];
}

interface Granting extends GrantNonce {
  readonly signed: SignedAuthorization;
  /** Of the policies by which its signer may give it. */
  readonly policyMark: string;
}

/**
 * Something of the signer is not mined yet that only the chain knows, or the endpoints are behind; or the next nonce on the chain is one that no payload
 * gets.
 */
const NOT_NEXT: ChangeSet = {};

/** Which nonce an authorization of a signer needs, by what the chain said before. With any other one the chain ignores it. */
@Injectable()
export class FindGrantNonce {
  constructor(
    private readonly admit: AdmitLanes,
    private readonly align: AlignNonces,
    private readonly gaps: FillNonceGaps,
    private readonly memory: LaneMemory,
    private readonly doorbell: Doorbell,
  ) {}

  /** Null while it is not known. */
  async find(chain: ChainConnector, lease: Lease, agreed: AgreedCount): Promise<GrantNonce | null> {
    const { signer } = lease;
    if (this.memory.needsRecovery(lease)) {
      // Its lane asks the chain what the signer has sent.
      this.doorbell.ring([signer]);
      return null;
    }
    if ((await this.admit.execute(chain, [lease])).length === 0) return null;
    this.memory.distrustNonce(signer);
    const said = { transactionCounts: async () => [agreed.nonce], agreedCounts: async () => [agreed] };
    const { nonces, held } = await this.align.execute(said, [lease]);
    return held.has(signerKey(signer)) ? null : { nonce: agreed.nonce, chainNonces: nonces };
  }

  /** What an outside sender gave back, only a no-op takes, and until then it is the next nonce of the signer on the chain. */
  async free(chain: ChainConnector, lease: Lease): Promise<void> {
    await this.gaps.fillAll(chain.chainId, lease);
  }
}

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

  /** Whether somebody here signs for it: of an external signer only its owner knows that nobody does. */
  isSigning({ signer }: Grant): boolean {
    return this.signer.isSigning(signer);
  }

  /** @returns whether it is signed now */
  async execute(
    chain: ChainConnector,
    lease: Lease,
    grant: Grant,
    agreed: AgreedCount | null,
    policyMark: Granting['policyMark'],
  ): Promise<boolean> {
    if (!grant.isReady || grant.target === null || agreed === null) return false;
    const found = await this.nonces.find(chain, lease, agreed);
    if (found === null) return false;
    const { signer } = lease;
    const signed = await this.signer.sign(signer, { ...grant.target, nonce: found.nonce });
    const changes = await this.write.underFence([lease], 'grant_authorization', (fence) =>
      this.changes(fence, lease, grant, { ...found, signed, policyMark }),
    );
    if (changes === NOT_NEXT) await this.nonces.free(chain, lease);
    if (!changes.slots) return false;
    this.cursors.committed([{ signer, nonce: found.nonce }]);
    return true;
  }

  private async changes(
    fence: Fence,
    { signer }: Lease,
    grant: Grant,
    { nonce, chainNonces, signed, policyMark }: Granting,
  ): Promise<ChangeSet> {
    await this.ledger.align(fence, chainNonces);
    const [sequence] = await this.ledger.read(fence, [signer], 1);
    if (!sequence) return {};
    const { nonces, cursor } = grantNonces(sequence.cursor, sequence.released, 1);
    if (nonces[0] !== nonce) return NOT_NEXT;
    if (!(await this.store.grant(fence, grant, signed, policyMark))) return {};
    return { slots: { held: [{ signer, nonce, txId: grant.id }], cursors: [{ from: sequence, to: cursor }] } };
  }
}
