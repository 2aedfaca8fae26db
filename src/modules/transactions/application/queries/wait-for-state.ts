import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { ServerConfig } from '../../../../config/lockstep-config.js';
import { Clock } from '../../../../kernel/clock.js';
import { messageOf, TooMany, Unavailable } from '../../../../kernel/errors.js';
import { Log } from '../../../../platform/logging/log.js';
import { isFinal, type TxState } from '../../domain/tx-state-machine.js';
import { TxQueries } from './tx-views.js';

interface Waiter {
  readonly txId: string;
  readonly satisfied: (state: TxState) => boolean;
  readonly done: () => void;
  readonly fail: (error: Error) => void;
}

const LOOK_EVERY_MS = 100;
/** A look at very many takes long: a rest of so many times as long leaves the connection and the processor to others. */
const REST_PER_LOOK = 4;
const RETRY_AFTER_FAILURE_MS = 1_000;

/** How far along each state is; a final state satisfies every wait, since nothing more will come. */
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

/** Long polls, answered by one query for all of them together; nothing polls per request, and nothing runs when nobody waits. */
@Injectable()
export class WaitForState implements OnModuleDestroy {
  private readonly waiters = new Set<Waiter>();
  private looking = false;
  private failing = false;

  constructor(
    private readonly queries: TxQueries,
    private readonly config: ServerConfig,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  /**
   * Resolves when the tx has reached `state` or gone past it, after `timeoutMs`, or when the client has `left`, whichever is first. While
   * the database is away it goes on waiting: the state is not known to be another.
   * @throws TooMany `too_many_waiters` when `server.maxWaiters` wait at this node already
   */
  async execute(txId: string, state: TxState, timeoutMs: number, left?: AbortSignal): Promise<void> {
    if (left?.aborted === true) return;
    const { maxWaiters } = this.config;
    if (this.waiters.size >= maxWaiters) {
      throw new TooMany(
        'too_many_waiters',
        `${maxWaiters} requests wait for a state at this node already`,
        'ask again later, or ask without waitFor',
        { maxWaiters },
      );
    }
    await this.enter(txId, state, timeoutMs, left);
  }

  /** A shutdown answers everyone with the state as it is. */
  onModuleDestroy(): void {
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
      void this.look();
    });
  }

  private async look(): Promise<void> {
    if (this.looking) return;
    this.looking = true;
    while (this.waiters.size > 0) {
      const restMs = await this.lookOnce([...this.waiters]);
      await new Promise((resolve) => setTimeout(resolve, restMs));
    }
    this.looking = false;
  }

  /** @returns milliseconds until the next look */
  private async lookOnce(asked: readonly Waiter[]): Promise<number> {
    const startedAt = this.clock.monotonicMs();
    try {
      const states = await this.queries.states([...new Set(asked.map(({ txId }) => txId))]);
      for (const waiter of asked) {
        const state = states.get(waiter.txId);
        if (state !== undefined && waiter.satisfied(state)) waiter.done();
      }
      this.failing = false;
      return Math.max(LOOK_EVERY_MS, REST_PER_LOOK * (this.clock.monotonicMs() - startedAt));
    } catch (error) {
      this.lookFailed(asked, error);
      return RETRY_AFTER_FAILURE_MS;
    }
  }

  private lookFailed(asked: readonly Waiter[], error: unknown): void {
    if (!this.failing)
      this.log.warn('long polls cannot be answered', { waiting: asked.length, error: messageOf(error) });
    this.failing = true;
    if (error instanceof Unavailable) return;
    const reason = error instanceof Error ? error : new Error(messageOf(error));
    for (const waiter of asked) waiter.fail(reason);
  }
}
