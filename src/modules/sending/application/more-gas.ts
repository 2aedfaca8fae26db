import { Injectable } from '@nestjs/common';
import { maxOf } from '../../../kernel/quantities.js';
import { answeredWithin, Pauses } from '../../../platform/scheduling/pause.js';
import { type ChainFees, type GasEstimate, isTooLittleGas } from '../../chain/index.js';
import { AttemptRepository, ManagedTxRepository, type RequestedTx } from '../../ledger/index.js';
import { callOf } from './drafts.js';
import { GasRules } from './gas-rules.js';
import type { AnsweredSend } from './send.js';

/** How often a payload gets more gas. Then it is refused like one whose client gave the limit. */
const MOST_TIMES = 2;
/** The signers of a lane share its worker: an estimate that hangs is none. */
const LONGEST_WAIT_MS = 2_000;

/**
 * Finds more gas for payloads that nodes refuse because they have too little, where Lockstep estimated it: what a chain counts as gas may have
 * risen since (Arbitrum and zkSync Era count what they pay to their L1). The bytes with less gas may be out all the same, and are watched: it is
 * the same payload, and only one of them can be mined.
 */
@Injectable()
export class MoreGas {
  constructor(
    private readonly repository: ManagedTxRepository,
    private readonly attempts: AttemptRepository,
    private readonly gas: GasRules,
    private readonly pauses: Pauses,
  ) {}

  /** @returns gas limits above the refused ones; without payloads that would revert, and those that were given more often enough */
  async execute(chain: ChainFees, answered: readonly AnsweredSend[]): Promise<ReadonlyMap<AnsweredSend, bigint>> {
    const refused = answered.filter(
      ({ tx, attempt, outcome }) =>
        attempt.kind === 'payload' && !tx.isClosing && isTooLittleGas(outcome.errorClass, outcome.error),
    );
    if (refused.length === 0) return new Map();
    const wanted = await this.wanted(refused);
    const estimates = await this.estimated(
      chain,
      wanted.map(({ item }) => item),
    );
    return new Map(
      wanted.flatMap(({ send }, index): [AnsweredSend, bigint][] => {
        const limit = this.limit(send, estimates[index]);
        return limit !== null && limit > send.attempt.gasLimit ? [[send, limit]] : [];
      }),
    );
  }

  /** Those whose gas Lockstep estimated, and that were not given more often enough: what is stored shows how often. */
  private async wanted(refused: readonly AnsweredSend[]): Promise<{ send: AnsweredSend; item: RequestedTx }[]> {
    const requests = await this.repository.requested(refused.map(({ tx }) => tx.id));
    const stored = await this.attempts.ofSlots(refused.map(({ attempt }) => attempt));
    return refused.flatMap((send) => {
      const item = requests.find(({ tx }) => tx.id === send.tx.id);
      const limits = new Set(stored.filter(({ txId }) => txId === send.tx.id).map(({ gasLimit }) => gasLimit));
      return item?.request.payload.gasLimit === null && limits.size <= MOST_TIMES ? [{ send, item }] : [];
    });
  }

  private async estimated(chain: ChainFees, items: readonly RequestedTx[]): Promise<readonly GasEstimate[]> {
    if (items.length === 0) return [];
    const asked = chain.estimateGas(items.map(({ request }) => callOf(request)));
    return (await answeredWithin(this.pauses.pause, LONGEST_WAIT_MS, asked)) ?? [];
  }

  /**
   * At least a margin above what was refused: an estimate that is not above it is of another state, or of another node. Null for a payload that
   * cannot succeed any more.
   */
  private limit({ attempt }: AnsweredSend, estimate: GasEstimate | undefined): bigint | null {
    if (estimate?.kind === 'reverted' || estimate?.kind === 'rejected') return null;
    const { chainId } = attempt.signer;
    const told = estimate?.kind === 'ok' ? estimate : { gas: 0n };
    return maxOf(this.gas.limit(chainId, told), this.gas.limit(chainId, { ...told, gas: attempt.gasLimit }));
  }
}
