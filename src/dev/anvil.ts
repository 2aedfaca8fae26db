import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { findAnvil } from './anvil-binary.js';
import { type DetachedProcess, spawnDetached } from './detached-process.js';
import { DEV_CHAIN_ID, DEV_MNEMONIC } from './dev-accounts.js';
import { freePort } from './free-port.js';
import { chainIdOf } from './json-rpc.js';
import { LaunchError } from './launch-error.js';
import { type Log, silent } from './log.js';
import { poll } from './poll.js';
import { isPortInUse } from './port-in-use.js';
import type { ProcessIdentity } from './process-identity.js';

export interface AnvilOptions {
  /** A free port by default. */
  readonly port?: number;
  /** Seconds between blocks. Without it every transaction is mined at once, in its own block. */
  readonly blockTime?: number;
  /** File that keeps the chain over a restart; its folder is created when missing. Without it the chain is in memory only. */
  readonly stateFile?: string;
  /** Funded accounts of the dev mnemonic; 10 by default. */
  readonly accounts?: number;
  /** With `blockTime`: also mine each transaction at once. */
  readonly mixedMining?: boolean;
  readonly chainId?: number;
  readonly gasLimit?: number;
  readonly extraArgs?: readonly string[];
  readonly log?: Log;
}

export interface RunningAnvil {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  readonly identity: ProcessIdentity;
  /** Writes the state file, if there is one. */
  stop(): Promise<void>;
  /** Sends SIGKILL. */
  kill(): Promise<void>;
}

/**
 * Seconds between dumps of the state. A kill -9 loses at most the blocks since the last dump: fewer than the 3 confirmations of the dev
 * config, so no lost block was final, and the loss looks like a small reorg. Every dump writes the whole chain (measured: 1.7 kB per empty
 * block), so not more often than needed.
 */
const STATE_INTERVAL_SECONDS = 2;
const READY_TIMEOUT_MS = 25_000;
/** The whole chain is read first. */
const READY_WITH_STATE_TIMEOUT_MS = 60_000;
/** A dump takes 0.2 s per 25,000 blocks. */
const STOP_GRACE_MS = 60_000;

/** Starts a real EVM node on 127.0.0.1; resolves when it answers. */
export async function startAnvil(options: AnvilOptions = {}): Promise<RunningAnvil> {
  const port = options.port ?? (await freePort());
  // Otherwise another node on this port would answer instead of ours.
  if (await isPortInUse(port)) throw new LaunchError(`anvil did not start: port ${String(port)} is in use.`);
  const url = `http://127.0.0.1:${String(port)}`;
  const workDir =
    options.stateFile === undefined ? mkdtempSync(join(tmpdir(), 'lockstep-anvil-')) : dirname(options.stateFile);
  mkdirSync(workDir, { recursive: true });
  const logFile = join(workDir, 'anvil.log');
  const node = await spawnDetached({
    command: findAnvil(),
    args: anvilArguments(options, port, workDir),
    output: { file: logFile },
  });
  await waitUntilReady(node, url, logFile, options);
  (options.log ?? silent)(`anvil answers on ${url} (pid ${String(node.identity.pid)})`);

  const end = async (signal: NodeJS.Signals): Promise<void> => {
    await node.stop(signal, STOP_GRACE_MS);
    if (options.stateFile === undefined) rmSync(workDir, { recursive: true, force: true });
  };
  return {
    url,
    port,
    pid: node.identity.pid,
    identity: node.identity,
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  };
}

export function anvilArguments(options: AnvilOptions, port: number, workDir: string): string[] {
  const flags: [string, string | number | undefined][] = [
    ['--host', '127.0.0.1'],
    ['--port', port],
    ['--chain-id', options.chainId ?? DEV_CHAIN_ID],
    ['--mnemonic', DEV_MNEMONIC],
    ['--accounts', options.accounts ?? 10],
    // Not in the home folder, which may be read-only and belongs to the user.
    ['--cache-path', join(workDir, 'cache')],
    ['--block-time', options.blockTime],
    ['--gas-limit', options.gasLimit],
    // This option is enough (anvil 1.7.1; dev-stack.int-spec tests it): after a restart every block has its hash, transactions and receipts
    // are there, and the next block has the right parent. Only the state at old blocks (eth_call in the past) is lost, which
    // --preserve-historical-states would keep for three times the bytes per block.
    ['--state', options.stateFile],
    ['--state-interval', options.stateFile === undefined ? undefined : STATE_INTERVAL_SECONDS],
  ];
  return [
    ...flags.flatMap(([flag, value]) => (value === undefined ? [] : [flag, String(value)])),
    ...(options.mixedMining === true ? ['--mixed-mining'] : []),
    ...(options.extraArgs ?? []),
  ];
}

async function waitUntilReady(
  node: DetachedProcess,
  url: string,
  logFile: string,
  options: AnvilOptions,
): Promise<void> {
  const timeout = options.stateFile === undefined ? READY_TIMEOUT_MS : READY_WITH_STATE_TIMEOUT_MS;
  const ready = await poll(timeout, async () => {
    if (node.exitStatus) return false;
    return chainIdOf(url, 2_000).then(
      () => true,
      () => null,
    );
  });
  if (ready === true) return;
  await node.stop('SIGKILL', 1_000);
  const tail = readFileSync(logFile, 'utf8').trim().slice(-2_000);
  const hint =
    options.stateFile === undefined
      ? ''
      : `\nIf it cannot read ${options.stateFile}, \`npm run reset\` starts a new chain and database.`;
  throw new LaunchError(`anvil did not start. End of its log (${logFile}):\n${tail}${hint}`);
}
