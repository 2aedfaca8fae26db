import type { BroadcastOutcome } from '../domain/broadcast-outcome.js';
import type { SignedBytes } from '../domain/chain-connector.js';
import { combineOutcomes } from '../domain/combine-outcomes.js';
import { broadcastOutcome } from './broadcast-reply.js';
import { firstDecided } from './rpc/first-decided.js';
import type { RpcPool } from './rpc/rpc-pool.js';
import type { RpcReader } from './rpc/rpc-reader.js';

const METHOD = 'eth_sendRawTransaction';
type Verdicts = readonly (BroadcastOutcome | null)[];

/** Sends to all endpoints, in the given order. Returns when each transaction was accepted by some endpoint, else after all answers. */
export async function broadcast(
  pool: RpcPool,
  rpc: RpcReader,
  transactions: readonly SignedBytes[],
): Promise<BroadcastOutcome[]> {
  if (transactions.length === 0) return [];
  const answers = await pool.sendToAll(transactions.map(({ raw }) => ({ method: METHOD, params: [raw] })));
  const verdicts = answers.map(async (answer): Promise<Verdicts> => {
    const replies = await answer;
    return transactions.map((transaction, i) => {
      const reply = replies[i];
      return reply === undefined ? null : broadcastOutcome(transaction, reply, (error) => rpc.classOf(METHOD, error));
    });
  });
  const together = (sofar: readonly Verdicts[]) =>
    transactions.map((_, i) => combineOutcomes(sofar.flatMap((verdict) => verdict[i] ?? [])));
  const isSettled = (sofar: readonly Verdicts[]) => together(sofar).every(({ kind }) => kind === 'accepted');
  return together(await firstDecided(verdicts, isSettled));
}
