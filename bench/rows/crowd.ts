import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench, Row } from '../harness/bench.js';
import { type Child, startChild } from '../harness/child.js';
import { cpuOf, cpuOfTree } from '../harness/cpu-time.js';
import { CONNECTIONS, Drive } from '../harness/drive.js';
import { type Finding, finding, ratio, value } from '../harness/finding.js';
import { addFinished } from '../harness/finished-history.js';
import { batchBodies, txBodies } from '../harness/payload.js';
import { fromList, PostClient } from '../harness/post-client.js';
import { withPostgres } from '../harness/postgres.js';
import { benchStack } from '../harness/profiled-stack.js';
import { percentiles } from '../harness/spread.js';
import type { Stack } from '../harness/stack.js';

const RATE = 300;
const SENDERS = 1_000;
const BATCH_SIZE = 500;
const AT_ONCE = 50;
const LOOK_MS = 250;
const LONGEST_WAIT_MS = 300_000;

interface Run {
  /** tx/s from the first request to the last that was MINED. */
  readonly mined: number;
  readonly toBroadcast: { readonly p50: number; readonly p99: number };
  readonly answer: { readonly p50: number; readonly p99: number };
  /** Milliseconds per second. */
  readonly service: number;
  readonly database: number;
}

interface Counts {
  readonly posts: number;
  readonly openStreams: number;
  readonly frames: number;
  readonly caughtUp: number;
  readonly polls: number;
  readonly answered: number;
  readonly refused: number;
  /** Refusals by what they were. */
  readonly why: Readonly<Record<string, number>>;
}

/** Row 11: a constant rate alone, and the same beside a crowd of listeners, half of whose streams begin at the start of the log. */
export const crowdRow: Row = {
  title: 'a crowd that listens',
  run: (bench) =>
    withPostgres(bench.options.profile, async (postgres) => {
      const child = await startChild('crowd', []);
      try {
        const config = { webhooks: { allow: ['127.0.0.0/8'] } };
        const name = `row 11, ${bench.sizes.crowd.streams} streams`;
        return await benchStack(bench, postgres, name, { signers: SENDERS + 1, config }, (stack) =>
          new Crowd(bench, stack, child).measure(config),
        );
      } finally {
        await child.stop();
      }
    }),
};

class Crowd {
  /** The first ones are those that make the history's example. */
  private used = SENDERS + 1;

  constructor(
    private readonly bench: Bench,
    private readonly stack: Stack,
    private readonly child: Child,
  ) {}

  async measure(config: Readonly<Record<string, unknown>>): Promise<Finding[]> {
    const { sizes, progress } = this.bench;
    await new Drive(this.stack).run(this.used);
    await this.stack.stopServices();
    await addFinished(this.stack, sizes.finishedBeforeCrowd, (line) => progress.say(`row 11, ${line}`));
    await this.stack.startServices(config);
    await this.run(sizes.warmUp);
    const alone: Run[] = [];
    const crowded: Run[] = [];
    const count = RATE * sizes.rateSeconds;
    await this.bench.repeat((label) =>
      this.bench.measure(`row 11, alone, ${label}`, alone, () => this.run(count), inWords),
    );
    const before = await this.counts();
    const came = performance.now();
    await this.come();
    await this.bench.repeat((label) =>
      this.bench.measure(`row 11, with the crowd, ${label}`, crowded, () => this.run(count), inWords),
    );
    const after = await this.counts();
    progress.say(`row 11, after the runs: ${JSON.stringify(after)}`);
    await this.until('caught up', ({ caughtUp, refused }) => caughtUp + refused >= this.bench.sizes.crowd.streams / 2);
    const caughtUp = (performance.now() - came) / 1000;
    return findings(alone, crowded, caughtUp, after.posts - before.posts, after);
  }

  /** A constant rate, until all are MINED. */
  private async run(transactions: number): Promise<Run> {
    const { log, urls } = this.stack;
    const mark = await log.mark();
    const before = this.cpu();
    const client = new PostClient(urls, CONNECTIONS);
    try {
      const bodies = txBodies(this.senders, transactions, this.used);
      this.used += transactions;
      const { latencies, start } = await client.openLoop('/api/v1/tx', fromList(bodies), RATE);
      const { last } = await this.mined(mark, transactions);
      const after = this.cpu();
      const seconds = (last - start) / 1000;
      return {
        mined: transactions / seconds,
        toBroadcast: percentiles(await log.intervals('queued', 'sent', mark)),
        answer: percentiles(latencies),
        service: (after.service - before.service) / seconds,
        database: (after.database - before.database) / seconds,
      };
    } finally {
      await client.close();
    }
  }

  private async mined(mark: string, transactions: number): Promise<{ readonly last: number }> {
    const deadline = performance.now() + LONGEST_WAIT_MS;
    for (;;) {
      const reached = await this.stack.log.reached('mined', mark);
      if (reached.transactions >= transactions) return reached;
      if (performance.now() > deadline) throw new Error(`of ${transactions} only ${reached.transactions} were mined`);
      await sleep(LOOK_MS);
    }
  }

  /** What is waited for belongs to a paused signer of its own, so every poll stays. */
  private async come(): Promise<void> {
    const { service, log } = this.stack;
    const paused = this.stack.addresses.slice(SENDERS);
    await post(`${service.url}/api/v1/signers/31337/${paused[0] ?? ''}/pause`, '{"reason":"bench"}');
    for (const body of batchBodies(paused, this.bench.sizes.crowd.polls, BATCH_SIZE, 10_000_000))
      await post(`${service.url}/api/v1/tx/batch`, body);
    const waiting = await log.query<{ tx_id: string }>("SELECT tx_id FROM managed_tx WHERE state = 'PENDING'");
    await this.forEach(this.bench.sizes.crowd.endpoints, (i) =>
      post(
        `${service.url}/api/v1/webhooks`,
        JSON.stringify({ url: this.child.greeting, types: ['tx.confirmed'], signers: [this.sender(i)] }),
      ),
    );
    await this.forEach(this.bench.sizes.crowd.polls, (i) =>
      this.ask('poll', `/api/v1/tx/${waiting[i]?.tx_id ?? ''}?waitFor=CONFIRMED&timeoutMs=60000`),
    );
    await this.forEach(this.bench.sizes.crowd.streams / 2, (i) =>
      this.ask('stream', `/api/v1/events?signer=${this.sender(i)}`),
    );
    await this.forEach(this.bench.sizes.crowd.streams / 2, async (i) =>
      this.ask('stream', `/api/v1/events?signer=${this.sender(i)}&after=0-0-0`, await this.lastOf(this.sender(i))),
    );
    await this.until(
      'came',
      ({ openStreams, polls, refused }) =>
        openStreams + polls + refused >= this.bench.sizes.crowd.streams + this.bench.sizes.crowd.polls,
    );
  }

  private async lastOf(signer: string): Promise<string> {
    const [last] = await this.stack.log.query<{ tx_id: string }>(
      "SELECT tx_id FROM managed_tx WHERE signer = $1 AND state = 'CONFIRMED' ORDER BY updated_at DESC LIMIT 1",
      [signer.toLowerCase()],
    );
    return last?.tx_id ?? '';
  }

  private async forEach(count: number, work: (i: number) => Promise<void>): Promise<void> {
    for (let i = 0; i < count; i += AT_ONCE)
      await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - i) }, (_, more) => work(i + more)));
  }

  private async ask(what: 'poll' | 'stream', path: string, last = ''): Promise<void> {
    const url = encodeURIComponent(`${this.stack.service.url}${path}`);
    await (await fetch(`${this.child.greeting}/${what}?last=${last}&url=${url}`)).arrayBuffer();
  }

  /** Whoever was refused is not waited for. */
  private async until(what: string, done: (counts: Counts) => boolean): Promise<void> {
    const deadline = performance.now() + LONGEST_WAIT_MS;
    for (;;) {
      const counts = await this.counts();
      if (done(counts)) return;
      if (performance.now() > deadline) throw new Error(`not ${what}: ${JSON.stringify(counts)}`);
      await sleep(LOOK_MS);
    }
  }

  private async counts(): Promise<Counts> {
    return (await (await fetch(`${this.child.greeting}/count`)).json()) as Counts;
  }

  private cpu() {
    return { service: cpuOf(this.stack.service.pid), database: cpuOfTree(this.stack.postgres.pid) };
  }

  private get senders(): readonly string[] {
    return this.stack.addresses.slice(0, SENDERS);
  }

  private sender(i: number): string {
    return this.senders[i % SENDERS] ?? '';
  }
}

async function post(url: string, body: string): Promise<void> {
  const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${text.slice(0, 300)}`);
}

function inWords({ mined, toBroadcast, answer, service, database }: Run): string {
  const words = ({ p50, p99 }: Run['answer']): string => `p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms`;
  return (
    `${mined.toFixed(0)} mined/s; accepted to broadcast ${words(toBroadcast)}; POST ${words(answer)}; ` +
    `CPU per second: service ${service.toFixed(0)} ms, database ${database.toFixed(0)} ms`
  );
}

function findings(
  alone: readonly Run[],
  crowded: readonly Run[],
  caughtUp: number,
  posts: number,
  { frames, refused }: Counts,
): Finding[] {
  const both = (what: string, unit: string, of: (run: Run) => number, more = {}): Finding =>
    finding(11, what, unit, crowded.map(of), { yardstick: { name: 'alone', samples: alone.map(of) }, ...more });
  return [
    both('until MINED', 'tx/s', ({ mined }) => mined, { target: ratio('at least', 0.9) }),
    both('accepted to broadcast, p50', 'ms', ({ toBroadcast }) => toBroadcast.p50),
    both('accepted to broadcast, p99', 'ms', ({ toBroadcast }) => toBroadcast.p99),
    both('POST, p99', 'ms', ({ answer }) => answer.p99),
    both('CPU, service', 'ms per s', ({ service }) => service),
    both('CPU, database', 'ms per s', ({ database }) => database),
    finding(11, 'all streams caught up', 's', [caughtUp]),
    finding(11, 'posts to endpoints', 'in all runs', [posts]),
    finding(11, 'events on streams', 'in all runs', [frames]),
    finding(11, 'listeners refused', 'in all runs', [refused], { target: value('at most', 0) }),
  ];
}
