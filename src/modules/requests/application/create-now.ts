import { ForwardToOwner } from './forward-to-owner.js';
import { Injectable } from '@nestjs/common';
import { TxQueries, type TxRequest, type TxView } from '../../ledger/index.js';
import { CreateTx, type CreatedTx } from './create-tx.js';
import type { ForwardedAnswer, OriginalRequest } from './forwarding.js';
import type { IsRepeated } from './stored-requests.js';
import { waitForNonce } from './wait-for-nonce.js';
import { WaitForState } from './wait-for-state.js';

export type CreateNowResult =
  | { readonly kind: 'created'; readonly tx: CreatedTx; readonly view: TxView | null }
  | { readonly kind: 'forwarded'; readonly answer: ForwardedAnswer };

/** Creates a tx and returns its nonce, which only the owner of the signer can allocate. */
@Injectable()
export class CreateNow {
  constructor(
    private readonly createTx: CreateTx,
    private readonly owner: ForwardToOwner,
    private readonly wait: WaitForState,
    private readonly queries: TxQueries,
  ) {}

  /**
   * @param original the request to forward to the owner
   * @throws NotLeader when `intake.notLeader` is `reject`
   */
  async execute(
    request: Omit<TxRequest, 'requestHash'>,
    isRepeated: IsRepeated,
    original: OriginalRequest,
  ): Promise<CreateNowResult> {
    const answer = await this.owner.execute(request.signer, original);
    if (answer) return { kind: 'forwarded', answer };
    const tx = await this.createTx.execute(request, isRepeated);
    // A paused signer gives no nonce, so there is nothing to wait for.
    if (tx.nonce === null && !tx.isPaused) await waitForNonce(this.wait, tx.txId);
    return { kind: 'created', tx, view: await this.queries.find(tx.txId, request.sender) };
  }
}
