import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DetachedProcess, spawnDetached } from '../../src/dev/detached-process.js';
import { freePort } from '../../src/dev/free-port.js';
import { callRpc } from '../../src/dev/json-rpc.js';
import { poll } from '../../src/dev/poll.js';
import { type GenesisOptions, gethGenesis } from './geth-genesis.js';

export interface GethOptions {
  /** Seconds between blocks; 1 by default. */
  readonly period?: number;
  readonly genesis?: Partial<GenesisOptions>;
  /** Blocks are empty until {@link Geth.release}: the least tip that geth mines is above every tip of a test. */
  readonly held?: boolean;
  /** Flags beside those of a test chain, such as the limits of the pool. */
  readonly flags?: readonly string[];
}

const GENESIS: GenesisOptions = { gasLimit: 30_000_000n, baseFeePerGas: 10n ** 9n, delegated: [], osaka: true };
const PROGRAM = process.env['GETH_BIN'] || 'geth';
/** Until its first block. */
const READY_TIMEOUT_MS = 20_000;
const STOP_GRACE_MS = 20_000;
/** 100,000 gwei. */
const UNREACHABLE_TIP = '100000000000000';
/** 1 gwei. */
const SUGGESTED_TIP = '1000000000';
/**
 * Keep the chain over a kill -9: an archive node writes each block's state at once, and LevelDB hands each write to the operating system,
 * where Pebble keeps the last ones in the process (measured: 9 blocks of 22 were gone).
 */
const STORAGE = ['--db.engine', 'leveldb', '--state.scheme', 'hash'];

/** A real geth in dev mode on 127.0.0.1, on a chain of its own, with the chain id and the rich accounts of the other test chains. */
export class Geth {
  private process: DetachedProcess | null = null;

  private constructor(
    readonly url: string,
    private readonly folder: string,
    private readonly command: readonly string[],
  ) {}

  static async start(options: GethOptions = {}): Promise<Geth> {
    const [port, enginePort] = [await freePort(), await freePort()];
    const folder = mkdtempSync(join(tmpdir(), 'lockstep-geth-'));
    const genesis = { ...GENESIS, ...options.genesis };
    const genesisFile = join(folder, 'genesis.json');
    const flags = flagsOf(options, folder, genesis.gasLimit, port, enginePort);
    const geth = new Geth(`http://127.0.0.1:${port}`, folder, flags);
    try {
      const dev = JSON.parse(execFileSync(PROGRAM, ['--dev', 'dumpgenesis'], { stdio: 'pipe', encoding: 'utf8' }));
      writeFileSync(genesisFile, JSON.stringify(gethGenesis(genesis, dev.alloc)));
      execFileSync(PROGRAM, ['init', '--datadir', folder, ...STORAGE, genesisFile], { stdio: 'pipe' });
      await geth.boot();
    } catch (error) {
      await geth.stop();
      throw new Error(`geth did not start (${PROGRAM}; GETH_BIN names another): ${String(error)}`, { cause: error });
    }
    return geth;
  }

  /** Whether it takes blobs with a proof for each blob, on a chain before Osaka: from 1.17 on it refuses them. */
  static takesBlobProofs(): boolean {
    const text = execFileSync(PROGRAM, ['version'], { stdio: 'pipe', encoding: 'utf8' });
    return Number(/^Version: 1\.(\d+)/m.exec(text)?.[1]) < 17;
  }

  get pid(): number {
    if (!this.process) throw new Error('geth was never started');
    return this.process.identity.pid;
  }

  call(method: string, ...params: readonly unknown[]): Promise<unknown> {
    return callRpc(this.url, method, params);
  }

  /** From the next block on it mines what pays a tip of 1 wei. */
  async release(): Promise<void> {
    await this.call('miner_setGasPrice', '0x1');
  }

  /** How many transactions its pool has that could be mined, and how many that wait for a lower nonce. */
  async pool(): Promise<{ readonly pending: number; readonly queued: number }> {
    const { pending, queued } = (await this.call('txpool_status')) as { pending: string; queued: string };
    return { pending: Number(pending), queued: Number(queued) };
  }

  /** kill -9. */
  async kill(): Promise<void> {
    await this.process?.stop('SIGKILL', STOP_GRACE_MS);
  }

  /** Again on the same port, with the chain it had. */
  async boot(): Promise<void> {
    const logFile = join(this.folder, 'geth.log');
    const node = await spawnDetached({ command: PROGRAM, args: this.command, output: { file: logFile } });
    this.process = node;
    const ready = await poll(READY_TIMEOUT_MS, async () => {
      if (node.exitStatus) return false;
      return this.call('eth_blockNumber').then(
        (block) => Number(block) > 0 || null,
        () => null,
      );
    });
    if (ready !== true)
      throw new Error(`it built no block; end of its log:\n${readFileSync(logFile, 'utf8').slice(-2_000)}`);
  }

  async stop(): Promise<void> {
    await this.process?.stop('SIGTERM', STOP_GRACE_MS);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function flagsOf(options: GethOptions, folder: string, gasLimit: bigint, port: number, enginePort: number): string[] {
  return [
    ...['--dev', '--dev.period', String(options.period ?? 1), '--datadir', folder, ...STORAGE, '--gcmode', 'archive'],
    ...['--http', '--http.port', String(port), '--http.api', 'eth,net,web3,txpool,debug,miner'],
    ...['--authrpc.port', String(enginePort), '--port', '0', '--nodiscover', '--maxpeers', '0', '--nat', 'none'],
    ...['--ipcdisable', '--miner.gaslimit', String(gasLimit)],
    // Someone else's, so that no fee of ours comes back to an account of a test.
    ...['--miner.pending.feeRecipient', '0x000000000000000000000000000000000000c0de'],
    // It would suggest the tip that it mines from on.
    ...(options.held === true ? ['--miner.gasprice', UNREACHABLE_TIP, '--gpo.maxprice', SUGGESTED_TIP] : []),
    ...(options.flags ?? []),
  ];
}
