import { Injectable } from '@nestjs/common';
import { Log } from '../../../platform/logging/log.js';
import { TRANSFER_GAS } from '../../../kernel/transaction-gas.js';
import { type ChainAccounts, type ChainFees, isFree, isTooLittleGas } from '../../chain/index.js';
import type { Lease } from '../../signers/index.js';
import { type Attempt, ManagedTx, WriteChanges } from '../../ledger/index.js';
import { noOpType, typeOfSlot } from '../domain/tx-type.js';
import { AttemptSigner } from './attempt-signer.js';
import { FeeRules } from './fee-rules.js';
import { GasRules, type WantedNoOp } from './gas-rules.js';
import { noOpDraft } from './drafts.js';
import type { Sending } from './send.js';
import { bindingFor, refusedForFunds, refusedForPrice } from '../domain/fee-bump.js';

/** A tx whose slot a no-op will consume, and all attempts for the slot. */
export interface SlotToConsume {
  readonly tx: ManagedTx;
  readonly attempts: readonly Attempt[];
}

/**
 * Signs and stores no-ops, at a higher price than every attempt that may be out with the same nonce. A no-op closes the slot of a payload
 * that is no longer wanted: the one of the two that is mined consumes the slot (docs/invariants.md, I7), and the payload never moves to
 * another nonce (I8). A no-op is also the next attempt of a refused fill.
 */
@Injectable()
export class SignNoOps {
  constructor(
    private readonly signer: AttemptSigner,
    private readonly fees: FeeRules,
    private readonly gas: GasRules,
    private readonly write: WriteChanges,
    private readonly log: Log,
  ) {}

  /** @returns what was signed; leaves out those whose price is above the caps, or was refused as too cheap at the caps */
  async execute(
    chain: ChainFees & Pick<ChainAccounts, 'balances'>,
    leases: readonly Lease[],
    wanted: readonly SlotToConsume[],
  ): Promise<Sending[]> {
    if (wanted.length === 0) return [];
    const quote = await chain.feeQuote();
    const balances = isFree(quote) ? await chain.balances(wanted.map(({ tx }) => tx.signer.address)) : [];
    const gas = await this.gas.ofNoOps(chain, wanted.map(noOpOf));
    const priced = wanted.flatMap(({ tx, attempts }, index) => {
      const gasLimit = gas[index] ?? TRANSFER_GAS;
      const last = lastNoOp(tx, attempts);
      // The same bytes, or dearer ones, cannot be paid either.
      if (last !== null && refusedForFunds(last) && gasLimit >= last.gasLimit) return [];
      const rivals = bindingFor(tx.id, attempts, quote.blockNumber);
      const forGas = balances[index] ?? null;
      const fees = this.fees.noOp(tx.signer, quote, rivals, gasLimit, refusalOf(tx, attempts), forGas);
      if (!fees)
        this.log.warn('no-op not signed: nodes refused the highest price that it can pay', {
          txId: tx.id,
          nonce: tx.nonce,
        });
      const type = noOpType(typeOfSlot(attempts), quote);
      return fees ? [{ tx, type, fees, gasLimit }] : [];
    });
    if (priced.length === 0) return [];
    const signed = await this.signer.sign(
      priced.map(({ tx, fees, type, gasLimit }) => noOpDraft(tx, fees, quote.blockNumber, type, gasLimit)),
    );
    const sendings = priced.flatMap(({ tx }, index): Sending[] => {
      const attempt = signed[index];
      return attempt ? [{ tx: withAttempt(tx, attempt), attempt }] : [];
    });
    await this.write.execute(leases, 'sign_no_op', {
      attempts: { inserted: signed },
      txs: sendings.map(({ tx }) => tx),
    });
    for (const { tx, attempt } of sendings)
      this.log.warn('no-op signed', { txId: tx.id, nonce: tx.nonce, kind: attempt.kind });
    return sendings;
  }
}

/** The words of the node for which the last no-op of the tx was too cheap. */
function refusalOf(tx: ManagedTx, attempts: readonly Attempt[]): string | null {
  const last = lastNoOp(tx, attempts);
  return last && refusedForPrice(last) ? tx.progress.lastError : null;
}

function noOpOf({ tx, attempts }: SlotToConsume): WantedNoOp {
  const last = lastNoOp(tx, attempts);
  const hadTooLittle = last !== null && isTooLittleGas(last.errorClass, tx.progress.lastError);
  const isUnpaid = last !== null && refusedForFunds(last);
  return { signer: tx.signer, tooLittle: hadTooLittle ? last.gasLimit : null, isUnpaid };
}

function lastNoOp(tx: ManagedTx, attempts: readonly Attempt[]): Attempt | null {
  const last = attempts.findLast(({ txId }) => txId === tx.id);
  return last && last.kind !== 'payload' ? last : null;
}

function withAttempt(tx: ManagedTx, attempt: Attempt): ManagedTx {
  const copy = ManagedTx.rehydrate(tx.progress);
  if (attempt.kind === 'cancel') copy.competitorSigned(attempt.txHash);
  else copy.repriced(attempt);
  return copy;
}
