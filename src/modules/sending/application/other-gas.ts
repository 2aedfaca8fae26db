import { Injectable } from '@nestjs/common';
import { maxOf } from '../../../kernel/quantities.js';
import { type ChainFees, type GasEstimate, isTooLittleGas } from '../../chain/index.js';
import { AttemptRepository, ManagedTxRepository, type RequestedTx } from '../../ledger/index.js';
import { refusedForFunds } from '../domain/fee-bump.js';
import { callOf } from './drafts.js';
import { GasRules } from './gas-rules.js';
import type { AnsweredSend } from './send.js';

/** How often a payload gets more gas. Then it is refused like one whose client gave the limit. */
const MOST_TIMES = 2;

interface Wanted {
  readonly send: AnsweredSend;
  readonly item: RequestedTx;
  /** The highest limit that is known to be too little. */
  readonly above: bigint;
}

/**
 * Finds other gas for payloads where Lockstep estimated it: more for those that nodes refuse because they have too little, because what a chain
 * counts as gas may have risen since (Arbitrum and zkSync Era count what they pay to their L1); and less again for those that got more, and cannot
 * be paid with it, because one endpoint may have been wrong, or it has fallen. The bytes with other gas may be out all the same, and are watched:
 * it is the same payload, and only one of them can be mined.
 */
@Injectable()
export class OtherGas {
  constructor(
    private readonly repository: ManagedTxRepository,
    private readonly attempts: AttemptRepository,
    private readonly gas: GasRules,
  ) {}

  /** @returns other gas limits; none for payloads that would revert, and those that were given more often enough */
  async execute(chain: ChainFees, answered: readonly AnsweredSend[]): Promise<ReadonlyMap<AnsweredSend, bigint>> {
    const refused = answered.filter(
      (send) => send.attempt.kind === 'payload' && !send.tx.isClosing && (hadTooLittle(send) || isUnpaid(send)),
    );
    if (refused.length === 0) return new Map();
    const wanted = await this.wanted(refused);
    const estimates = await this.gas.estimates(
      chain,
      wanted.map(({ send: { attempt }, item }) => ({
        signer: attempt.signer,
        key: attempt.txHash,
        call: callOf(item.request),
      })),
    );
    return new Map(
      wanted.flatMap((each, index): [AnsweredSend, bigint][] => {
        const limit = this.limit(each, estimates[index]);
        return limit === null ? [] : [[each.send, limit]];
      }),
    );
  }

  /** Those whose gas Lockstep estimated, and that were not given more often enough: what is stored shows how often. */
  private async wanted(refused: readonly AnsweredSend[]): Promise<Wanted[]> {
    const requests = await this.repository.requested(refused.map(({ tx }) => tx.id));
    const stored = await this.attempts.ofSlots(refused.map(({ attempt }) => attempt));
    return refused.flatMap((send) => {
      const { tx, attempt } = send;
      const item = requests.find((each) => each.tx.id === tx.id);
      const limits = new Set(stored.filter(({ txId }) => txId === tx.id).map(({ gasLimit }) => gasLimit));
      if (item?.request.payload.gasLimit !== null) return [];
      if (hadTooLittle(send)) return limits.size <= MOST_TIMES ? [{ send, item, above: attempt.gasLimit }] : [];
      const below = [...limits].filter((limit) => limit < attempt.gasLimit);
      return below.length > 0 && limits.size <= MOST_TIMES + 1 ? [{ send, item, above: below.reduce(maxOf) }] : [];
    });
  }

  /**
   * At least a margin above what was too little: an estimate that is not above it is of another state, or of another node. Null for a payload that
   * cannot succeed any more, and where nothing else is left to try.
   */
  private limit({ send, above }: Wanted, estimate: GasEstimate | undefined): bigint | null {
    if (estimate?.kind === 'reverted' || estimate?.kind === 'rejected') return null;
    const { signer, gasLimit } = send.attempt;
    const told = estimate?.kind === 'ok' ? estimate : { gas: 0n };
    const least = this.gas.limit(signer.chainId, { ...told, gas: above });
    const limit = maxOf(this.gas.limit(signer.chainId, told), least);
    const isOther = hadTooLittle(send) ? limit > gasLimit : limit < gasLimit;
    return isOther ? limit : null;
  }
}

function hadTooLittle({ outcome: { errorClass, error } }: AnsweredSend): boolean {
  return isTooLittleGas(errorClass, error);
}

function isUnpaid({ outcome }: AnsweredSend): boolean {
  return refusedForFunds(outcome);
}
