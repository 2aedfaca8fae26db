import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Service } from '../test/support/service.js';
import { sendStrange, type StrangeRequest, StrangeRequests, wrongWith } from '../test/support/strange-requests.js';
import { armAtExit, atExit } from './harness/at-exit.js';
import { withPostgres } from './harness/postgres.js';
import { print } from './harness/progress.js';

const HELP = `npm run bench:requests -- [--requests 100000] [--seed 1]

Sends requests that are made from the OpenAPI document (valid, nearly, absurd, huge, deep, wide), one after the other, and prints how
long each held the event loop of the service, and every answer that is wrong.`;

/** A delay is printed by the service up to this long after its request was answered. */
const LATE_MS = 5;
const WORST = 10;
const PROGRESS_EVERY = 10_000;

interface Sent {
  readonly from: number;
  readonly to: number;
  readonly words: string;
}

export async function main(args: readonly string[]): Promise<number> {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({ args: [...args], options: { requests: text, seed: text, help: { type: 'boolean' } } });
  if (values.help === true) {
    print(HELP);
    return 0;
  }
  armAtExit();
  return withPostgres(false, async (server) => {
    const service = await Service.start({
      databaseUrl: await server.createDatabase(),
      ...StrangeRequests.service,
      env: { NODE_OPTIONS: `--import ${resolve('test/support/loop-delay.mjs')}` },
    });
    atExit(() => service.signal('SIGKILL'));
    try {
      return await measure(service, Number(values.requests ?? 100_000), Number(values.seed ?? 1));
    } finally {
      await service.kill();
    }
  });
}

async function measure(service: Service, count: number, seed: number): Promise<number> {
  const requests = await StrangeRequests.of(service, seed);
  const sent: Sent[] = [];
  let wrong = 0;
  const ignored = service.logged('loop delay').length;
  for (let n = 0; n < count; n += 1) {
    if (n > 0 && n % PROGRESS_EVERY === 0) print(`${n} of ${count}`);
    const asked = requests.next();
    const from = Date.now();
    const problem = wrongWith(await sendStrange(service.url, asked));
    sent.push({ from, to: Date.now(), words: wordsOf(asked) });
    if (problem === null) continue;
    wrong += 1;
    print(`WRONG ${problem} for ${wordsOf(asked)}`);
  }
  const delays = service
    .logged('loop delay')
    .slice(ignored)
    .map(({ ms, cpuMs, at }) => {
      const [end, begun] = [Number(at), Number(at) - Number(ms)];
      const during = sent.find(({ from, to }) => from <= end && to + LATE_MS >= begun);
      return { ms: Number(ms), cpuMs: Number(cpuMs), words: during?.words ?? 'no request' };
    });
  const longest = delays.toSorted((a, b) => b.cpuMs - a.cpuMs).slice(0, WORST);
  print(
    `${count} requests: ${wrong} wrong answers, ${service.logged('http.internal_error').length} internal errors, ${service.logged('lease lost').length} leases lost`,
  );
  print(
    `event loop delays of 20 ms and more: ${delays.length}, above 50 ms: ${delays.filter(({ ms }) => ms > 50).length} (by CPU time ${delays.filter(({ cpuMs }) => cpuMs > 50).length})`,
  );
  for (const { ms, cpuMs, words } of longest) print(`${ms} ms (${cpuMs} ms of CPU): ${words}`);
  return wrong === 0 ? 0 : 1;
}

function wordsOf({ kind, method, path, body }: StrangeRequest): string {
  return `${kind} ${method} ${path.slice(0, 100)} ${body.length} bytes: ${body.slice(0, 120)}`;
}
