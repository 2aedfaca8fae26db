import { Injectable } from '@nestjs/common';
import { IntakeConfig } from '../../../../config/lockstep-config.js';
import { TooMany } from '../../../../kernel/errors.js';
import { LeaseManager, NodeRegistry, NotLeader } from '../../../signers/index.js';
import type { TxRequest } from '../../domain/tx-request.js';
import { CreateTx, type CreatedTx } from './create-tx.js';
import { Forwarding, type ForwardedAnswer } from './forwarding.js';
import { TxQueries, type TxView } from '../queries/tx-views.js';
import { WaitForState } from '../queries/wait-for-state.js';

/** How long a create waits for its nonce; the tx is stored whatever comes of it. */
const WAIT_MS = 5_000;

export type CreateNowResult =
  | { readonly kind: 'created'; readonly tx: CreatedTx; readonly view: TxView | null }
  | { readonly kind: 'forwarded'; readonly answer: ForwardedAnswer };

/** A create that is to be answered with its nonce, which only the owner of the signer can give. */
@Injectable()
export class CreateNow {
  constructor(
    private readonly createTx: CreateTx,
    private readonly leases: LeaseManager,
    private readonly nodes: NodeRegistry,
    private readonly forwarding: Forwarding,
    private readonly wait: WaitForState,
    private readonly queries: TxQueries,
    private readonly config: IntakeConfig,
  ) {}

  /**
   * @param original what to pass on to the owner, if it is to be forwarded
   * @throws NotLeader when `intake.notLeader` is `reject`
   */
  async execute(
    request: Omit<TxRequest, 'requestHash'>,
    original: { readonly path: string; readonly body: unknown; readonly wasForwarded: boolean },
  ): Promise<CreateNowResult> {
    const { signer } = request;
    if (this.leases.held(signer) === null && this.config.notLeader !== 'accept' && !original.wasForwarded) {
      const holder = await this.nodes.holderOf(signer);
      // A lease that nobody holds is taken by whoever may; then this node is as good as its owner.
      const isOthers = holder !== null || !this.leases.isOurs(signer);
      if (isOthers && this.config.notLeader === 'reject') throw new NotLeader(signer, holder);
      if (holder?.advertisedUrl != null) {
        return { kind: 'forwarded', answer: await this.forwarding.forward(holder, original.path, original.body) };
      }
    }
    const tx = await this.createTx.execute(request);
    if (tx.nonce === null) await this.waitForNonce(tx.txId);
    return { kind: 'created', tx, view: await this.queries.find(tx.txId) };
  }

  /** The tx is stored: where too many wait already, it is answered as it is. */
  private async waitForNonce(txId: string): Promise<void> {
    try {
      await this.wait.execute(txId, 'ALLOCATED', WAIT_MS);
    } catch (error) {
      if (!(error instanceof TooMany)) throw error;
    }
  }
}
