import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { ServerConfig } from '../../../config/lockstep-config.js';
import { Clock } from '../../../kernel/clock.js';
import { messageOf, TooMany, Unavailable } from '../../../kernel/errors.js';
import { Log } from '../../../platform/logging/log.js';
import { isFinal, TxQueries, type TxState } from '../../ledger/index.js';

interface Waiter {
  readonly txId: string;
  readonly satisfied: (state: TxState) => boolean;
  readonly done: () => void;
  readonly fail: (error: Error) => void;
}

const POLL_INTERVAL_MS = 100;
/**
 * A poll for very many waiters takes long. The pause after it is this many times as long, to leave the connection and the processor to
 * others.
 */
const PAUSE_PER_POLL_TIME = 9;
const RETRY_AFTER_FAILURE_MS = 1_000;

/** How far along each state is. A final state ends every wait, because no other state follows. */
const PROGRESS: Readonly<Record<TxState, number>> = {
  PENDING: 0,
  ALLOCATED: 1,
  IN_MEMPOOL: 2,
  MINED: 3,
  CONFIRMED: 4,
  FAILED: 4,
  CANCELLED: 4,
  REPLACED: 4,
  DROPPED: 4,
};

/** Long polls. One query answers all of them together: there is no query per request, and none while no request waits. */
@Injectable()
export class WaitForState implements OnModuleDestroy {
  private readonly waiters = new Set<Waiter>();
  /** What was read last of the txs that are waited for. */
  private known = new Map<string, TxState | null>();
  private polling = false;
  private failing = false;
  private stopped = false;

  constructor(
    private readonly queries: TxQueries,
    private readonly config: ServerConfig,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  /**
   * Resolves when the tx has reached or passed `state`, after `timeoutMs`, or when the client has `left`, whichever comes first. Waits on
   * while the database is unavailable, because the state is not known then.
   * @throws TooMany `too_many_waiters` when `maxWaiters` requests already wait at this node
   */
  async execute(txId: string, state: TxState, timeoutMs: number, left?: AbortSignal): Promise<void> {
    if (this.stopped || left?.aborted === true) return;
    const { maxWaiters } = this.config;
    if (this.waiters.size >= maxWaiters) {
      throw new TooMany(
        'too_many_waiters',
        `${maxWaiters} requests already wait for a state at this node`,
        'try again later, or leave waitFor out',
        { maxWaiters },
      );
    }
    await this.enter(txId, state, timeoutMs, left);
  }

  /** A shutdown ends every wait, also of requests that come later, and the present state is returned: the process waits for its answers. */
  onModuleDestroy(): void {
    this.stopped = true;
    for (const { done } of [...this.waiters]) done();
  }

  private enter(txId: string, state: TxState, timeoutMs: number, left: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer);
        left?.removeEventListener('abort', done);
        this.waiters.delete(waiter);
      };
      const done = (): void => {
        leave();
        resolve();
      };
      const fail = (error: Error): void => {
        leave();
        reject(error);
      };
      const timer = setTimeout(done, timeoutMs);
      left?.addEventListener('abort', done);
      const satisfied = (current: TxState): boolean => isFinal(current) || PROGRESS[current] >= PROGRESS[state];
      const waiter: Waiter = { txId, satisfied, done, fail };
      this.waiters.add(waiter);
      void this.poll();
    });
  }

  private async poll(): Promise<void> {
    if (this.polling) return;
    this.polling = true;
    while (this.waiters.size > 0) {
      const pauseMs = await this.pollOnce([...this.waiters]);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
    this.polling = false;
    this.known.clear();
  }

  /** @returns milliseconds until the next poll */
  private async pollOnce(waiting: readonly Waiter[]): Promise<number> {
    const startedAt = this.clock.monotonicMs();
    try {
      const known = new Map(waiting.map(({ txId }) => [txId, this.known.get(txId) ?? null]));
      for (const [txId, state] of await this.queries.changedStates(known)) known.set(txId, state);
      this.known = known;
      for (const waiter of waiting) {
        const state = known.get(waiter.txId) ?? null;
        if (state !== null && waiter.satisfied(state)) waiter.done();
      }
      this.failing = false;
      return Math.max(POLL_INTERVAL_MS, PAUSE_PER_POLL_TIME * (this.clock.monotonicMs() - startedAt));
    } catch (error) {
      this.pollFailed(waiting, error);
      return RETRY_AFTER_FAILURE_MS;
    }
  }

  private pollFailed(waiting: readonly Waiter[], error: unknown): void {
    if (!this.failing)
      this.log.warn('failed to answer long polls', { waiting: waiting.length, error: messageOf(error) });
    this.failing = true;
    if (error instanceof Unavailable) return;
    const reason = error instanceof Error ? error : new Error(messageOf(error));
    for (const waiter of waiting) waiter.fail(reason);
  }
}
