import { Injectable } from '@nestjs/common';
import { ExecutionConfig } from '../../../config/lockstep-config.js';
import type { ChainConnector, FeeQuote, GasEstimate } from '../../chain/index.js';
import type { Address } from '../../../kernel/hex.js';
import { TRANSFER_GAS } from '../../../kernel/transaction-gas.js';
import { backoffMs, chanceOf, jittered, triedForMs } from '../../../kernel/backoff.js';
import {
  type AttemptFees,
  awaitedAuthorities,
  awaitedPermits,
  costOf,
  type PendingTx,
  type RequestedPermit,
} from '../../ledger/index.js';
import { FeeRules, GasRules, type Priced } from '../../sending/index.js';
import { again, CoverCosts, type PendingVerdict, type Simulated } from './cover-costs.js';
import { PoolTurns } from './pool-turns.js';
import { EstimatePending, type Look } from './estimate-pending.js';

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
/** It keeps what counts against it: an estimate that takes long is neither a refusal nor an outage. */
const NOT_YET_ESTIMATED: PendingVerdict = {
  kind: 'not_now',
  apply: (tx) => {
    const isRefused = tx.progress.subState === 'NODE_REFUSED';
    const subState = isRefused ? 'NODE_REFUSED' : 'NODE_UNAVAILABLE';
    const pauseMs = jittered(backoffMs(FIRST_RETRY_MS, tx.equalTries(subState)), chanceOf(tx.id));
    tx.postponed(subState, pauseMs, 'no endpoint has answered the estimate of its gas yet', !isRefused);
  },
};
const NO_PERMIT_NONCE = again('NODE_UNAVAILABLE', FIRST_RETRY_MS, 'no endpoint tells the nonce of its permit');
/** Also not doubled. The signers that sign make it due at once. */
const AUTHORIZATION_RETRY_MS = 5_000;
/** Doubled up to a minute. Its owner makes it due at once. */
const FIRST_PERMIT_MS = 5_000;

/** Simulates waiting txs in few round trips, so that a tx that cannot be mined now takes no nonce. */
@Injectable()
export class SimulatePending {
  constructor(
    private readonly fees: FeeRules,
    private readonly gas: GasRules,
    private readonly cover: CoverCosts,
    private readonly estimates: EstimatePending,
    private readonly turns: PoolTurns,
    private readonly config: ExecutionConfig,
  ) {}

  /** @returns a verdict for each tx, in the order given */
  async execute(chain: ChainConnector, pending: readonly PendingTx[]): Promise<PendingVerdict[]> {
    if (pending.length === 0) return [];
    const quote = await chain.feeQuote();
    const looks = await this.estimates.execute(chain, pending, pending.filter(needsEstimate));
    const verdicts = await withDataFees(
      chain,
      pending,
      pending.map((item) => this.verdictOf(item, looks.get(item.tx.id), quote)),
    );
    return this.cover.execute(chain, pending, await this.inTurn(pending, verdicts));
  }

  private async inTurn(pending: readonly PendingTx[], verdicts: readonly Simulated[]): Promise<readonly Simulated[]> {
    const waiting = await this.turns.waiting(pending.filter((_, index) => verdicts[index]?.kind === 'ready'));
    if (waiting.size === 0) return verdicts;
    return verdicts.map((verdict, index) => (waiting.has(pending[index]?.tx.id ?? '') ? WAITS_FOR_TURN : verdict));
  }

  private verdictOf(item: PendingTx, look: Look | undefined, quote: FeeQuote): Simulated {
    const { tx, request } = item;
    if (item.expired) return { kind: 'not_now', apply: (copy) => copy.expired() };
    // Its outside sender pays, and knows what for.
    if (tx.isHold) return { kind: 'ready', gasLimit: TRANSFER_GAS, cost: 0n };
    const [authority] = authoritiesOf({ request });
    const own = request.payload.gasLimit;
    if (authority !== undefined) return this.awaiting(item, waitsFor(authority), own ?? TRANSFER_GAS, quote);
    const permit = missingPermit(item, look);
    if (permit !== undefined) return this.awaiting(item, waitsForPermit(permit), own ?? TRANSFER_GAS, quote);
    if (needsEstimate(item) && look === undefined) return NOT_YET_ESTIMATED;
    if (look?.permits === 'unknown') return NO_PERMIT_NONCE;
    if (own === null && look && look.gas.kind !== 'ok') return this.withoutGas(look.gas, look.isProvenRevert);
    const gasLimit = own ?? (look?.gas.kind === 'ok' ? this.gas.limit(tx.signer.chainId, look.gas) : 0n);
    const priced = this.priced({ signer: tx.signer, request, gasLimit }, quote);
    return 'fees' in priced
      ? { kind: 'ready', gasLimit, cost: costs(request, gasLimit, priced.fees) }
      : this.unpriced(priced);
  }

  /** The signers that sign hold back their own payloads, and not for one that has no price now, or no money. */
  private awaiting(
    { tx, request }: Pick<PendingTx, 'tx' | 'request'>,
    verdict: PendingVerdict,
    leastGas: bigint,
    quote: FeeQuote,
  ): Simulated {
    const priced = this.priced({ signer: tx.signer, request, gasLimit: leastGas }, quote);
    if (!('fees' in priced)) return this.unpriced(priced);
    return { kind: 'awaits', cost: costs(request, leastGas, priced.fees), verdict };
  }

  private priced(payload: Parameters<FeeRules['price']>[1], quote: FeeQuote): Priced {
    return this.fees.price(this.fees.capsOf(payload), payload, quote);
  }

  private unpriced(priced: Extract<Priced, { tooExpensive: string }>): PendingVerdict {
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
      case 'silent':
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

/** Adds what the chain charges beside the price of the gas. */
async function withDataFees(
  chain: ChainConnector,
  pending: readonly PendingTx[],
  verdicts: readonly Simulated[],
): Promise<Simulated[]> {
  const calls = pending.flatMap(({ request }, index) => {
    const verdict = verdicts[index];
    return verdict?.kind === 'ready' ? [{ ...request.payload, gas: verdict.gasLimit }] : [];
  });
  const fees = await chain.l1DataFees(calls);
  let at = 0;
  return verdicts.map((verdict) =>
    verdict.kind === 'ready' ? { ...verdict, cost: verdict.cost + (fees[at++] ?? 0n) } : verdict,
  );
}

function costs({ payload }: PendingTx['request'], gas: bigint, fees: AttemptFees): bigint {
  const { value, blobHashes = [] } = payload;
  return costOf({ value, gas, blobs: BigInt(blobHashes.length) }, fees);
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

/** A permit that it needs before its gas can be estimated: one that is not made, or has to be made anew. */
function missingPermit({ request, lacksPermit }: PendingTx, look?: Look): RequestedPermit | undefined {
  const { permits = [] } = request.payload;
  const isStale = lacksPermit || look?.permits === 'stale';
  return awaitedPermits(permits)[0] ?? (isStale ? permits[0] : undefined);
}

function waitsForPermit({ owner, made }: RequestedPermit): PendingVerdict {
  const isMade = made !== undefined;
  const reason = `waits until ${owner} has signed its permit`;
  return {
    kind: 'not_now',
    // Its owner looks at one that is made shortly before its tx is due.
    apply: (tx) => tx.postponed(null, backoffMs(FIRST_PERMIT_MS, isMade ? 0 : tx.equalTries(null)), reason),
  };
}

/** With a permit, whatever its gas limit: the nonce of the permit is looked at with the estimate. */
function needsEstimate(item: PendingTx): boolean {
  if (item.expired || item.tx.isHold || authoritiesOf(item).length > 0) return false;
  const { permits, gasLimit } = item.request.payload;
  return permits === undefined ? gasLimit === null : missingPermit(item) === undefined;
}
