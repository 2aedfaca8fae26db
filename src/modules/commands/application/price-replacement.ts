import { Injectable } from '@nestjs/common';
import { competingType, FeeRules, typeOfSlot, bindingFor } from '../../sending/index.js';
import { type Attempt, type AttemptFees, type RequestedTx, type TxType } from '../../ledger/index.js';
import { PRICE_REFUSALS } from '../domain/command-verdict.js';
import type { ChainAnswers } from './ask-chain.js';

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

/** Prices a replacement above everything that may be out with the same nonce, by what the chain said before. Asks no endpoint. */
@Injectable()
export class PriceReplacement {
  constructor(private readonly fees: FeeRules) {}

  /** @param ofSlot all attempts of the slot that it competes for */
  execute(
    { tx, request }: RequestedTx,
    ofSlot: readonly Attempt[],
    { quote, gas, balance }: ChainAnswers,
  ): PricedReplacement {
    const known = gas.get(tx.id);
    // Its client changed it since the chain was asked.
    if (quote === null || known === undefined || known.kind === 'later' || known.version !== tx.progress.version)
      return { kind: 'later' };
    if (known.kind === 'refused') return { kind: 'refused', reason: known.reason };
    const type = competingType(request, typeOfSlot(ofSlot), quote);
    const slot = {
      signer: tx.signer,
      request,
      attempts: bindingFor(tx.id, ofSlot, quote.blockNumber),
      type,
      gasLimit: known.gas,
      forGas: balance === null ? null : balance - request.payload.value,
      because: 'forced',
    } as const;
    const price = this.fees.bumped(slot, quote);
    if (price.kind === 'unaffordable') return { kind: 'refused', reason: PRICE_REFUSALS.unaffordable };
    if (price.kind !== 'fees')
      return {
        kind: 'refused',
        reason: 'a price above that of the original is above the caps of the chain or of its own fees',
      };
    return { kind: 'priced', fees: price.fees, type, gasLimit: known.gas, pricedAtBlock: quote.blockNumber };
  }
}
