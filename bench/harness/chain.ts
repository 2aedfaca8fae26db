import { startAnvil } from '../../test/support/anvil.js';
import { Geth } from '../../test/support/geth.js';
import { atExit, killIfAlive } from './at-exit.js';

export interface Chain {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** Blocks are never the bound: room for a million of our transactions in each. */
export const CHAIN_GAS_LIMIT = 30_000_000_000;
/** A line of log for each call would be work that a node in production does not do. */
export const CHAIN_FLAGS = ['--quiet'];

/** A real geth (`GETH_BIN` names another than the one of the path), with the pool that it has by default. */
export async function startGeth(): Promise<Chain> {
  const geth = await Geth.start({ genesis: { gasLimit: BigInt(CHAIN_GAS_LIMIT) } });
  return untilExit(geth, () => geth.stop());
}

/** A fresh chain with 1 s blocks, so that nobody pays for the history of the measurement before. */
export async function startChain(fundedAccounts: number): Promise<Chain> {
  const anvil = await startAnvil({
    blockTime: 1,
    accounts: fundedAccounts,
    gasLimit: CHAIN_GAS_LIMIT,
    extraArgs: CHAIN_FLAGS,
  });
  return untilExit(anvil, () => anvil.kill());
}

/** No process outlives the benchmark. */
function untilExit({ url, pid }: Omit<Chain, 'stop'>, end: () => Promise<void>): Chain {
  const forget = atExit(() => killIfAlive(pid, 'SIGKILL'));
  return {
    url,
    pid,
    async stop() {
      await end();
      forget();
    },
  };
}
