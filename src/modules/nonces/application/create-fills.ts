import { Injectable } from '@nestjs/common';
import { groupBy } from '../../../kernel/group-by.js';
import { signerKey } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import type { ChainConnector } from '../../chain/index.js';
import { FeeRules, noOpGas } from '../../sending/index.js';
import { type Lease, slotKey, type SlotRef } from '../../signers/index.js';
import {
  type Attempt,
  type AttemptFees,
  AttemptRepository,
  highestFees,
  NewFills,
  type RequestedTx,
  WriteChanges,
} from '../../transactions/index.js';

/** Stores fills on slots that no tx holds, in the commit that takes the slots. */
@Injectable()
export class CreateFills {
  constructor(
    private readonly fills: NewFills,
    private readonly attempts: AttemptRepository,
    private readonly fees: FeeRules,
    private readonly write: WriteChanges,
    private readonly log: Log,
  ) {}

  /** @returns the fills that are not signed yet, in no order; a fill of the previous version has its bytes, which are resent */
  async execute(chain: ChainConnector, leases: readonly Lease[], slots: readonly SlotRef[]): Promise<RequestedTx[]> {
    const gas = await noOpGas(
      chain,
      slots.map(({ signer }) => signer),
    );
    const known = await this.attempts.ofSlots(slots);
    const fees = await this.pricesAboveRivals(chain, known);
    const made = slots.flatMap((slot, index) => {
      const gasLimit = gas[index];
      return gasLimit === undefined ? [] : [this.fills.at(slot, gasLimit, fees.get(slotKey(slot)))];
    });
    await this.write.execute(leases, 'fill', {
      fills: made,
      slots: { filled: made.map(({ tx }) => ({ signer: tx.signer, nonce: tx.nonce, txId: tx.id })) },
      // After a reorg freed the nonce, attempts that were sent with it before may be mined again.
      attempts: { reopened: slots },
    });
    for (const { tx } of made)
      this.log.warn('fill created for nonce gap', { signer: signerKey(tx.signer), nonce: tx.nonce, txId: tx.id });
    const signed = new Set(known.filter(({ kind, txId }) => kind === 'fill' && txId === null).map(slotKey));
    return made.filter(({ tx }) => !signed.has(slotKey(tx)));
  }

  /**
   * Where a reorg freed the nonce, a payload that had it may be out still, although it has another nonce by now, or has failed. A fill at
   * a lower price would be refused by the pools that have it, and it would be executed twice.
   *
   * @param known all attempts of the slots
   * @returns fees by slot key, where such a payload exists and the caps allow the price
   */
  private async pricesAboveRivals(
    chain: ChainConnector,
    known: readonly Attempt[],
  ): Promise<ReadonlyMap<string, AttemptFees>> {
    const rivals = known.filter(({ kind }) => kind !== 'fill');
    if (rivals.length === 0) return new Map();
    const quote = await chain.feeQuote();
    return new Map(
      [...groupBy(rivals, slotKey)].flatMap(([slot, attempts]): [string, AttemptFees][] => {
        const signer = attempts[0]?.signer;
        const fees = signer && highestFees(attempts) ? this.fees.noOp(signer, quote, attempts) : null;
        return fees ? [[slot, fees]] : [];
      }),
    );
  }
}
