import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { spawnDetached } from '../../src/dev/detached-process.js';
import { DEV_CHAIN_ID, DEV_MNEMONIC } from '../../src/dev/dev-accounts.js';
import { freePort } from '../../src/dev/free-port.js';
import { chainIdOf } from '../../src/dev/json-rpc.js';
import { poll } from '../../src/dev/poll.js';

/** A node on 127.0.0.1 that mines when it is told to (`evm_mine`). */
export interface RunningHardhat {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

const READY_TIMEOUT_MS = 60_000;
const STOP_GRACE_MS = 10_000;

/**
 * A second implementation beside anvil: other words for its errors, 10 % more on both fees for a replacement, and no
 * `eth_getBlockReceipts`. Measured: it answers after one second, with 100 MB of memory.
 */
export async function startHardhat(): Promise<RunningHardhat> {
  const port = await freePort();
  const url = `http://127.0.0.1:${String(port)}`;
  const workDir = mkdtempSync(join(tmpdir(), 'lockstep-hardhat-'));
  const logFile = join(workDir, 'hardhat.log');
  const node = await spawnDetached({
    command: process.execPath,
    args: [hardhatProgram(), '--config', configIn(workDir), 'node', '--hostname', '127.0.0.1', '--port', String(port)],
    env: { ...process.env, ...homeIn(workDir), NODE_OPTIONS: '', HARDHAT_DISABLE_TELEMETRY_PROMPT: 'true' },
    output: { file: logFile },
  });
  const stop = async (): Promise<void> => {
    await node.stop('SIGTERM', STOP_GRACE_MS);
    rmSync(workDir, { recursive: true, force: true });
  };
  const ready = await poll(READY_TIMEOUT_MS, async () => {
    if (node.exitStatus) return false;
    return chainIdOf(url, 2_000).then(
      () => true,
      () => null,
    );
  });
  if (ready === true) return { url, pid: node.identity.pid, stop };
  const words = readFileSync(logFile, 'utf8').slice(-2_000);
  await stop();
  throw new Error(`hardhat did not start: ${words}`);
}

/** Where it would otherwise write into the home folder. */
function homeIn(folder: string): NodeJS.ProcessEnv {
  return { XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder, XDG_CACHE_HOME: folder };
}

/** The program itself: killing `npx` would leave the node running. */
function hardhatProgram(): string {
  const manifest = createRequire(import.meta.url).resolve('hardhat/package.json');
  return join(dirname(manifest), 'internal', 'cli', 'bootstrap.js');
}

function configIn(folder: string): string {
  const file = join(folder, 'hardhat.config.cjs');
  const config = {
    solidity: '0.8.24',
    networks: {
      hardhat: {
        chainId: DEV_CHAIN_ID,
        mining: { auto: false, interval: 0 },
        accounts: { mnemonic: DEV_MNEMONIC, count: 10 },
      },
    },
  };
  writeFileSync(file, `module.exports = ${JSON.stringify(config)};\n`);
  return file;
}
