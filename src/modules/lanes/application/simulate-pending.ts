import { Injectable } from '@nestjs/common';
import { ExecutionConfig } from '../../../config/lockstep-config.js';
import { groupBy } from '../../../kernel/group-by.js';
import { minOf } from '../../../kernel/quantities.js';
import { signerKey } from '../../../kernel/signer-id.js';
import type { Call, ChainConnector, FeeQuote, GasEstimate } from '../../chain/index.js';
import { backoffMs, triedForMs } from '../../../kernel/backoff.js';
import type { ManagedTx, PendingTx, StoredRequest, TxSubState } from '../../transactions/index.js';
import { FeeRules } from '../../sending/index.js';
import { KnownBalances } from './known-balances.js';
import { RevertedEstimates } from './reverted-estimates.js';

/** What is to become of a waiting tx: worth a nonce, or something that is to be written down instead. */
export type PendingVerdict =
  /** `cost`: wei it takes from the balance at most. */
  | { readonly kind: 'ready'; readonly gasLimit: bigint; readonly cost: bigint }
  | { readonly kind: 'not_now'; readonly apply: (tx: ManagedTx) => void };

/** A block's state moves between estimate and execution; a quarter more gas is only paid for if it is used. */
const GAS_MARGIN_PERCENT = 125n;
/** EIP-7825: no transaction may have more gas than 2^24. The margin never goes past it. */
const MAX_TX_GAS = 1n << 24n;
/** Milliseconds until the next look, doubled with each that comes to the same. */
const FIRST_RETRY_MS = 2_000;
const FIRST_FUNDS_RETRY_MS = 5_000;
const FIRST_FEE_RETRY_MS = 5_000;

/** Looks at waiting txs with the chain's eyes, in few round trips, so that what cannot be mined now takes no nonce. */
@Injectable()
export class SimulatePending {
  constructor(
    private readonly fees: FeeRules,
    private readonly balances: KnownBalances,
    private readonly reverted: RevertedEstimates,
    private readonly config: ExecutionConfig,
  ) {}

  /** Answers in the order given. */
  async execute(chain: ChainConnector, pending: readonly PendingTx[]): Promise<PendingVerdict[]> {
    if (pending.length === 0) return [];
    const quote = await chain.feeQuote();
    const gas = await estimate(
      chain,
      pending.filter((item) => !item.expired),
    );
    const doomed = await this.reverted.execute(chain, pending, gas);
    const verdicts = pending.map((item) => {
      const said = gas.get(item.tx.id);
      return this.judgeOne(item, said, doomed.has(item.tx.id), quote);
    });
    return this.withinBalance(chain, pending, verdicts);
  }

  /** One after the other, as they will be mined: what does not fit into the balance waits, and holds up nobody. */
  private async withinBalance(
    chain: ChainConnector,
    pending: readonly PendingTx[],
    verdicts: readonly PendingVerdict[],
  ): Promise<PendingVerdict[]> {
    const ready = pending.flatMap(({ tx }, index) => {
      const verdict = verdicts[index];
      return verdict?.kind === 'ready' ? [{ signer: tx.signer, cost: verdict.cost }] : [];
    });
    await this.balances.refresh(
      chain,
      [...groupBy(ready, ({ signer }) => signerKey(signer)).values()].flatMap((items) => {
        const wei = items.reduce((sum, { cost }) => sum + cost, 0n);
        return items[0] ? [{ signer: items[0].signer, wei }] : [];
      }),
    );
    return verdicts.map((verdict, index) => {
      const signer = pending[index]?.tx.signer;
      if (verdict.kind !== 'ready' || (signer && this.balances.take(signer, verdict.cost))) return verdict;
      return again('INSUFFICIENT_FUNDS', FIRST_FUNDS_RETRY_MS, 'the balance does not cover value and gas');
    });
  }

  private judgeOne(
    { tx, request, expired }: PendingTx,
    gas: GasEstimate | undefined,
    isDoomed: boolean,
    quote: FeeQuote,
  ): PendingVerdict {
    if (expired) return { kind: 'not_now', apply: (copy) => copy.expired() };
    const own = request.payload.gasLimit;
    const estimated = own === null ? (gas ?? { kind: 'unavailable', message: 'the node gave no estimate' }) : null;
    if (estimated && estimated.kind !== 'ok') return this.withoutGas(estimated, isDoomed);
    const gasLimit = estimated ? withMargin(estimated.gas) : (own ?? 0n);
    const priced = this.fees.price(tx.signer.chainId, request, gasLimit, quote);
    if ('fees' in priced)
      return { kind: 'ready', gasLimit, cost: request.payload.value + gasLimit * priced.fees.maxFeePerGas };
    return priced.limitedBy === 'chain'
      ? again('FEE_CAPPED', FIRST_FEE_RETRY_MS, priced.tooDear)
      : this.untilGivenUp(priced.tooDear);
  }

  private withoutGas(gas: Exclude<GasEstimate, { kind: 'ok' }>, isDoomed: boolean): PendingVerdict {
    switch (gas.kind) {
      case 'reverted': {
        const error = `execution reverted: ${gas.reason}`;
        return isDoomed ? ends(error) : again('SIMULATION_REVERTED', FIRST_RETRY_MS, error);
      }
      case 'rejected':
        return isDoomed ? ends(gas.message) : again('SIMULATION_REVERTED', FIRST_RETRY_MS, gas.message);
      case 'insufficient_funds':
        return again('INSUFFICIENT_FUNDS', FIRST_FUNDS_RETRY_MS, gas.message);
      case 'unclear':
        return this.untilGivenUp(gas.message);
      case 'unavailable':
        return again('NODE_UNAVAILABLE', FIRST_RETRY_MS, gas.message);
    }
  }

  /** The node answers, and what it says is about this tx: it may be something that can never work. */
  private untilGivenUp(error: string): PendingVerdict {
    const { giveUpAfter } = this.config;
    return {
      kind: 'not_now',
      apply: (tx) => {
        const tries = tx.equalTries('NODE_REFUSED');
        if (triedForMs(FIRST_RETRY_MS, tries) >= giveUpAfter) tx.failed(`refused ${tries + 1} times: ${error}`);
        else tx.postponed('NODE_REFUSED', backoffMs(FIRST_RETRY_MS, tries), error);
      },
    };
  }
}

function ends(reason: string): PendingVerdict {
  return { kind: 'not_now', apply: (tx) => tx.failed(reason) };
}

/** With a timer, so that those behind it get their turn. */
function again(subState: TxSubState, firstMs: number, error: string): PendingVerdict {
  return {
    kind: 'not_now',
    apply: (tx) => tx.postponed(subState, backoffMs(firstMs, tx.equalTries(subState)), error),
  };
}

function withMargin(gas: bigint): bigint {
  const margin = (gas * GAS_MARGIN_PERCENT) / 100n;
  return gas >= MAX_TX_GAS ? gas : minOf(margin, MAX_TX_GAS);
}

async function estimate(chain: ChainConnector, pending: readonly PendingTx[]): Promise<Map<string, GasEstimate>> {
  const asked = pending.filter(({ request }) => request.payload.gasLimit === null);
  const estimates = asked.length === 0 ? [] : await chain.estimateGas(asked.map(({ request }) => callOf(request)));
  return new Map(asked.flatMap(({ tx }, index): [string, GasEstimate][] => entry(tx.id, estimates[index])));
}

function entry(txId: string, gas: GasEstimate | undefined): [string, GasEstimate][] {
  return gas ? [[txId, gas]] : [];
}

function callOf({ signer, payload }: StoredRequest): Call {
  return {
    from: signer.address,
    to: payload.to,
    value: payload.value,
    data: payload.data,
    accessList: payload.accessList,
  };
}
