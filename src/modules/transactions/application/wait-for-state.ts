import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { isFinal, type TxState } from '../domain/tx-state-machine.js';
import { TxQueries } from './tx-views.js';

interface Waiter {
  readonly txId: string;
  readonly satisfied: (state: TxState) => boolean;
  readonly done: () => void;
}

const LOOK_EVERY_MS = 100;

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

  constructor(private readonly queries: TxQueries) {}

  /** Resolves when the tx has reached `state` or gone past it, or after `timeoutMs`, whichever is first. */
  execute(txId: string, state: TxState, timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.waiters.delete(waiter);
        resolve();
      };
      const timer = setTimeout(done, timeoutMs);
      const satisfied = (current: TxState): boolean => isFinal(current) || PROGRESS[current] >= PROGRESS[state];
      const waiter: Waiter = { txId, satisfied, done };
      this.waiters.add(waiter);
      void this.look();
    });
  }

  /** A shutdown answers everyone with the state as it is. */
  onModuleDestroy(): void {
    for (const { done } of [...this.waiters]) done();
  }

  private async look(): Promise<void> {
    if (this.looking) return;
    this.looking = true;
    while (this.waiters.size > 0) {
      await this.lookOnce();
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    }
    this.looking = false;
  }

  private async lookOnce(): Promise<void> {
    const asked = [...this.waiters];
    try {
      const states = await this.queries.states([...new Set(asked.map(({ txId }) => txId))]);
      for (const waiter of asked) {
        const state = states.get(waiter.txId);
        if (state !== undefined && waiter.satisfied(state)) waiter.done();
      }
    } catch {
      // The database is away: the waiters go on waiting, and their own time-outs end them.
    }
  }
}
