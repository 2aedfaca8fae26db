import { setTimeout as sleep } from 'node:timers/promises';
import { poll } from '../../src/dev/poll.js';
import { expectEachOnce } from './chain-check.js';
import { batchBodies, txBodies } from './payload.js';
import { fromList, type Load, PostClient } from './post-client.js';
import { percentiles } from './spread.js';
import type { Stack } from './stack.js';
import type { Reached } from './tx-log.js';

export const CONNECTIONS = 32;
const BATCH_SIZE = 500;
const BATCH_CONNECTIONS = 2;
const LOOK_MS = 250;
/** Slower than this for a whole run is not a slow run, but one that stands still. */
const SLOWEST_PER_SECOND = 25;
const HAND_OVER_MS = 15_000;

/** What one measured run gave. Rates are transactions per second from the first POST on. */
export interface Throughput {
  readonly accepted: number;
  readonly mined: number;
  readonly confirmed: number;
  /** Milliseconds of one request. */
  readonly p50: number;
  readonly p99: number;
}

/** Sends payloads through the API of a stack, and sees them through to the end. */
export class Drive {
  /** Payloads handed out so far; the next one has this number. */
  private used = 0;

  constructor(private readonly stack: Stack) {}

  /** Code is compiled, connections are open, and every signer has its lease. */
  async warmUp(transactions: number): Promise<void> {
    await this.run(transactions);
    const { nodes = 1, signers } = this.stack.options;
    // Nodes that start together agree within a few heartbeats who serves whom; a single signer has a single owner.
    if (nodes > 1 && signers > 1)
      await poll(HAND_OVER_MS, async () => ((await this.stack.log.owners()) >= nodes ? true : null));
  }

  /** One by one over {@link CONNECTIONS} connections, or in batches. */
  async run(transactions: number, how: 'single' | 'batch' = 'single'): Promise<Throughput> {
    const { log } = this.stack;
    const mark = await log.mark();
    const load = await this.post(transactions, how);
    await this.allFinal(transactions);
    const mined = await log.reached('mined', mark);
    const confirmed = await log.reached('confirmed', mark);
    if (mined.transactions < transactions || confirmed.transactions < transactions)
      throw new Error(`${transactions} were accepted, and became: ${JSON.stringify(await log.states())}`);
    const rate = (reached: Reached): number => (transactions * 1000) / (reached.last - load.start);
    return {
      accepted: transactions / load.seconds,
      mined: rate(mined),
      confirmed: rate(confirmed),
      ...percentiles(load.latencies),
    };
  }

  async post(transactions: number, how: 'single' | 'batch' = 'single'): Promise<Load> {
    const { urls, addresses, key } = this.stack;
    const client = new PostClient(urls, how === 'single' ? CONNECTIONS : BATCH_CONNECTIONS * urls.length, key);
    try {
      if (how === 'single') return await client.closedLoop('/api/v1/tx', fromList(this.bodies(transactions)));
      const bodies = batchBodies(addresses, transactions, BATCH_SIZE, this.take(transactions));
      return await client.closedLoop('/api/v1/tx/batch', fromList(bodies), everyItemAccepted);
    } finally {
      await client.close();
    }
  }

  /** For so many requests that nobody has made yet. */
  bodies(transactions: number): string[] {
    return txBodies(this.stack.addresses, transactions, this.take(transactions));
  }

  async allFinal(transactions: number): Promise<void> {
    const deadline = performance.now() + 60_000 + (transactions * 1000) / SLOWEST_PER_SECOND;
    while (await this.stack.log.isBusy()) {
      if (performance.now() > deadline)
        throw new Error(`${transactions} do not become final: ${JSON.stringify(await this.stack.log.states())}`);
      await sleep(LOOK_MS);
    }
  }

  /** @throws unless everything that was ever sent here was executed exactly once */
  async check(): Promise<void> {
    await expectEachOnce(this.stack.chain.url, this.used);
  }

  /** @returns the number of the first one */
  private take(transactions: number): number {
    const first = this.used;
    this.used += transactions;
    return first;
  }
}

function everyItemAccepted(text: string): void {
  const answer = JSON.parse(text) as { readonly items: readonly { readonly status: number }[] };
  const refused = answer.items.find(({ status }) => status !== 202);
  if (refused) throw new Error(`an item of a batch was refused: ${JSON.stringify(refused)}`);
}
