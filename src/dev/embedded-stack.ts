import { existsSync } from 'node:fs';
import { hashAt, readChainMemory } from './chain-memory.js';
import { describeMissingHalf, describeOtherChain, driftMessage } from './drift.js';
import { startPostgres } from './embedded-postgres.js';
import { startAnvil } from './anvil.js';
import { preferPort } from './free-port.js';
import { LaunchError } from './launch-error.js';
import type { Log } from './log.js';
import { kept } from './paths.js';
import type { PidFile } from './pid-file.js';
import { hasCluster } from './postgres-home.js';
import type { RunningParts } from './running-parts.js';
import type { StopSignal } from './stop-signal.js';

const USUAL_ANVIL_PORT = 8545;
const USUAL_POSTGRES_PORT = 54329;

export interface EmbeddedStack {
  readonly databaseUrl: string;
  readonly rpcUrl: string;
}

interface Launch {
  readonly log: Log;
  readonly pids: PidFile;
  readonly parts: RunningParts;
  readonly stop: StopSignal;
}

/** The embedded database and the dev chain, with their data from the last run. */
export async function startEmbeddedStack({ log, pids, parts, stop }: Launch): Promise<EmbeddedStack> {
  const existed = { database: hasCluster(kept.postgres), chain: existsSync(kept.chainState) };
  refuse(describeMissingHalf({ ...existed, history: false }));

  log(existed.database ? 'starting PostgreSQL' : 'creating a PostgreSQL database (first start)');
  const port = await preferPort(USUAL_POSTGRES_PORT);
  const postgres = await startPostgres({ dataDir: kept.postgres, port, durable: true, log });
  pids.add('postgres', postgres.identity);
  parts.add('PostgreSQL', () => postgres.stop());
  log(`PostgreSQL answers on port ${String(postgres.port)} (pid ${String(postgres.pid)})`);
  stop.throwIfRequested();

  const memory = await readChainMemory(postgres.url);
  refuse(describeMissingHalf({ ...existed, history: memory.hasHistory }));
  log(existed.chain ? 'starting the dev chain with its stored state' : 'starting a new dev chain');
  const anvil = await startAnvil({
    port: await preferPort(USUAL_ANVIL_PORT),
    blockTime: 1,
    stateFile: kept.chainState,
    log,
  });
  pids.add('anvil', anvil.identity);
  parts.add('anvil', () => anvil.stop());
  stop.throwIfRequested();

  const { lastFinal } = memory;
  if (lastFinal) refuse(describeOtherChain(lastFinal, await hashAt(anvil.url, lastFinal.number)));
  return { databaseUrl: postgres.url, rpcUrl: anvil.url };
}

function refuse(drift: string | null): void {
  if (drift !== null) throw new LaunchError(driftMessage(drift));
}
