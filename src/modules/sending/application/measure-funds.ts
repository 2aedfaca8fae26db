import { Injectable } from '@nestjs/common';
import { maxOf } from '../../../kernel/quantities.js';
import type { SignerId } from '../../../kernel/signer-id.js';
import { type ChainConnector, ChainRules } from '../../chain/index.js';
import { costOf, FundsRepository } from '../../ledger/index.js';
import { FeeRules } from './fee-rules.js';

/** The balance of a signer, and what its txs may take from it. Wei. */
export interface Funds {
  readonly signer: SignerId;
  readonly balance: bigint;
  readonly inFlight: bigint;
  /** An estimate: gas that was not asked for yet counts as the least that a transaction needs, at the present price. */
  readonly queued: { readonly count: number; readonly wei: bigint; readonly isCut: boolean };
  /** What the txs in flight leave of the balance. */
  readonly available: bigint;
  /** What the balance lacks for all txs in flight and in the queue. */
  readonly missing: bigint;
  /** It does not cover them, or is below `chains[].lowBalance`. */
  readonly isLow: boolean;
}

/** Compares balances with what txs in flight and in the queue may cost. */
@Injectable()
export class MeasureFunds {
  constructor(
    private readonly funds: FundsRepository,
    private readonly fees: FeeRules,
    private readonly rules: ChainRules,
  ) {}

  /** @param most queued txs that are counted of each signer. @returns in the given order */
  async execute(chain: ChainConnector, signers: readonly SignerId[], most: number): Promise<Funds[]> {
    if (signers.length === 0) return [];
    // Before the balances: a tx that is mined in between counts twice this time, and is not left out.
    const committed = await this.funds.committedWei(signers);
    const queues = await this.funds.queued(signers, most);
    const quote = await chain.feeQuote();
    const balances = await chain.balances(signers.map(({ address }) => address));
    return signers.map((signer, index) => {
      const balance = balances[index] ?? 0n;
      const inFlight = committed[index] ?? 0n;
      const queue = queues[index] ?? [];
      const count = queue.reduce((sum, cost) => sum + cost.count, 0);
      const wei = queue.reduce((sum, { fees, speed, count, ...amounts }) => {
        const request = { fees, speed, ...(amounts.blobs > 0n && { payload: { blobHashes: [] } }) };
        const payload = { signer, request, gasLimit: amounts.gas / BigInt(count) };
        return sum + costOf(amounts, this.fees.clamped(this.fees.capsOf(payload), payload, quote));
      }, 0n);
      const missing = maxOf(0n, inFlight + wei - balance);
      return {
        signer,
        balance,
        inFlight,
        queued: { count, wei, isCut: count >= most },
        available: maxOf(0n, balance - inFlight),
        missing,
        isLow: missing > 0n || balance < (this.rules.lowBalance(chain.chainId) ?? 0n),
      };
    });
  }
}
