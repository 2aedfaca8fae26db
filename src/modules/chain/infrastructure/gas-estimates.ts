import type { Call, GasEstimate } from '../domain/gas-estimate.js';
import { actionOf } from '../domain/node-error-action.js';
import { decodeRevert } from './decode-revert.js';
import type { RpcReply } from './json-rpc.js';
import { hexQuantity, MalformedAnswer, quantity } from './parse-answer.js';
import { wordsOf, type RpcReader } from './rpc-reader.js';

const METHOD = 'eth_estimateGas';

/** Each call has its own answer. Estimated on `latest`, the one state that every node has. */
export async function estimateGas(rpc: RpcReader, calls: readonly Call[]): Promise<GasEstimate[]> {
  const replies = await rpc.replies(
    METHOD,
    calls.map((call) => [paramsOf(call), 'latest']),
  );
  return calls.map((_, i) => estimateFrom(rpc, replies[i]));
}

function estimateFrom(rpc: RpcReader, reply: RpcReply | undefined): GasEstimate {
  if (reply?.kind === 'result') return estimated(reply.value);
  if (reply?.kind !== 'error') return { kind: 'unavailable', message: wordsOf(reply) };
  const { message } = reply.error;
  const errorClass = rpc.classOf(METHOD, reply.error);
  if (errorClass === 'execution_reverted') return { kind: 'reverted', reason: decodeRevert(reply.error) };
  if (errorClass === 'insufficient_funds') return { kind: 'insufficient_funds', message };
  return { kind: actionOf(errorClass).response === 'fail_payload' ? 'rejected' : 'unavailable', message };
}

function estimated(value: unknown): GasEstimate {
  try {
    return { kind: 'ok', gas: quantity(value, 'gas') };
  } catch (error) {
    if (error instanceof MalformedAnswer) return { kind: 'unavailable', message: error.message };
    throw error;
  }
}

function paramsOf({ from, to, value, data, accessList }: Call): Record<string, unknown> {
  return {
    from,
    ...(to === null ? {} : { to }),
    value: hexQuantity(value),
    data,
    ...(accessList === undefined ? {} : { accessList }),
  };
}
