import type { BroadcastOutcome } from '../domain/broadcast-outcome.js';
import type { SignedBytes } from '../domain/chain-connector.js';
import { actionOf } from '../domain/node-error-action.js';
import type { NodeErrorClass } from '../../../kernel/node-error-class.js';
import type { NodeError, RpcReply } from './rpc/json-rpc.js';

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
      return refused(classify(reply.error), reply.error.message);
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

function refused(errorClass: NodeErrorClass, message: string): BroadcastOutcome {
  if (isAcceptance(errorClass)) return { kind: 'accepted', errorClass };
  const isRejected = actionOf(errorClass).outcome === 'rejected';
  return isRejected ? { kind: 'rejected', errorClass, message } : { kind: 'unknown', errorClass, message };
}

function isAcceptance(errorClass: NodeErrorClass): errorClass is 'already_known' | 'already_mined' {
  return actionOf(errorClass).outcome === 'accepted';
}
