import { Injectable } from '@nestjs/common';
import { Unavailable } from '../../../kernel/errors.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { answeredWithin, Pauses } from '../../../platform/scheduling/pause.js';
import { type ChainConnector, Chains, type GasEstimate, RpcUnavailable } from '../../chain/index.js';
import { type AttemptFees, costOf, FundsRepository, type TxRequest } from '../../ledger/index.js';
import type { PolicyVerdict } from '../../policies/index.js';
import { IntakeRules } from '../../requests/index.js';
import { callOf, FeeRules, GasRules } from '../../sending/index.js';
import { unknownSigner } from '../../../kernel/unknown-signer.js';

/** An endpoint has 12 connections for estimates, and lanes need them: a flood of simulations takes a third of them at most. */
const MOST_AT_ONCE = 4;
/** A client waits for the answer, and this is for all that the chain is asked. */
const LONGEST_WAIT_MS = 5_000;

export const SIMULATED_OUTCOMES = [
  'succeeds',
  'reverts',
  'out_of_gas',
  'insufficient_funds',
  'rejected',
  'unknown',
] as const;

/** What would become of a request now. Wei. */
export interface Simulation {
  readonly outcome: (typeof SIMULATED_OUTCOMES)[number];
  /** In words of the chain; null when it succeeds. */
  readonly reason: string | null;
  /** What the endpoints estimate; null without an estimate. */
  readonly gas: bigint | null;
  /** What would be signed; null when it is not known. */
  readonly gasLimit: bigint | null;
  /** Of the first attempt; null when the market is too expensive for it, or its gas limit is not known. */
  readonly fees: AttemptFees | null;
  readonly feesRefusal: string | null;
  /** The most that the first attempt could cost, with its value and the L1 fee of a rollup; null when one of these is not known. */
  readonly cost: bigint | null;
  readonly balance: bigint;
  /** Null where no policy concerns it. */
  readonly policy: PolicyVerdict | null;
  /** Of the fees. */
  readonly blockNumber: number;
}

/** @returns undefined when the time of the simulation is over before the call has an answer */
type Within = <T>(call: Promise<T>) => Promise<T | undefined>;

/** Asks the chain what would become of a request, and stores nothing. On no worker of a lane, and never more than a few at once. */
@Injectable()
export class SimulateTx {
  private readonly running = new Map<ChainId, number>();

  constructor(
    private readonly chains: Chains,
    private readonly rules: IntakeRules,
    private readonly funds: FundsRepository,
    private readonly gas: GasRules,
    private readonly fees: FeeRules,
    private readonly pauses: Pauses,
  ) {}

  /**
   * @throws what {@link IntakeRules} throws of what is not possible; NotFound `unknown_signer`; Unprocessable `unknown_chain`
   * @throws Unavailable `simulations_busy`, and when the chain tells no fees or no balance
   */
  async execute(asked: Omit<TxRequest, 'requestHash'>): Promise<Simulation> {
    await this.rules.assertPossible(asked);
    const { signer } = asked;
    const chain = this.chains.get(signer.chainId);
    const [standing] = await this.funds.standing([signer]);
    if (standing?.isKnown !== true) throw unknownSigner(signer);
    return this.inTime(signer.chainId, (within) => this.ask(chain, asked, within));
  }

  private async ask(chain: ChainConnector, asked: Omit<TxRequest, 'requestHash'>, within: Within): Promise<Simulation> {
    const { signer, payload } = asked;
    const [estimates, quote, balances] = await Promise.all([
      within(chain.estimateGas([callOf(asked)])),
      within(chain.feeQuote()),
      within(chain.balances([signer.address])),
    ]);
    const estimate = estimates?.[0] ?? { kind: 'silent' as const, message: NO_ANSWER };
    if (quote === undefined) throw tooLate(signer.chainId, 'fees');
    if (balances === undefined) throw tooLate(signer.chainId, 'balance');
    const [balance = 0n] = balances;
    const gas = estimate.kind === 'ok' ? estimate.gas : null;
    const estimated = estimate.kind === 'ok' ? this.gas.limit(signer.chainId, estimate) : null;
    const gasLimit = payload.gasLimit ?? estimated;
    const item = gasLimit === null ? null : { signer, request: asked, gasLimit };
    const priced = item && this.fees.price(this.fees.capsOf(item), item, quote);
    const fees = priced && 'fees' in priced ? priced.fees : null;
    return {
      ...meaningOf(estimate, payload.gasLimit),
      ...{ gas, gasLimit, fees, balance },
      feesRefusal: priced && 'tooExpensive' in priced ? priced.tooExpensive : null,
      cost: gasLimit !== null && fees ? await costIn(chain, asked, gasLimit, fees, within) : null,
      policy: this.rules.policyOn(asked),
      blockNumber: quote.blockNumber,
    };
  }

  /** It counts until the last of its calls has ended, whoever waits for that. */
  private async inTime<T>(chainId: ChainId, work: (within: Within) => Promise<T>): Promise<T> {
    const running = this.running.get(chainId) ?? 0;
    if (running >= MOST_AT_ONCE)
      throw new Unavailable('simulations_busy', 'too many simulations of this chain are running', 'try again later');
    this.running.set(chainId, running + 1);
    const ended = new AbortController();
    const timeIsOver = this.pauses.pause(LONGEST_WAIT_MS, ended.signal);
    const calls: Promise<unknown>[] = [];
    try {
      return await work((call) => {
        calls.push(call);
        return answeredWithin(() => timeIsOver, LONGEST_WAIT_MS, call);
      });
    } finally {
      ended.abort();
      void Promise.allSettled(calls).then(() => this.running.set(chainId, (this.running.get(chainId) ?? 1) - 1));
    }
  }
}

const NO_ANSWER = `no endpoint answered within ${LONGEST_WAIT_MS} ms`;

function tooLate(chainId: ChainId, what: string): RpcUnavailable {
  return new RpcUnavailable('rpc_unavailable', { chainId, method: what }, NO_ANSWER);
}

function meaningOf(estimate: GasEstimate, given: bigint | null): Pick<Simulation, 'outcome' | 'reason'> {
  switch (estimate.kind) {
    case 'ok':
      return given !== null && given < estimate.gas
        ? { outcome: 'out_of_gas', reason: `payload.gasLimit is ${given}, and it needs ${estimate.gas}` }
        : { outcome: 'succeeds', reason: null };
    case 'reverted':
      return { outcome: 'reverts', reason: estimate.reason };
    case 'rejected':
    case 'insufficient_funds':
      return { outcome: estimate.kind, reason: estimate.message };
    case 'unclear':
    case 'silent':
    case 'unavailable':
      return { outcome: 'unknown', reason: estimate.message };
  }
}

async function costIn(
  chain: ChainConnector,
  { payload }: Pick<TxRequest, 'payload'>,
  gasLimit: bigint,
  fees: AttemptFees,
  within: Within,
): Promise<bigint | null> {
  const { data, accessList, value, blobHashes = [] } = payload;
  const l1Fees = await within(chain.l1DataFees([{ data, accessList, gas: gasLimit }]));
  if (l1Fees === undefined) return null;
  const [l1 = 0n] = l1Fees;
  return costOf({ value, gas: gasLimit, blobs: BigInt(blobHashes.length) }, fees) + l1;
}
