import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { DEV_MNEMONIC } from '../src/dev/dev-accounts.js';
import { Service } from '../test/support/service.js';
import { armAtExit, atExit } from './harness/at-exit.js';
import { startChild } from './harness/child.js';
import { cpuOf, cpuOfTree } from './harness/cpu-time.js';
import { machine } from './harness/machine.js';
import { type BenchPostgres, withPostgres } from './harness/postgres.js';
import { print } from './harness/progress.js';
import { serverCounts } from './harness/server-counts.js';
import { TxLog } from './harness/tx-log.js';

const HELP = `npm run bench:idle-chains -- [--chains 50] [--signers 1000] [--nodes 3] [--seconds 30]

What nodes with many chains and signers cost that have nothing to do: RPC calls, statements and CPU per second, on chains where
nobody ever worked, within an hour after the last work on each, and later.`;

/** Starting derives every key. */
const SETTLE_MS = 10_000;

interface Sizes {
  readonly chains: number;
  readonly signers: number;
  readonly nodes: number;
  readonly seconds: number;
}

interface Counted {
  readonly calls: number;
  readonly statements: number;
  readonly nodeCpu: number;
  readonly databaseCpu: number;
}

export async function main(args: readonly string[]): Promise<number> {
  const sizes = sizesOf(args);
  if (!sizes) {
    print(HELP);
    return 0;
  }
  armAtExit();
  const { cores, cpu, node, postgres } = await machine();
  print(`${cores} cores (${cpu}), Node ${node}, PostgreSQL ${postgres}`);
  print(`${sizes.chains} chains of ${sizes.signers} signers, ${sizes.nodes} nodes, ${sizes.seconds} s each`);
  const rpc = await startChild('many-chains', []);
  try {
    await withPostgres(true, (server) => measure(sizes, rpc.greeting, server));
  } finally {
    await rpc.stop();
  }
  return 0;
}

function sizesOf(args: readonly string[]): Sizes | null {
  const number = { type: 'string' } as const;
  const { values } = parseArgs({
    args: [...args],
    options: { chains: number, signers: number, nodes: number, seconds: number, help: { type: 'boolean' } },
  });
  if (values.help === true) return null;
  const { chains = '50', signers = '1000', nodes = '3', seconds = '30' } = values;
  const sizes = { chains: Number(chains), signers: Number(signers), nodes: Number(nodes), seconds: Number(seconds) };
  return Object.values(sizes).every((size) => Number.isInteger(size) && size > 0) ? sizes : null;
}

async function measure(sizes: Sizes, rpcUrl: string, postgres: BenchPostgres): Promise<void> {
  const databaseUrl = await postgres.createDatabase();
  const log = await TxLog.open(databaseUrl);
  const services: Service[] = [];
  try {
    for (let n = 0; n < sizes.nodes; n += 1) services.push(await startService(sizes, rpcUrl, databaseUrl));
    const count = (): Promise<Counted> => countAll(rpcUrl, log, services, postgres);
    await sleep(SETTLE_MS);
    print(perSecond('never used', sizes, await during(sizes, count)));
    await log.query(
      `INSERT INTO chain_activity SELECT DISTINCT chain_id, now() FROM signer ON CONFLICT (chain_id) DO UPDATE SET last_work_at = now()`,
    );
    await sleep(SETTLE_MS + 30_000);
    print(perSecond('within the hour after work', sizes, await during(sizes, count)));
    await log.query(`UPDATE chain_activity SET last_work_at = clock_timestamp() - interval '2 hours'`);
    await sleep(SETTLE_MS + 30_000);
    print(perSecond('later', sizes, await during(sizes, count)));
  } finally {
    await Promise.all(services.map((service) => service.kill()));
    await log.close();
  }
}

async function startService({ chains, signers }: Sizes, rpcUrl: string, databaseUrl: string): Promise<Service> {
  const chainsOf = (id: number): Record<string, unknown> => ({
    id,
    rpcUrls: [`${rpcUrl}/chains/${id}`],
    signers: [{ type: 'mnemonic', phrase: DEV_MNEMONIC, count: signers }],
  });
  const service = await Service.start({
    databaseUrl,
    rpcUrl: `${rpcUrl}/chains/1`,
    accounts: signers,
    chain: { id: 1, pollInterval: '1s' },
    moreChains: Array.from({ length: chains - 1 }, (_, n) => chainsOf(n + 2)),
  });
  atExit(() => service.signal('SIGKILL'));
  return service;
}

async function countAll(
  rpcUrl: string,
  log: TxLog,
  services: readonly Service[],
  postgres: BenchPostgres,
): Promise<Counted> {
  const { statements } = await serverCounts(log);
  return {
    calls: Number(await (await fetch(`${rpcUrl}/calls`)).text()),
    statements,
    nodeCpu: services.reduce((sum, { pid }) => sum + cpuOf(pid), 0),
    databaseCpu: cpuOfTree(postgres.pid),
  };
}

async function during({ seconds }: Sizes, count: () => Promise<Counted>): Promise<Counted> {
  const before = await count();
  await sleep(seconds * 1000);
  const after = await count();
  return {
    calls: after.calls - before.calls,
    statements: after.statements - before.statements,
    nodeCpu: after.nodeCpu - before.nodeCpu,
    databaseCpu: after.databaseCpu - before.databaseCpu,
  };
}

function perSecond(what: string, { seconds, nodes }: Sizes, counted: Counted): string {
  const rate = (count: number): string => (count / seconds).toFixed(1);
  const cpu = `${rate(counted.nodeCpu / nodes)} ms of CPU per node, ${rate(counted.databaseCpu)} ms of the database`;
  return `${what}: per second ${rate(counted.calls)} RPC calls, ${rate(counted.statements)} statements, ${cpu}`;
}
