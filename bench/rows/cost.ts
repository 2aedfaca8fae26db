import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench, Row } from '../harness/bench.js';
import { cpuOf, cpuOfTree } from '../harness/cpu-time.js';
import { Drive, type Throughput } from '../harness/drive.js';
import { type Comparison, finding, value } from '../harness/finding.js';
import { type BenchPostgres, withPostgres } from '../harness/postgres.js';
import { benchStack } from '../harness/profiled-stack.js';
import { countedSince, rpcCounts, total } from '../harness/rpc-counts.js';
import { serverCounts } from '../harness/server-counts.js';
import type { Stack } from '../harness/stack.js';

const SIGNERS = 100;
/** A backend that has nothing to do reports its counters within ten seconds. */
const COUNTERS_SETTLE_MS = 11_000;

/** Calls of a method that come less often are in the sum only. */
const WORTH_A_LINE = 0.005;

/** Per transaction, all of them. */
interface Cost {
  readonly rate: number;
  readonly statements: number;
  readonly commits: number;
  /** Bytes. */
  readonly wal: number;
  readonly rpc: ReadonlyMap<string, number>;
  /** CPU milliseconds. */
  readonly service: number;
  readonly database: number;
  readonly chain: number;
  readonly client: number;
}

/** Row 7: what one transaction costs at saturation, from POST to CONFIRMED. */
export const costRow: Row = {
  title: 'cost per transaction',
  run: (bench) =>
    withPostgres(true, async (postgres) => {
      const costs: Cost[] = [];
      await bench.repeat((label) => measure(bench, postgres, `row 7, ${SIGNERS} signers, ${label}`, costs));
      return findings(costs);
    }),
};

function measure(bench: Bench, postgres: BenchPostgres, name: string, costs: Cost[]): Promise<void> {
  return bench.measure(
    name,
    costs,
    () =>
      benchStack(bench, postgres, name, { signers: SIGNERS }, async (stack) => {
        const drive = new Drive(stack);
        await drive.warmUp(bench.sizes.warmUp);
        await sleep(COUNTERS_SETTLE_MS);
        const cost = await costOf(stack, bench.sizes.transactions, () => drive.run(bench.sizes.transactions));
        await drive.check();
        return cost;
      }),
    ({ statements, rpc, service, database, rate }) =>
      `${statements.toFixed(2)} statements, ${total(rpc).toFixed(2)} RPC calls, ${service.toFixed(2)} ms service CPU, ` +
      `${database.toFixed(2)} ms database CPU at ${rate.toFixed(0)} tx/s`,
  );
}

async function costOf(stack: Stack, transactions: number, run: () => Promise<Throughput>): Promise<Cost> {
  const { service } = stack;
  const each = (after: number, before: number): number => (after - before) / transactions;
  const before = await look(stack);
  const { mined } = await run();
  const after = await look(stack);
  const calls = countedSince(before.rpc, await rpcCounts(service));
  // Connections that close report everything they counted.
  await stack.stopServices();
  const { commits } = await serverCounts(stack.log);
  return {
    rate: mined,
    statements: each(after.server.statements, before.server.statements),
    commits: each(commits, before.server.commits),
    wal: each(after.server.wal, before.server.wal),
    rpc: new Map([...calls].map(([method, count]) => [method, count / transactions])),
    service: each(after.service, before.service),
    database: each(after.database, before.database),
    chain: each(after.chain, before.chain),
    client: each(after.client, before.client),
  };
}

async function look(stack: Stack) {
  const { user, system } = process.cpuUsage();
  return {
    client: (user + system) / 1000,
    service: cpuOf(stack.service.pid),
    database: cpuOfTree(stack.postgres.pid),
    chain: cpuOf(stack.chain.pid),
    server: await serverCounts(stack.log),
    rpc: await rpcCounts(stack.service),
  };
}

function findings(costs: readonly Cost[]) {
  const line = (what: string, unit: string, of: (cost: Cost) => number, comparison: Comparison = {}) =>
    finding(7, what, unit, costs.map(of), comparison);
  const methods = [...new Set(costs.flatMap(({ rpc }) => [...rpc.keys()]))]
    .filter((method) => costs.some(({ rpc }) => (rpc.get(method) ?? 0) >= WORTH_A_LINE))
    .sort();
  return [
    line('rate at which it was measured', 'tx/s', ({ rate }) => rate),
    line('SQL statements', 'per tx', ({ statements }) => statements, { target: value('at most', 1) }),
    line('commits', 'per tx', ({ commits }) => commits, { target: value('at most', 0.1) }),
    line('WAL', 'B per tx', ({ wal }) => wal),
    line('RPC calls', 'per tx', ({ rpc }) => total(rpc), { target: value('at most', 1.2) }),
    ...methods.map((method) => line(`RPC calls, ${method}`, 'per tx', ({ rpc }) => rpc.get(method) ?? 0)),
    line('CPU, service', 'ms per tx', ({ service }) => service),
    line('CPU, database', 'ms per tx', ({ database }) => database),
    line('CPU, chain (anvil)', 'ms per tx', ({ chain }) => chain),
    line('CPU, load generator', 'ms per tx', ({ client }) => client),
  ];
}
