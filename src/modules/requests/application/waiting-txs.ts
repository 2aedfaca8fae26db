import { Injectable } from '@nestjs/common';
import { LimitsConfig } from '../../../config/lockstep-config.js';
import { DEFAULT_ACCOUNT } from '../../../kernel/caller.js';
import { Clock } from '../../../kernel/clock.js';
import { signerKey } from '../../../kernel/signer-id.js';
import { AccountLimits } from '../../../platform/limits/account-limits.js';
import { type LimitName, UNKNOWN_END_SECONDS } from '../../../platform/limits/rate-limited.js';
import { AskTogether } from '../../../platform/scheduling/ask-together.js';
import { Router } from '../../signers/index.js';
import { type RequestKey, TxQueue, type WaitingQueue } from '../../ledger/index.js';

/** How long a count counts, with what is admitted here after it, while it is far below the limit. */
const GOOD_FOR_MS = 1_000;
const MOST_KNOWN = 10_000;

/** What waited when it was counted, and what was admitted here since then. */
interface Count {
  waiting: number;
  readonly atMs: number;
}

type Queue = WaitingQueue & { readonly key: string; readonly limit: LimitName };

/**
 * How many transactions may wait for a nonce, of an account and of a signer. The database counts them for all nodes. Far below its limit a queue is counted
 * once a second, and near to it for each request that comes, together with others: what nodes admit within one count may be above the limit.
 */
@Injectable()
export class WaitingTxs {
  private readonly known = new Map<string, Count>();
  private readonly counts: AskTogether<Queue, Count>;

  constructor(
    private readonly config: LimitsConfig,
    private readonly limits: AccountLimits,
    private readonly clock: Clock,
    private readonly router: Router,
    queue: TxQueue,
  ) {
    this.counts = new AskTogether((queues) => this.count(queue, queues));
  }

  /**
   * @param more how many come at once
   * @throws RateLimited
   */
  async assertRoom({ signer, sender }: Pick<RequestKey, 'signer' | 'sender'>, more = 1): Promise<void> {
    // With a signer that does not exist nothing is created: the client is told that, and no queue is counted or taken from for it.
    if (!this.router.isServed(signer)) return;
    const ofAccount = sender.account === DEFAULT_ACCOUNT ? Infinity : this.limits.of(sender.account).waitingTxs;
    const ofSigner = this.config.signer.waitingTxs;
    const limited: Queue[] = [];
    if (ofAccount !== Infinity)
      limited.push({
        key: sender.account,
        account: sender.account,
        signer: null,
        upTo: ofAccount,
        limit: 'waiting_txs',
      });
    if (ofSigner !== Infinity)
      limited.push({ key: signerKey(signer), account: null, signer, upTo: ofSigner, limit: 'signer_waiting_txs' });
    const counts = await Promise.all(limited.map(async (queue) => this.farBelow(queue) ?? this.counts.of(queue)));
    limited.forEach(({ limit, upTo }, index) => {
      if ((counts[index]?.waiting ?? 0) + more > upTo) throw this.limits.refusal(limit, UNKNOWN_END_SECONDS);
    });
    for (const count of counts) count.waiting += more;
  }

  private farBelow({ key, upTo }: Queue): Count | null {
    const count = this.known.get(key);
    if (count === undefined || this.clock.monotonicMs() - count.atMs >= GOOD_FOR_MS) return null;
    return count.waiting < upTo / 2 ? count : null;
  }

  private async count(txs: TxQueue, asked: readonly Queue[]): Promise<Count[]> {
    const queues = new Map(asked.map((queue) => [queue.key, queue]));
    const atMs = this.clock.monotonicMs();
    const waiting = await txs.countWaiting([...queues.values()]);
    if (this.known.size > MOST_KNOWN) this.known.clear();
    const counts = new Map([...queues.keys()].map((key, index) => [key, { waiting: waiting[index] ?? 0, atMs }]));
    for (const [key, count] of counts) this.known.set(key, count);
    return asked.flatMap(({ key }) => counts.get(key) ?? []);
  }
}
