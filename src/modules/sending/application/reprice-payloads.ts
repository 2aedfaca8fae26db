import { Injectable } from '@nestjs/common';
import { ResubmitConfig } from '../../../config/lockstep-config.js';
import { actionOf, type ChainFees, type FeeQuote } from '../../chain/index.js';
import { type Lease, slotKey } from '../../signers/index.js';
import {
  type Attempt,
  type AttemptFees,
  ManagedTx,
  ManagedTxRepository,
  mayBeInPool,
  type RequestedTx,
  WriteChanges,
} from '../../ledger/index.js';
import { anotherMayBeInPool, type Sending } from './send.js';
import { AttemptSigner } from './attempt-signer.js';
import { SEND_WITHIN_MS } from './bump-attempts.js';
import { bindingFor, refusedForFunds, refusedForPrice, sameFees } from '../domain/fee-bump.js';
import { FeeRules } from './fee-rules.js';
import { gasLimitOf, payloadDraft } from './drafts.js';
import { ReservedFees } from './reserved-fees.js';

/** A tx whose bytes every node refused, and all its attempts, oldest first. */
export interface RefusedTx {
  readonly tx: ManagedTx;
  readonly attempts: readonly Attempt[];
  /** Also those of the txs that compete with it. */
  readonly ofSlot: readonly Attempt[];
}

interface Known extends RefusedTx {
  readonly last: Attempt;
}

/**
 * Signs a payload again with the same nonce: with other fees, when every node refused it because its price is too low or too high, and no pool
 * says that it has one of its attempts (the new price may also be lower, unless it has to outbid another tx of its slot); and with other gas,
 * when nodes refused it as having too little, or as too dear with more, at a price above what a pool may have. Only one of its attempts can be mined.
 */
@Injectable()
export class RepricePayloads {
  constructor(
    private readonly signer: AttemptSigner,
    private readonly fees: FeeRules,
    private readonly write: WriteChanges,
    private readonly repository: ManagedTxRepository,
    private readonly config: ResubmitConfig,
    private readonly reserved: ReservedFees,
  ) {}

  /** @returns what was signed again; the other txs keep their bytes */
  async execute(chain: ChainFees, leases: readonly Lease[], refused: readonly RefusedTx[]): Promise<Sending[]> {
    const wanted = refused.filter((item) => this.isDue(item));
    if (wanted.length === 0) return [];
    const quote = await chain.feeQuote();
    const requests = await this.repository.requested(wanted.map(({ tx }) => tx.id));
    const reserved = await this.reserved.of(leases, requests);
    const drafts = requests.flatMap((item) => {
      const known = wanted.find(({ tx }) => tx.id === item.tx.id);
      const last = known?.attempts.at(-1);
      const fees =
        known && last ? this.newFees(item, { ...known, last }, quote, reserved.get(slotKey(item.tx)) ?? null) : null;
      return fees && last ? [{ tx: item.tx, draft: payloadDraft(item, fees, quote.blockNumber, last.type) }] : [];
    });
    const signed = await this.signer.sign(drafts.map(({ draft }) => draft));
    if (signed.length === 0) return [];
    const sendings = signed.flatMap((attempt, index): Sending[] => {
      const tx = drafts[index]?.tx;
      if (!tx) return [];
      const copy = ManagedTx.rehydrate(tx.progress);
      if (copy.state === 'IN_MEMPOOL') copy.bumped(attempt, SEND_WITHIN_MS);
      else copy.repriced(attempt);
      return [{ tx: copy, attempt }];
    });
    const copies = sendings.map(({ tx }) => tx);
    await this.write.execute(leases, 'reprice', {
      attempts: { inserted: signed },
      txs: copies.filter(({ state }) => state === 'IN_MEMPOOL'),
      noted: copies.filter(({ state }) => state !== 'IN_MEMPOOL'),
    });
    return sendings;
  }

  /** Whether its bytes were refused for their price or their gas, so that others may help. */
  isDue(item: RefusedTx): boolean {
    return this.isAboutPrice(item) || needsGas(item);
  }

  private isAboutPrice({ tx, attempts }: RefusedTx): boolean {
    const last = attempts.at(-1);
    if (
      tx.kind !== 'payload' ||
      tx.state !== 'ALLOCATED' ||
      last?.errorClass == null ||
      attempts.length >= this.config.maxRefusals
    )
      return false;
    const isPrice = actionOf(last.errorClass).response === 'reprice' || last.errorClass === 'node_fee_cap_exceeded';
    return isPrice && !attempts.some(mayBeInPool);
  }

  /** Null when there is no other price to try. */
  private newFees(
    { tx, request }: RequestedTx,
    known: Known,
    quote: FeeQuote,
    reserved: bigint | null,
  ): AttemptFees | null {
    const { attempts, ofSlot, last } = known;
    const gasLimit = gasLimitOf({ tx });
    if (gasLimit === 0n) return null;
    const payload = { signer: tx.signer, request, gasLimit, reserved };
    const caps = this.fees.capsOf(payload);
    const priced = this.fees.price(caps, payload, quote);
    if (!('fees' in priced)) return null;
    const isOther = (fees: AttemptFees): boolean => attempts.every((attempt) => !sameFees(attempt.fees, fees));
    const slot = { ...payload, attempts: bindingFor(tx.id, ofSlot, quote.blockNumber), type: last.type };
    if (needsGas(known)) {
      const bump = this.fees.bumped({ ...slot, because: 'forced' }, quote);
      return bump.kind === 'fees' ? bump.fees : null;
    }
    if (refusedForPrice(last)) {
      const bump = this.fees.bumped({ ...slot, because: { refusal: tx.progress.lastError ?? '' } }, quote);
      return bump.kind === 'fees' ? bump.fees : null;
    }
    if (anotherMayBeInPool(last, ofSlot)) {
      const bump = this.fees.bumped({ ...slot, because: 'forced' }, quote);
      return bump.kind === 'fees' && isOther(bump.fees) ? bump.fees : null;
    }
    if (isOther(priced.fees)) return priced.fees;
    const other = this.fees.lower(caps, last, gasLimit, quote);
    return other && isOther(other) ? other : null;
  }
}

/** Nodes refused its last bytes for their gas, or for what that costs, and other gas was found ({@link ManagedTx.wantsGas}). */
function needsGas({ tx, attempts }: RefusedTx): boolean {
  const last = attempts.at(-1);
  if (last?.kind !== 'payload' || last.errorClass === null || tx.isClosing) return false;
  const isAboutGas = actionOf(last.errorClass).response === 'fail_payload' || refusedForFunds(last);
  return isAboutGas && gasLimitOf({ tx }) !== last.gasLimit;
}
