import { setTimeout as sleep } from 'node:timers/promises';
import { poll } from '../../src/dev/poll.js';
import type { Bench } from '../harness/bench.js';
import { cpuOf, residentOf } from '../harness/cpu-time.js';
import { Drive } from '../harness/drive.js';
import { type Finding, finding, value } from '../harness/finding.js';
import type { BenchPostgres } from '../harness/postgres.js';
import { benchStack } from '../harness/profiled-stack.js';
import { serverCounts } from '../harness/server-counts.js';

const FEW = 10;
/** Leases of signers that have nothing to do are given up after a while; who keeps them is measured all the same. */
const QUIET_MS = 180_000;

interface Idle {
  readonly statementsPerSecond: number;
  /** Bytes: also what few statements write to many rows. */
  readonly walPerSecond: number;
  /** Bytes. */
  readonly resident: number;
  /** Of one core. */
  readonly cpuShare: number;
}

/** Signers that each executed something once and have nothing to do now. */
export async function amongIdle(bench: Bench, postgres: BenchPostgres): Promise<Finding[]> {
  const { idleSigners } = bench.sizes;
  const many: Idle[] = [];
  const few: Idle[] = [];
  await measure(bench, postgres, FEW, few);
  await measure(bench, postgres, idleSigners, many);
  const line = (what: string, unit: string, of: (idle: Idle) => number, limit?: number): Finding =>
    finding(6, `${idleSigners} idle signers, ${what}`, unit, many.map(of), {
      yardstick: { name: `${FEW} idle signers`, samples: few.map(of) },
      ...(limit === undefined ? {} : { target: value('below', limit) }),
    });
  return [
    line('SQL statements', 'per s', ({ statementsPerSecond }) => statementsPerSecond, 10),
    line('WAL', 'kB per s', ({ walPerSecond }) => walPerSecond / 1000),
    line('resident memory', 'MB', ({ resident }) => resident / 1e6),
    line('CPU of the service', '% of a core', ({ cpuShare }) => cpuShare * 100),
  ];
}

function measure(bench: Bench, postgres: BenchPostgres, signers: number, samples: Idle[]): Promise<void> {
  const name = `row 6, ${signers} idle signers`;
  const run = (): Promise<Idle> =>
    benchStack(bench, postgres, name, { signers }, async (stack) => {
      const drive = new Drive(stack);
      await drive.run(signers);
      await poll(QUIET_MS, async () => ((await stack.log.heldLeases()) === 0 ? true : null));
      const { pid } = stack.service;
      const { idleSeconds } = bench.sizes;
      const before = { server: await serverCounts(stack.log), cpu: cpuOf(pid) };
      await sleep(idleSeconds * 1000);
      const after = { server: await serverCounts(stack.log), cpu: cpuOf(pid) };
      await drive.check();
      return {
        statementsPerSecond: (after.server.statements - before.server.statements) / idleSeconds,
        walPerSecond: (after.server.wal - before.server.wal) / idleSeconds,
        resident: residentOf(pid).now,
        cpuShare: (after.cpu - before.cpu) / (idleSeconds * 1000),
      };
    });
  return bench.measure(
    name,
    samples,
    run,
    ({ statementsPerSecond, walPerSecond, resident }) =>
      `${statementsPerSecond.toFixed(1)} statements/s, ${(walPerSecond / 1000).toFixed(1)} kB/s of WAL, ${(resident / 1e6).toFixed(0)} MB`,
  );
}
