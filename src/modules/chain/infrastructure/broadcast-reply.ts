import type { NodeErrorClass } from '../../../kernel/node-error-class.js';
import type { BroadcastOutcome } from '../domain/broadcast-outcome.js';
import type { SignedBytes } from '../domain/chain-connector.js';
import { combineOutcomes } from '../domain/combine-outcomes.js';
import { actionOf } from '../domain/node-error-action.js';
import { firstDecided } from './rpc/first-decided.js';
import type { NodeError, RpcReply } from './rpc/json-rpc.js';
import type { RpcPool } from './rpc/rpc-pool.js';
import type { RpcReader } from './rpc/rpc-reader.js';

/**
 * The outcome of one send at one endpoint. A failure is `unknown` (docs/invariants.md, I6), unless the request was certainly not
 * delivered.
 */
export function broadcastOutcome(
  transaction: SignedBytes,
  reply: RpcReply,
  classify: (error: NodeError) => NodeErrorClass,
): BroadcastOutcome {
  switch (reply.kind) {
    case 'result':
      return returned(transaction, reply.value);
    case 'error':
      return refused(classify(reply.error), reply.error.message, reply.afterSilence === true);
    case 'failed':
      if (!reply.failure.mayHaveArrived) return { kind: 'not_sent', message: reply.failure.message };
      return {
        kind: 'unknown',
        errorClass: reply.failure.reason === 'rate_limited' ? 'rate_limited' : 'transient',
        message: reply.failure.message,
      };
  }
}

/** A node answers the hash of the bytes that it accepted: another hash means that it accepted other bytes, or is not a node. */
function returned(transaction: SignedBytes, value: unknown): BroadcastOutcome {
  if (typeof value === 'string' && value.toLowerCase() === transaction.hash) return { kind: 'accepted' };
  const answer = value === undefined ? 'nothing' : JSON.stringify(value);
  return {
    kind: 'unknown',
    errorClass: 'hash_mismatch',
    message: `the node answered ${answer.slice(0, 80)} for ${transaction.hash}`,
  };
}

/** @param afterSilence it may have been taken when it was sent before, so a refusal proves nothing */
function refused(errorClass: NodeErrorClass, message: string, afterSilence: boolean): BroadcastOutcome {
  if (isAcceptance(errorClass)) return { kind: 'accepted', errorClass };
  const isRejected = !afterSilence && actionOf(errorClass).outcome === 'rejected';
  return isRejected ? { kind: 'rejected', errorClass, message } : { kind: 'unknown', errorClass, message };
}

function isAcceptance(errorClass: NodeErrorClass): errorClass is 'already_known' | 'already_mined' {
  return actionOf(errorClass).outcome === 'accepted';
}

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
