import { Injectable } from '@nestjs/common';
import { ExecutionConfig } from '../../../config/lockstep-config.js';
import { triedForMs } from '../../../kernel/backoff.js';
import { Log } from '../../../platform/logging/log.js';
import { type ChainConnector, type FeeQuote, type GasEstimate, isFree, SecondObservations } from '../../chain/index.js';
import { callOf, GasRules } from '../../sending/index.js';
import { hashRequest, requestText, ManagedTxRepository, type RequestedTx } from '../../ledger/index.js';
import { FIRST_PAUSE_MS, type TxCommand } from '../domain/tx-command.js';

/** The gas of a replacement; or why it has none, or none now. `version` is that of the tx that was asked about. */
export type ReplacementGas =
  | { readonly kind: 'gas'; readonly gas: bigint; readonly version: number }
  | { readonly kind: 'refused'; readonly reason: string; readonly version: number }
  | { readonly kind: 'later' };

/** What the chain says about some commands. */
export interface ChainAnswers {
  /** Null when no endpoint tells prices now. */
  readonly quote: FeeQuote | null;
  /** Of their signer, where gas is free: the account may be empty. Else null. */
  readonly balance: bigint | null;
  /** By the id of the replacement. */
  readonly gas: ReadonlyMap<string, ReplacementGas>;
}

export const NOTHING_ASKED: ChainAnswers = { quote: null, balance: null, gas: new Map() };

/** Asks the chain what commands need to know, before they enter the lane of their signer: others share its worker, and wait for no answer. */
@Injectable()
export class AskChain {
  constructor(
    private readonly repository: ManagedTxRepository,
    private readonly observations: SecondObservations,
    private readonly gas: GasRules,
    private readonly config: ExecutionConfig,
    private readonly log: Log,
  ) {}

  /** @param commands of one signer */
  async execute(chain: ChainConnector, commands: readonly TxCommand[]): Promise<ChainAnswers> {
    try {
      const quote = await chain.feeQuote();
      const triesOf = new Map(
        commands.flatMap(({ replacement, tries }): [string, number][] => (replacement ? [[replacement, tries]] : [])),
      );
      const replacements = await this.repository.requested([...triesOf.keys()]);
      return {
        quote,
        balance: await balanceOf(chain, quote, commands),
        gas: await this.gasOf(chain, replacements, triesOf),
      };
    } catch (error) {
      this.log.warn('commands wait: the chain gave no answer', { chainId: chain.chainId, error });
      return NOTHING_ASKED;
    }
  }

  private async gasOf(
    chain: ChainConnector,
    replacements: readonly RequestedTx[],
    triesOf: ReadonlyMap<string, number>,
  ): Promise<ReadonlyMap<string, ReplacementGas>> {
    const unknown = replacements.filter(({ request }) => request.payload.gasLimit === null);
    const calls = unknown.map(({ tx, request }) => callOf({ signer: tx.signer, payload: request.payload }));
    const estimates = calls.length === 0 ? [] : await chain.estimateGas(calls);
    const estimateOf = new Map(unknown.map(({ tx }, index) => [tx.id, estimates[index]]));
    const gas = new Map<string, ReplacementGas>();
    for (const item of replacements) {
      const { gasLimit } = item.request.payload;
      const { id, progress } = item.tx;
      if (gasLimit !== null) gas.set(id, { kind: 'gas', gas: gasLimit, version: progress.version });
      else gas.set(id, await this.meaning(chain, item, estimateOf.get(id), triesOf.get(id) ?? 0));
    }
    return gas;
  }

  private async meaning(
    chain: ChainConnector,
    { tx, request }: RequestedTx,
    estimate: GasEstimate | undefined,
    tries: number,
  ): Promise<ReplacementGas> {
    const { version } = tx.progress;
    if (estimate?.kind === 'ok') return { kind: 'gas', gas: this.gas.limit(chain.chainId, estimate), version };
    if (estimate?.kind === 'silent' || estimate?.kind === 'unclear') {
      // Like a payload: other questions are answered, and this one never is (docs/decisions/0014-refusals-have-an-end.md).
      const isOver = triedForMs(FIRST_PAUSE_MS, tries) >= this.config.giveUpAfter;
      const reason = `its gas was asked for ${tries + 1} times: ${estimate.message}`;
      return isOver ? { kind: 'refused', reason, version } : { kind: 'later' };
    }
    if (estimate?.kind !== 'reverted' && estimate?.kind !== 'rejected') return { kind: 'later' };
    const reason = estimate.kind === 'reverted' ? `execution reverted: ${estimate.reason}` : estimate.message;
    // One answer proves nothing: the original may change what the replacement needs (docs/trust.md).
    const about = `replacement ${tx.id} ${hashRequest(requestText(request))}`;
    const isProven = this.observations.agree('fail_payload', about, reason, await chain.head());
    return isProven ? { kind: 'refused', reason, version } : { kind: 'later' };
  }
}

async function balanceOf(
  chain: ChainConnector,
  quote: FeeQuote,
  [first]: readonly TxCommand[],
): Promise<bigint | null> {
  if (first === undefined || !isFree(quote)) return null;
  const [balance = null] = await chain.balances([first.signer.address]);
  return balance;
}
