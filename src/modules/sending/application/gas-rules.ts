import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import { groupBy } from '../../../kernel/group-by.js';
import { maxOf, minOf } from '../../../kernel/quantities.js';
import { inSlices } from '../../../kernel/in-slices.js';
import { type ChainId, signerKey, type SignerId } from '../../../kernel/signer-id.js';
import { TRANSFER_GAS, withMargin } from '../../../kernel/transaction-gas.js';
import { FairAsk } from '../../../platform/scheduling/fair-ask.js';
import { Pauses } from '../../../platform/scheduling/pause.js';
import { type Call, type ChainFees, ChainRules, type GasEstimate } from '../../chain/index.js';
import { noOpPayload } from '../../ledger/index.js';

type Estimated = Extract<GasEstimate, { readonly kind: 'ok' }>;

const MAX_ESTIMATES_PER_CALL = 50;
/** What a no-op costs changes with the L1 of a rollup, and with what its account delegates to (EIP-7702). */
const NO_OP_KEPT_MS = 3_600_000;

interface KnownNoOp {
  readonly chainId: ChainId;
  readonly gas: bigint;
  readonly atMs: number;
}

export interface WantedNoOp {
  readonly signer: SignerId;
  /** Gas of a no-op for the same slot that nodes refused as too little. */
  readonly tooLittle?: bigint | null;
  /** Whether one for the same slot could not be paid: its gas may have been estimated wrongly, or is outdated. */
  readonly isUnpaid?: boolean;
}

/** What a node estimates for a signer. */
export interface GasQuestion {
  readonly signer: SignerId;
  /** Names what is asked, also in a later step. */
  readonly key: string;
  readonly call: Call;
}

/** Computes every gas limit that Lockstep chooses. */
@Injectable()
export class GasRules {
  private readonly noOps = new Map<string, KnownNoOp>();
  private readonly asked: FairAsk<GasQuestion, GasEstimate>;

  constructor(
    private readonly rules: ChainRules,
    private readonly clock: Clock,
    { pause }: Pauses,
  ) {
    const actorOf = ({ signer }: GasQuestion): string => signerKey(signer);
    const batches = (questions: readonly GasQuestion[]) => inSlices(questions, MAX_ESTIMATES_PER_CALL);
    this.asked = new FairAsk({ actorOf, keyOf: ({ key }) => key, batches }, clock, pause);
  }

  /** The gas limit for an estimate. */
  limit(chainId: ChainId, { gas, blockGas }: Omit<Estimated, 'kind'>): bigint {
    return withMargin(gas, blockGas, this.rules.transactionGasCap(chainId));
  }

  /** In the given order; undefined where there is no answer in time. No signer waits for the estimate of another one. */
  async estimates(chain: ChainFees, questions: readonly GasQuestion[]): Promise<(GasEstimate | undefined)[]> {
    const told = await this.asked.execute(questions, (some) => chain.estimateGas(some.map(({ call }) => call)));
    const answers = new Map(told.map((one) => [one.item.key, one.kind === 'answered' ? one.answer : undefined]));
    return questions.map(({ key }) => answers.get(key));
  }

  /**
   * Gas of a no-op of each signer, in the given order; estimated once an hour, and again when it was refused. It is that of a plain transfer
   * on most chains; others count what they pay to their L1, or all that a transaction costs them, as gas.
   */
  async ofNoOps(chain: ChainFees, wanted: readonly WantedNoOp[]): Promise<bigint[]> {
    const nowMs = this.clock.monotonicMs();
    for (const [key, { atMs }] of this.noOps) if (nowMs - atMs >= NO_OP_KEPT_MS) this.noOps.delete(key);
    const open = wanted.filter(
      ({ signer, tooLittle, isUnpaid }) => tooLittle != null || isUnpaid === true || !this.noOps.has(signerKey(signer)),
    );
    const bySigner = groupBy(open, ({ signer }) => signerKey(signer));
    const questions = [...bySigner].flatMap(([key, [first]]) => (first ? [noOpQuestion(key, first.signer)] : []));
    const estimates = await this.estimates(chain, questions);
    [...bySigner].forEach(([key, own], index) => {
      const tooLittle = own.reduce((most, each) => maxOf(most, each.tooLittle ?? 0n), 0n);
      const gas = this.ofNoOp(chain.chainId, estimates[index], tooLittle);
      if (gas === null) this.noOps.delete(key);
      else this.noOps.set(key, { chainId: chain.chainId, gas, atMs: nowMs });
    });
    return wanted.map(({ signer }) => this.noOps.get(signerKey(signer))?.gas ?? this.ofChain(chain.chainId));
  }

  /** An estimate above what a transaction may have is no reason to sign one that no node accepts. Null when nothing is known. */
  private ofNoOp(chainId: ChainId, estimate: GasEstimate | undefined, tooLittle: bigint): bigint | null {
    const { gas, blockGas }: Omit<Estimated, 'kind'> = estimate?.kind === 'ok' ? estimate : { gas: 0n };
    if (gas === 0n && tooLittle === 0n) return null;
    const cap = this.rules.transactionGasCap(chainId);
    const limit = gas === TRANSFER_GAS ? gas : withMargin(gas, blockGas, cap);
    const bounds = [cap ?? 0n, blockGas ?? 0n].filter((bound) => bound > 0n);
    return bounds.reduce(minOf, maxOf(limit, withMargin(tooLittle, blockGas, cap)));
  }

  /** What the chain wanted for others. */
  private ofChain(chainId: ChainId): bigint {
    const known = [...this.noOps.values()].filter((noOp) => noOp.chainId === chainId);
    return known.reduce((most, { gas }) => maxOf(most, gas), TRANSFER_GAS);
  }
}

function noOpQuestion(key: string, signer: SignerId): GasQuestion {
  const { address } = signer;
  return { signer, key, call: { from: address, ...noOpPayload(address, 2) } };
}
