import { Injectable } from '@nestjs/common';
import { groupBy } from '../../../kernel/group-by.js';
import { minOf } from '../../../kernel/quantities.js';
import { signerKey } from '../../../kernel/signer-id.js';
import type { Call, ChainConnector, FeeQuote, GasEstimate } from '../../chain/index.js';
import { initialFees } from '../domain/fee-policy.js';
import type { ManagedTx } from '../domain/managed-tx.js';
import type { PendingTx } from '../domain/managed-tx.repository.js';
import type { TxRequest } from '../domain/tx-request.js';
import { ChainRules } from './chain-rules.js';
import { KnownBalances } from './known-balances.js';

/** What is to become of a waiting tx: worth a nonce, or something that is to be written down instead. */
export type PendingVerdict =
  | { readonly kind: 'ready'; readonly gasLimit: bigint }
  | { readonly kind: 'not_now'; readonly apply: (tx: ManagedTx) => void };

/** A block's state moves between estimate and execution; a quarter more gas is only paid for if it is used. */
const GAS_MARGIN_PERCENT = 125n;
/** EIP-7825: no transaction may have more gas than 2^24. The margin never goes past it. */
const MAX_TX_GAS = 1n << 24n;
const UNAVAILABLE_RETRY_MS = 2_000;
const FUNDS_RETRY_MS = 5_000;
const FEE_RETRY_MS = 15_000;

/** Looks at waiting txs with the chain's eyes, in few round trips, so that what cannot be mined now takes no nonce. */
@Injectable()
export class JudgePending {
  constructor(
    private readonly rules: ChainRules,
    private readonly balances: KnownBalances,
  ) {}

  /** Answers in the order given. */
  async execute(chain: ChainConnector, pending: readonly PendingTx[]): Promise<PendingVerdict[]> {
    if (pending.length === 0) return [];
    const quote = await chain.feeQuote();
    const gas = await estimate(
      chain,
      pending.filter((item) => !item.expired),
    );
    const verdicts = pending.map((item) => judgeOne(item, gas.get(item.tx.id), quote));
    return this.withinBalance(chain, quote, pending, verdicts);
  }

  /** One after the other, as they will be mined: what does not fit into the balance waits, and holds up nobody. */
  private async withinBalance(
    chain: ChainConnector,
    quote: FeeQuote,
    pending: readonly PendingTx[],
    verdicts: readonly PendingVerdict[],
  ): Promise<PendingVerdict[]> {
    const feeCap = this.rules.feeCap(chain.chainId);
    const judged = pending.map(({ tx, request }, index) => {
      const verdict = verdicts[index] ?? { kind: 'not_now', apply: retryLater('no verdict') };
      const gas = verdict.kind === 'ready' ? verdict.gasLimit * initialFees(request, quote, feeCap).maxFeePerGas : 0n;
      return { verdict, signer: tx.signer, cost: verdict.kind === 'ready' ? request.payload.value + gas : 0n };
    });
    const bySigner = groupBy(
      judged.filter(({ verdict }) => verdict.kind === 'ready'),
      ({ signer }) => signerKey(signer),
    );
    await this.balances.refresh(
      chain,
      [...bySigner.values()].flatMap((items) => {
        const wei = items.reduce((sum, { cost }) => sum + cost, 0n);
        return items[0] ? [{ signer: items[0].signer, wei }] : [];
      }),
    );
    return judged.map(({ verdict, signer, cost }) =>
      verdict.kind !== 'ready' || this.balances.take(signer, cost)
        ? verdict
        : { kind: 'not_now', apply: lacksFunds('the balance does not cover value and gas') },
    );
  }
}

function judgeOne({ request, expired }: PendingTx, gas: GasEstimate | undefined, quote: FeeQuote): PendingVerdict {
  if (expired) return { kind: 'not_now', apply: (tx) => tx.expired() };
  const { maxFeePerGas } = request.fees;
  if (maxFeePerGas !== null && maxFeePerGas < quote.baseFeePerGas) {
    const error = `maxFeePerGas ${maxFeePerGas} is below the base fee ${quote.baseFeePerGas}`;
    return { kind: 'not_now', apply: (tx) => tx.postponed('FEE_CAPPED', FEE_RETRY_MS, error) };
  }
  const { gasLimit } = request.payload;
  return gasLimit === null ? fromEstimate(gas) : { kind: 'ready', gasLimit };
}

function fromEstimate(gas: GasEstimate | undefined): PendingVerdict {
  switch (gas?.kind) {
    case 'ok':
      return { kind: 'ready', gasLimit: withMargin(gas.gas) };
    case 'reverted':
      return { kind: 'not_now', apply: (tx) => tx.failed(`execution reverted: ${gas.reason}`) };
    case 'rejected':
      return { kind: 'not_now', apply: (tx) => tx.failed(gas.message) };
    case 'insufficient_funds':
      return { kind: 'not_now', apply: lacksFunds(gas.message) };
    case 'unavailable':
    case undefined:
      return { kind: 'not_now', apply: retryLater(gas?.message ?? 'the node gave no estimate') };
  }
}

function withMargin(gas: bigint): bigint {
  const margin = (gas * GAS_MARGIN_PERCENT) / 100n;
  return gas >= MAX_TX_GAS ? gas : minOf(margin, MAX_TX_GAS);
}

function lacksFunds(error: string): (tx: ManagedTx) => void {
  return (tx) => tx.postponed('INSUFFICIENT_FUNDS', FUNDS_RETRY_MS, error);
}

/** With a timer, so that those behind it get their turn. */
function retryLater(error: string): (tx: ManagedTx) => void {
  return (tx) => tx.postponed(null, UNAVAILABLE_RETRY_MS, error);
}

async function estimate(chain: ChainConnector, pending: readonly PendingTx[]): Promise<Map<string, GasEstimate>> {
  const asked = pending.filter(({ request }) => request.payload.gasLimit === null);
  const estimates = asked.length === 0 ? [] : await chain.estimateGas(asked.map(({ request }) => callOf(request)));
  return new Map(asked.flatMap(({ tx }, index): [string, GasEstimate][] => entry(tx.id, estimates[index])));
}

function entry(txId: string, gas: GasEstimate | undefined): [string, GasEstimate][] {
  return gas ? [[txId, gas]] : [];
}

function callOf({ signer, payload }: TxRequest): Call {
  return {
    from: signer.address,
    to: payload.to,
    value: payload.value,
    data: payload.data,
    accessList: payload.accessList,
  };
}
