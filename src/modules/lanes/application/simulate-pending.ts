import { Injectable } from '@nestjs/common';
import { ExecutionConfig } from '../../../config/lockstep-config.js';
import type { ChainConnector, FeeQuote, GasEstimate } from '../../chain/index.js';
import type { Address } from '../../../kernel/hex.js';
import { backoffMs, triedForMs } from '../../../kernel/backoff.js';
import { awaitedAuthorities, costOf, type PendingTx } from '../../transactions/index.js';
import { callOf, FeeRules, withMargin } from '../../sending/index.js';
import { CoverCosts } from './cover-costs.js';
import { again, type PendingVerdict, type Simulated } from './pending-verdict.js';
import { PoolTurns } from './pool-turns.js';
import { RevertedEstimates } from './reverted-estimates.js';

/** Back-off before the next simulation; doubles with each simulation that has the same result. */
const FIRST_RETRY_MS = 2_000;
const FIRST_FEE_RETRY_MS = 5_000;

/** Not doubled, so that it does not miss its turn. */
const TURN_RETRY_MS = 1_000;
const WAITS_FOR_TURN: PendingVerdict = {
  kind: 'not_now',
  apply: (tx) =>
    tx.postponed(
      null,
      TURN_RETRY_MS,
      'waits for its turn: no pool takes it beside what its signer has in flight, or has authorized',
    ),
};
/** Also not doubled. The signers that sign make it due at once. */
const AUTHORIZATION_RETRY_MS = 5_000;

/** Simulates waiting txs in few round trips, so that a tx that cannot be mined now takes no nonce. */
@Injectable()
export class SimulatePending {
  constructor(
    private readonly fees: FeeRules,
    private readonly cover: CoverCosts,
    private readonly reverted: RevertedEstimates,
    private readonly turns: PoolTurns,
    private readonly config: ExecutionConfig,
  ) {}

  /** @returns a verdict for each tx, in the order given */
  async execute(chain: ChainConnector, pending: readonly PendingTx[]): Promise<PendingVerdict[]> {
    if (pending.length === 0) return [];
    const quote = await chain.feeQuote();
    const gas = await estimate(
      chain,
      pending.filter((item) => !item.expired && authoritiesOf(item).length === 0),
    );
    const reverting = await this.reverted.execute(chain, pending, gas);
    const dataFees = await chain.l1DataFees(pending.map(({ request }) => request.payload));
    const verdicts = pending.map((item, index) => {
      const estimated = gas.get(item.tx.id);
      const verdict = this.verdictOf(item, estimated, reverting.has(item.tx.id), quote);
      return verdict.kind === 'ready' ? { ...verdict, cost: verdict.cost + (dataFees[index] ?? 0n) } : verdict;
    });
    return this.cover.execute(chain, pending, await this.inTurn(pending, verdicts));
  }

  private async inTurn(pending: readonly PendingTx[], verdicts: readonly Simulated[]): Promise<readonly Simulated[]> {
    const waiting = await this.turns.execute(pending.filter((_, index) => verdicts[index]?.kind === 'ready'));
    if (waiting.size === 0) return verdicts;
    return verdicts.map((verdict, index) => (waiting.has(pending[index]?.tx.id ?? '') ? WAITS_FOR_TURN : verdict));
  }

  private verdictOf(
    { tx, request, expired }: PendingTx,
    gas: GasEstimate | undefined,
    isProvenRevert: boolean,
    quote: FeeQuote,
  ): Simulated {
    if (expired) return { kind: 'not_now', apply: (copy) => copy.expired() };
    const [authority] = authoritiesOf({ request });
    if (authority !== undefined) return waitsFor(authority);
    const own = request.payload.gasLimit;
    const estimated = own === null ? (gas ?? { kind: 'unavailable', message: 'the node gave no estimate' }) : null;
    if (estimated && estimated.kind !== 'ok') return this.withoutGas(estimated, isProvenRevert);
    const gasLimit = estimated ? withMargin(estimated.gas) : (own ?? 0n);
    const priced = this.fees.price(tx.signer, request, gasLimit, quote);
    const { value, blobHashes = [] } = request.payload;
    const amounts = { value, gas: gasLimit, blobs: BigInt(blobHashes.length) };
    if ('fees' in priced) return { kind: 'ready', gasLimit, cost: costOf(amounts, priced.fees) };
    return priced.limitedBy === 'chain'
      ? again('FEE_CAPPED', FIRST_FEE_RETRY_MS, priced.tooExpensive)
      : this.untilGivenUp(priced.tooExpensive);
  }

  private withoutGas(gas: Exclude<GasEstimate, { kind: 'ok' }>, isProvenRevert: boolean): Simulated {
    switch (gas.kind) {
      case 'reverted': {
        const error = `execution reverted: ${gas.reason}`;
        return isProvenRevert ? ends(error) : again('SIMULATION_REVERTED', FIRST_RETRY_MS, error);
      }
      case 'rejected':
        return isProvenRevert ? ends(gas.message) : again('SIMULATION_REVERTED', FIRST_RETRY_MS, gas.message);
      case 'insufficient_funds':
        return { kind: 'unfunded', error: gas.message };
      case 'unclear':
        return this.untilGivenUp(gas.message);
      case 'unavailable':
        return again('NODE_UNAVAILABLE', FIRST_RETRY_MS, gas.message);
    }
  }

  /** The node refuses this tx, and no rule proves that it can never succeed: retry until `giveUpAfter`. */
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

/** Signers that have to sign for it before its gas can be estimated. */
function authoritiesOf({ request }: Pick<PendingTx, 'request'>): Address[] {
  return awaitedAuthorities(request.payload.authorizationList);
}

function waitsFor(authority: Address): PendingVerdict {
  const reason = `waits until ${authority} has nothing in flight and has signed its authorization`;
  return { kind: 'not_now', apply: (tx) => tx.postponed(null, AUTHORIZATION_RETRY_MS, reason) };
}

function ends(reason: string): PendingVerdict {
  return { kind: 'not_now', apply: (tx) => tx.failed(reason) };
}

async function estimate(chain: ChainConnector, pending: readonly PendingTx[]): Promise<Map<string, GasEstimate>> {
  const asked = pending.filter(({ request }) => request.payload.gasLimit === null);
  const estimates = asked.length === 0 ? [] : await chain.estimateGas(asked.map(({ request }) => callOf(request)));
  return new Map(asked.flatMap(({ tx }, index): [string, GasEstimate][] => entry(tx.id, estimates[index])));
}

function entry(txId: string, gas: GasEstimate | undefined): [string, GasEstimate][] {
  return gas ? [[txId, gas]] : [];
}
