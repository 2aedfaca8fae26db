import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import { groupBy } from '../../../kernel/group-by.js';
import { maxOf, minOf } from '../../../kernel/quantities.js';
import { type ChainId, signerKey, type SignerId } from '../../../kernel/signer-id.js';
import { TRANSFER_GAS, withMargin } from '../../../kernel/transaction-gas.js';
import { type ChainFees, ChainRules, type GasEstimate } from '../../chain/index.js';
import { noOpPayload } from '../../ledger/index.js';

type Estimated = Extract<GasEstimate, { readonly kind: 'ok' }>;

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
}

/** Computes every gas limit that Lockstep chooses. */
@Injectable()
export class GasRules {
  private readonly noOps = new Map<string, KnownNoOp>();

  constructor(
    private readonly rules: ChainRules,
    private readonly clock: Clock,
  ) {}

  /** The gas limit for an estimate. */
  limit(chainId: ChainId, { gas, blockGas }: Omit<Estimated, 'kind'>): bigint {
    return withMargin(gas, blockGas, this.rules.transactionGasCap(chainId));
  }

  /**
   * Gas of a no-op of each signer, in the given order; estimated once an hour, and again when it was too little. It is that of a plain transfer
   * on most chains; others count what they pay to their L1, or all that a transaction costs them, as gas.
   */
  async ofNoOps(chain: ChainFees, wanted: readonly WantedNoOp[]): Promise<bigint[]> {
    const nowMs = this.clock.monotonicMs();
    for (const [key, { atMs }] of this.noOps) if (nowMs - atMs >= NO_OP_KEPT_MS) this.noOps.delete(key);
    const open = wanted.filter(({ signer, tooLittle }) => tooLittle != null || !this.noOps.has(signerKey(signer)));
    const bySigner = [...groupBy(open, ({ signer }) => signerKey(signer)).values()];
    const calls = bySigner.flatMap(([first]) =>
      first ? [{ from: first.signer.address, ...noOpPayload(first.signer.address, 2) }] : [],
    );
    const estimates = calls.length === 0 ? [] : await chain.estimateGas(calls);
    bySigner.forEach((own, index) => {
      const tooLittle = own.reduce((most, each) => maxOf(most, each.tooLittle ?? 0n), 0n);
      const gas = this.ofNoOp(chain.chainId, estimates[index], tooLittle);
      if (gas !== null && own[0])
        this.noOps.set(signerKey(own[0].signer), { chainId: chain.chainId, gas, atMs: nowMs });
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
