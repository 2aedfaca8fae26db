import { Injectable } from '@nestjs/common';
import { groupBy } from '../../../kernel/group-by.js';
import type { FeeQuote } from '../../chain/index.js';
import { type Attempt, AttemptRepository, type RequestedTx } from '../../ledger/index.js';
import { slotKey } from '../../signers/index.js';
import { bindingFor, highestFees } from '../domain/fee-bump.js';
import { atMarket, hasOnePrice } from '../domain/fee-policy.js';
import { noOpType, txTypeOf, typeOfSlot } from '../domain/tx-type.js';
import type { AttemptDraft } from './attempt-signer.js';
import { gasLimitOf, noOpDraft, payloadDraft } from './drafts.js';
import { FeeRules } from './fee-rules.js';

/** The drafts of txs that hold a slot and have no attempt yet: payloads, and fills. */
@Injectable()
export class FirstDrafts {
  constructor(
    private readonly fees: FeeRules,
    private readonly attempts: AttemptRepository,
  ) {}

  /**
   * @param reserved the most wei of fees, by `slotKey`, of payloads that were not given their nonces just now: the caps may be others since then
   * @returns what makes the draft of one of the items
   */
  async of(
    quote: FeeQuote,
    items: readonly RequestedTx[],
    reserved: ReadonlyMap<string, bigint>,
  ): Promise<(item: RequestedTx) => AttemptDraft> {
    const fills = items.flatMap(({ tx }) => (tx.kind === 'fill' ? [tx] : []));
    const known = fills.length === 0 ? [] : await this.attempts.ofSlots(fills);
    const rivals = groupBy(
      known.filter(({ kind }) => kind !== 'fill'),
      slotKey,
    );
    return (item) =>
      item.tx.kind === 'fill'
        ? this.fill(item, quote, rivals.get(slotKey(item.tx)) ?? [])
        : this.payload(item, quote, reserved.get(slotKey(item.tx)) ?? null);
  }

  private payload(item: RequestedTx, quote: FeeQuote, reserved: bigint | null): AttemptDraft {
    const payload = { signer: item.tx.signer, request: item.request, gasLimit: gasLimitOf(item), reserved };
    const fees = this.fees.clamped(this.fees.capsOf(payload), payload, quote);
    return payloadDraft(item, fees, quote.blockNumber, txTypeOf(item.request, quote));
  }

  /**
   * A payload that had the nonce may be out still, although it has another one by now, or has failed: a reorg freed the nonce, or the database
   * lost commits. A fill at a lower price would be refused by the pools that have it, and it would be executed twice. The fill is of the type of what is
   * out: only blobs replace blobs, and the cap of tips would hold a fill below a gas price.
   */
  private fill({ tx, request }: RequestedTx, quote: FeeQuote, rivals: readonly Attempt[]): AttemptDraft {
    const gasLimit = gasLimitOf({ tx });
    const out = bindingFor(null, rivals, quote.blockNumber);
    // Null where the caps do not allow the price.
    const above = highestFees(out) ? this.fees.noOp(tx.signer, quote, out, gasLimit) : null;
    const type = noOpType(above === null ? null : typeOfSlot(out), quote);
    const fees = above !== null && hasOnePrice(type) ? { gasPrice: above.maxFeePerGas } : above;
    const priced = { ...atMarket(request.speed, type), fees: { ...request.fees, ...fees } };
    const fill = { signer: tx.signer, request: priced, gasLimit };
    return noOpDraft(
      tx,
      this.fees.clamped(this.fees.capsFor(tx.signer), fill, quote),
      quote.blockNumber,
      type,
      gasLimit,
    );
  }
}
