import { setTimeout as sleep } from 'node:timers/promises';
import { accounts } from './accounts.js';
import { startChain } from './chain.js';
import { signLean } from './lean-envelope.js';
import { RpcClient } from './rpc-client.js';

/** The best of 50 to 1,000 by 4 to 16, tried on two cores: 4,700 tx/s, against 3,900 with 100 by 8. */
const BATCH = 500;
const BATCHES_IN_FLIGHT = 4;
const WARM_UP = 500;
const LOOK_MS = 20;

/**
 * The limit to compare with: signs and sends, and nothing else. No database, no tracking, no answers looked at but for
 * errors. @returns transactions mined per second, from the start until the last one is in a block
 */
export async function bareLoop(signers: number, transactions: number): Promise<number> {
  const chain = await startChain(signers);
  const rpc = new RpcClient(chain.url, BATCHES_IN_FLIGHT);
  try {
    await sendAll(rpc, signers, 0, WARM_UP);
    await allMined(rpc, WARM_UP);
    const start = performance.now();
    await sendAll(rpc, signers, WARM_UP, transactions);
    await allMined(rpc, WARM_UP + transactions);
    return (transactions * 1000) / (performance.now() - start);
  } finally {
    await rpc.close();
    await chain.stop();
  }
}

/** Several batches under way at once; the node sorts out what arrives before its predecessor. */
async function sendAll(rpc: RpcClient, signers: number, from: number, count: number): Promise<void> {
  const keys = accounts(signers);
  const end = from + count;
  let next = from;
  const sender = async (): Promise<void> => {
    while (next < end) {
      const first = next;
      next = Math.min(end, first + BATCH);
      await rpc.post(batchText(keys, first, next));
    }
  };
  await Promise.all(Array.from({ length: BATCHES_IN_FLIGHT }, sender));
}

function batchText(keys: ReturnType<typeof accounts>, first: number, end: number): string {
  const calls: string[] = [];
  for (let n = first; n < end; n += 1) {
    const key = keys[n % keys.length];
    // Round robin, so each signer has sent one in every `keys.length`.
    if (key) calls.push(sendText(n, signLean(key, Math.floor(n / keys.length), n)));
  }
  return `[${calls.join(',')}]`;
}

function sendText(id: number, raw: string): string {
  return `{"jsonrpc":"2.0","id":${id},"method":"eth_sendRawTransaction","params":["${raw}"]}`;
}

async function allMined(rpc: RpcClient, expected: number): Promise<void> {
  let mined = 0;
  let next = 1;
  while (mined < expected) {
    const head = await rpc.number('eth_blockNumber');
    for (; next <= head; next += 1)
      mined += await rpc.number('eth_getBlockTransactionCountByNumber', `0x${next.toString(16)}`);
    if (mined < expected) await sleep(LOOK_MS);
  }
}
