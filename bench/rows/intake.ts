import type { Bench, Row } from '../harness/bench.js';
import { type Child, startChild } from '../harness/child.js';
import { type Finding, finding, ratio } from '../harness/finding.js';
import { txBodies } from '../harness/payload.js';
import { type Load, PostClient } from '../harness/post-client.js';
import { withPostgres } from '../harness/postgres.js';
import { benchStack } from '../harness/profiled-stack.js';
import { SERVICE_CONFIG } from '../harness/service-config.js';
import { percentiles } from '../harness/spread.js';
import type { Stack } from '../harness/stack.js';
import type { TxLog } from '../harness/tx-log.js';

const CONNECTION_COUNTS = [1, 32] as const;
const SIGNERS = 100;
/** Bodies are made in pieces of this size, before they are needed. */
const PIECE = 1_000;

/** Who is asked. */
const SIDES = ['lockstep', 'insert', 'nothing'] as const;
type Side = (typeof SIDES)[number];

interface Sample {
  readonly side: Side;
  readonly connections: number;
  readonly rate: number;
  readonly p50: number;
  readonly p99: number;
}

/** Row 3: a node that only takes requests, against bare handlers; the sides take turns. */
export const intakeRow: Row = {
  title: 'intake alone',
  run: (bench) =>
    withPostgres(bench.options.profile, (postgres) =>
      benchStack(bench, postgres, 'row 3', { signers: SIGNERS, config: { node: { role: 'api' } } }, async (stack) => {
        await makePlainTable(stack.log);
        const yardstick = await startChild('plain-intake', [
          stack.databaseUrl,
          String(SERVICE_CONFIG.database.poolSize),
        ]);
        try {
          return findings(await measureAll(bench, stack, yardstick));
        } finally {
          await yardstick.stop();
        }
      }),
    ),
};

async function measureAll(bench: Bench, stack: Stack, yardstick: Child): Promise<Sample[]> {
  const samples: Sample[] = [];
  const bodies = new Bodies(stack.addresses);
  const ask = (side: Side, connections: number, next: () => string | null): Promise<Load> =>
    side === 'lockstep'
      ? load(stack.service.url, '/api/v1/tx', connections, next)
      : load(yardstick.greeting, `/${side}`, connections, next);
  for (const side of SIDES) await ask(side, 32, bodies.next(2 * bench.sizes.warmUp));
  await bench.repeat(async (label) => {
    for (const connections of CONNECTION_COUNTS)
      for (const side of SIDES) {
        const name = `row 3, ${side}, ${plural(connections)}, ${label}`;
        const measure = async (): Promise<Sample> => {
          const { latencies, seconds } = await ask(side, connections, bodies.during(bench.sizes.intakeSeconds));
          return { side, connections, rate: latencies.length / seconds, ...percentiles(latencies) };
        };
        await bench.measure(name, samples, measure, inWords);
      }
  });
  return samples;
}

async function load(url: string, path: string, connections: number, next: () => string | null): Promise<Load> {
  const client = new PostClient([url], connections);
  try {
    return await client.closedLoop(path, next);
  } finally {
    await client.close();
  }
}

function plural(connections: number): string {
  return connections === 1 ? '1 connection' : `${connections} connections`;
}

/** Each request is a new one, whoever it goes to. */
class Bodies {
  private made = 0;
  private piece: string[] = [];

  constructor(private readonly addresses: readonly string[]) {}

  next(count: number): () => string | null {
    let left = count;
    return () => (left-- > 0 ? this.take() : null);
  }

  during(seconds: number): () => string | null {
    const end = performance.now() + seconds * 1000;
    return () => (performance.now() < end ? this.take() : null);
  }

  private take(): string {
    const body = this.piece.pop();
    if (body !== undefined) return body;
    this.piece = txBodies(this.addresses, PIECE, this.made);
    this.made += PIECE;
    return this.take();
  }
}

/** The same columns, checks and indexes as the table that Lockstep writes. */
async function makePlainTable(log: TxLog): Promise<void> {
  await log.query('CREATE TABLE plain_intake (LIKE managed_tx INCLUDING ALL)');
}

function inWords({ rate, p50, p99 }: Sample): string {
  return `${rate.toFixed(0)}/s, p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms`;
}

function findings(samples: readonly Sample[]): Finding[] {
  return CONNECTION_COUNTS.flatMap((connections) => {
    const of = (side: Side, which: 'rate' | 'p50' | 'p99'): number[] =>
      samples.filter((one) => one.side === side && one.connections === connections).map((one) => one[which]);
    const where = plural(connections);
    const against = (side: Side, which: 'rate' | 'p50' | 'p99') => ({
      name: side === 'insert' ? 'Fastify, 1 INSERT' : 'Fastify alone',
      samples: of(side, which),
    });
    const target = connections === 1 ? ratio('at least', 0.8) : ratio('above', 1);
    return [
      finding(3, `intake, ${where}`, 'req/s', of('lockstep', 'rate'), { yardstick: against('insert', 'rate'), target }),
      finding(3, `intake, ${where}`, 'req/s', of('lockstep', 'rate'), { yardstick: against('nothing', 'rate') }),
      finding(3, `intake, ${where}, p50`, 'ms', of('lockstep', 'p50'), { yardstick: against('insert', 'p50') }),
      finding(3, `intake, ${where}, p99`, 'ms', of('lockstep', 'p99'), { yardstick: against('insert', 'p99') }),
    ];
  });
}
