import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench, Row } from '../harness/bench.js';
import { type Child, startChild } from '../harness/child.js';
import { cpuOf, cpuOfTree } from '../harness/cpu-time.js';
import { Drive } from '../harness/drive.js';
import { type Finding, finding, ratio, value } from '../harness/finding.js';
import { type BenchPostgres, withPostgres } from '../harness/postgres.js';
import { benchStack } from '../harness/profiled-stack.js';
import type { Stack } from '../harness/stack.js';

const SIGNERS = 100;
const LOOK_MS = 100;
const LONGEST_WAIT_MS = 120_000;

/** Who listens while transactions are executed. */
const WAYS = ['nobody', 'one stream', 'one webhook'] as const;
type Way = (typeof WAYS)[number];

/** Of one run. CPU is in milliseconds per transaction. */
interface Telling {
  readonly mined: number;
  readonly confirmed: number;
  /** Milliseconds from the last CONFIRMED until the listener knew it. Null when nobody listens. */
  readonly behind: number | null;
  readonly events: number;
  readonly service: number;
  readonly database: number;
}

interface Counts {
  readonly webhook: number;
  readonly stream: number;
  readonly confirmedByWebhook: number;
  readonly confirmedByStream: number;
  readonly last: number;
}

/** Row 9: what it costs to tell others of every event, and whether they are told as fast as transactions are confirmed. */
export const tellingRow: Row = {
  title: 'telling the world',
  run: (bench) =>
    withPostgres(bench.options.profile, async (postgres) => {
      const runs = new Map<Way, Telling[]>(WAYS.map((way) => [way, []]));
      await bench.repeat(async (label) => {
        for (const [way, samples] of runs) await measure(bench, postgres, way, `row 9, ${way}, ${label}`, samples);
      });
      return findings(runs);
    }),
};

function measure(bench: Bench, postgres: BenchPostgres, way: Way, name: string, samples: Telling[]): Promise<void> {
  const run = async (): Promise<Telling> => {
    const receiver = await startChild('event-receiver', []);
    try {
      const options = { signers: SIGNERS, config: { webhooks: { allow: ['127.0.0.0/8'] } } };
      return await benchStack(bench, postgres, name, options, (stack) => tell(bench, stack, receiver, way));
    } finally {
      await receiver.stop();
    }
  };
  return bench.measure(name, samples, run, inWords);
}

async function tell(bench: Bench, stack: Stack, receiver: Child, way: Way): Promise<Telling> {
  const { transactions, warmUp } = bench.sizes;
  const drive = new Drive(stack);
  await listen(stack, receiver, way);
  await drive.warmUp(warmUp);
  await allTold(receiver, way, warmUp);
  const before = cpu(stack);
  const mark = await stack.log.mark();
  const { mined, confirmed } = await drive.run(transactions);
  const { last } = await stack.log.reached('confirmed', mark);
  const counts = await allTold(receiver, way, warmUp + transactions);
  const after = cpu(stack);
  await drive.check();
  return {
    mined,
    confirmed,
    behind: way === 'nobody' ? null : Math.max(0, counts.last - last),
    events: (counts.webhook + counts.stream) / (warmUp + transactions),
    service: (after.service - before.service) / transactions,
    database: (after.database - before.database) / transactions,
  };
}

async function listen({ service }: Stack, receiver: Child, way: Way): Promise<void> {
  if (way === 'one stream') {
    await fetch(`${receiver.greeting}/read?url=${encodeURIComponent(`${service.url}/api/v1/events`)}`);
    return;
  }
  if (way === 'nobody') return;
  const answer = await fetch(`${service.url}/api/v1/webhooks`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ url: receiver.greeting }),
  });
  if (!answer.ok) throw new Error(`the endpoint was refused: ${await answer.text()}`);
}

function cpu({ service, postgres }: Stack) {
  return { service: cpuOf(service.pid), database: cpuOfTree(postgres.pid) };
}

/** Waits until the listener knows of so many confirmed transactions. */
async function allTold(receiver: Child, way: Way, transactions: number): Promise<Counts> {
  const deadline = performance.now() + LONGEST_WAIT_MS;
  for (;;) {
    const counts = (await (await fetch(`${receiver.greeting}/count`)).json()) as Counts;
    const known = {
      nobody: Infinity,
      'one stream': counts.confirmedByStream,
      'one webhook': counts.confirmedByWebhook,
    };
    if (known[way] >= transactions) return counts;
    if (performance.now() > deadline) throw new Error(`of ${transactions} only: ${JSON.stringify(counts)}`);
    await sleep(LOOK_MS);
  }
}

function inWords({ mined, behind, events, service, database }: Telling): string {
  const late = behind === null ? '' : `, ${behind.toFixed(0)} ms behind at the end, ${events.toFixed(1)} events per tx`;
  return `${mined.toFixed(0)} mined/s${late}, ${service.toFixed(2)} ms service CPU, ${database.toFixed(2)} ms database CPU`;
}

function findings(runs: ReadonlyMap<Way, readonly Telling[]>): Finding[] {
  const alone = { name: 'nobody listens', samples: (runs.get('nobody') ?? []).map(({ mined }) => mined) };
  return [...runs].flatMap(([way, samples]) => {
    const line = (what: string, unit: string, of: (telling: Telling) => number, more = {}): Finding =>
      finding(9, `${way}, ${what}`, unit, samples.map(of), more);
    const costs = [
      line('CPU, service', 'ms per tx', ({ service }) => service),
      line('CPU, database', 'ms per tx', ({ database }) => database),
    ];
    if (way === 'nobody') return [line('until MINED', 'tx/s', ({ mined }) => mined), ...costs];
    return [
      line('until MINED', 'tx/s', ({ mined }) => mined, { yardstick: alone, target: ratio('at least', 0.5) }),
      line('behind at the end', 'ms', ({ behind }) => behind ?? 0, { target: value('below', 5_000) }),
      line('events', 'per tx', ({ events }) => events),
      ...costs,
    ];
  });
}
