import { Injectable } from '@nestjs/common';
import { Log } from '../../../platform/logging/log.js';
import { signerKey } from '../../../kernel/signer-id.js';
import { TRANSFER_GAS } from '../../../kernel/transaction-gas.js';
import { type ChainAccounts, type ChainFees, isFree, isTooLittleGas } from '../../chain/index.js';
import type { Lease } from '../../signers/index.js';
import { type Attempt, costOf, ManagedTx, WriteChanges } from '../../ledger/index.js';
import { noOpType, typeOfSlot } from '../domain/tx-type.js';
import { AskBalances } from './ask-balances.js';
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

type PricedNoOp = Pick<Attempt, 'gasLimit' | 'fees'>;

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
    private readonly balances: AskBalances,
    private readonly write: WriteChanges,
    private readonly log: Log,
  ) {}

  /**
   * @returns what was signed; leaves out those whose price is above the caps, or was refused as too cheap at the caps, and those that cost no less
   * than the last one, which could not be paid
   */
  async execute(
    chain: ChainFees & Pick<ChainAccounts, 'balances'>,
    leases: readonly Lease[],
    wanted: readonly SlotToConsume[],
  ): Promise<Sending[]> {
    if (wanted.length === 0) return [];
    const quote = await chain.feeQuote();
    const asked = wanted.filter((slot) => isFree(quote) || unpaidNoOp(slot) !== null).map(({ tx }) => tx.signer);
    const [balances, gas] = await Promise.all([
      this.balances.execute(chain, asked),
      this.gas.ofNoOps(chain, wanted.map(noOpOf)),
    ]);
    const priced = wanted.flatMap((slot, index) => {
      const { tx, attempts } = slot;
      const gasLimit = gas[index] ?? TRANSFER_GAS;
      const rivals = bindingFor(tx.id, attempts, quote.blockNumber);
      const balance = balances.get(signerKey(tx.signer)) ?? null;
      const forGas = isFree(quote) ? balance : null;
      const fees = this.fees.noOp(tx.signer, quote, rivals, gasLimit, refusalOf(tx, attempts), forGas);
      if (fees && !isPayable({ gasLimit, fees }, unpaidNoOp(slot), balance)) return [];
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

function noOpOf(slot: SlotToConsume): WantedNoOp {
  const { tx, attempts } = slot;
  const last = lastNoOp(tx, attempts);
  const hadTooLittle = last !== null && isTooLittleGas(last.errorClass, tx.progress.lastError);
  // Less gas than that of a plain transfer does not exist.
  const isUnpaid = (unpaidNoOp(slot)?.gasLimit ?? 0n) > TRANSFER_GAS;
  return { signer: tx.signer, tooLittle: hadTooLittle ? last.gasLimit : null, isUnpaid };
}

/** The last no-op of the slot, where the balance did not cover it. */
function unpaidNoOp({ tx, attempts }: SlotToConsume): Attempt | null {
  const last = lastNoOp(tx, attempts);
  return last && refusedForFunds(last) ? last : null;
}

/** Where the balance did not cover the last one, neither would it cover the same bytes, or dearer ones. */
function isPayable(next: PricedNoOp, unpaid: PricedNoOp | null, balance: bigint | null): boolean {
  if (unpaid === null) return true;
  const cost = costOfNoOp(next);
  return cost < costOfNoOp(unpaid) && (balance === null || cost <= balance);
}

/** The most wei that it can take. One that competes with blobs has one itself; the others have no price of blobs. */
function costOfNoOp({ gasLimit, fees }: PricedNoOp): bigint {
  return costOf({ value: 0n, gas: gasLimit, blobs: 1n }, fees);
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
