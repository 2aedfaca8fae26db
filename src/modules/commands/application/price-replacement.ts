import { Injectable } from '@nestjs/common';
import { type ChainConnector, SecondObservations } from '../../chain/index.js';
import { callOf, competingType, FeeRules, typeOfSlot, withMargin } from '../../sending/index.js';
import {
  type Attempt,
  type AttemptFees,
  hashOfStored,
  type RequestedTx,
  type TxType,
} from '../../transactions/index.js';
import { CommandStore } from '../domain/command-store.js';

/** What a replacement is signed with; or why it is not, or not now. */
export type PricedReplacement =
  | {
      readonly kind: 'priced';
      readonly fees: AttemptFees;
      readonly type: TxType;
      readonly gasLimit: bigint;
      readonly pricedAtBlock: number;
    }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'later' };

/** Estimates the gas of a replacement, and prices it above everything that may be out with the same nonce. */
@Injectable()
export class PriceReplacement {
  constructor(
    private readonly fees: FeeRules,
    private readonly observations: SecondObservations,
    private readonly store: CommandStore,
  ) {}

  /** @param ofSlot all attempts of the slot that it competes for */
  async execute(chain: ChainConnector, item: RequestedTx, ofSlot: readonly Attempt[]): Promise<PricedReplacement> {
    if (await this.store.hasExpired(item.tx.id)) return { kind: 'refused', reason: 'the replacement expired' };
    const gas = await this.gasOf(chain, item);
    if (typeof gas !== 'bigint') return gas;
    const quote = await chain.feeQuote();
    const { request, tx } = item;
    const type = competingType(request, typeOfSlot(ofSlot), quote);
    const slot = { signer: tx.signer, request, attempts: ofSlot, type, gasLimit: gas, because: 'forced' } as const;
    const price = this.fees.bumped(slot, quote);
    if (price.kind !== 'fees')
      return {
        kind: 'refused',
        reason: 'a price above that of the original is above the caps of the chain or of its own fees',
      };
    return { kind: 'priced', fees: price.fees, type, gasLimit: gas, pricedAtBlock: quote.blockNumber };
  }

  private async gasOf(chain: ChainConnector, { tx, request }: RequestedTx): Promise<bigint | PricedReplacement> {
    const { gasLimit } = request.payload;
    if (gasLimit !== null) return gasLimit;
    const [estimate] = await chain.estimateGas([callOf({ signer: tx.signer, payload: request.payload })]);
    if (estimate?.kind === 'ok') return withMargin(estimate.gas);
    if (estimate?.kind !== 'reverted' && estimate?.kind !== 'rejected') return { kind: 'later' };
    const reason = estimate.kind === 'reverted' ? `execution reverted: ${estimate.reason}` : estimate.message;
    // One answer proves nothing: the original may change what the replacement needs (docs/trust.md).
    const isProven = this.observations.agree(
      'fail_payload',
      `replacement ${tx.id} ${hashOfStored(request)}`,
      reason,
      await chain.head(),
    );
    return isProven ? { kind: 'refused', reason } : { kind: 'later' };
  }
}
