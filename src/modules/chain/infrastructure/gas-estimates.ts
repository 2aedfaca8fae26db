import type { Call, GasEstimate } from '../domain/gas-estimate.js';
import type { NodeErrorClass } from '../../../kernel/node-error-class.js';
import { sufficient } from '../domain/evidence.js';
import { actionOf } from '../domain/node-error-action.js';
import { decodeRevert } from './decode-revert.js';
import type { RpcReply, RpcRequest } from './rpc/json-rpc.js';
import { hexQuantity, MalformedAnswer, quantity } from './parse-answer.js';
import type { RpcPool } from './rpc/rpc-pool.js';
import { wordsOf, type RpcReader } from './rpc/rpc-reader.js';

/** Whatever is asked of the node then, it answers the same. */
const ABOUT_THE_NODE: ReadonlySet<NodeErrorClass> = new Set<NodeErrorClass>([
  'transient',
  'rate_limited',
  'ambiguous_internal',
  'method_unsupported',
]);

/** Refusals that end nothing at once: where endpoints differ, these stand. */
const MILDEST_FIRST: readonly GasEstimate['kind'][] = ['insufficient_funds', 'unclear'];

const METHOD = 'eth_estimateGas';

/**
 * Each call has its own answer. Estimated on `latest`, the one state that every node has. One endpoint's "yes" is enough; what it
 * refuses is asked of all endpoints, for a payload may fail for it.
 */
export async function estimateGas(pool: RpcPool, rpc: RpcReader, calls: readonly Call[]): Promise<GasEstimate[]> {
  const params = calls.map((call) => [paramsOf(call), 'latest']);
  const replies = await rpc.replies(METHOD, params);
  const first = calls.map((_, i) => estimateFrom(rpc, replies[i]));
  const refused = first.flatMap((estimate, i) => (isRefusal(estimate) ? [i] : []));
  if (refused.length === 0 || pool.hasOneEndpoint) return first;
  const requests = refused.map((i): RpcRequest => ({ method: METHOD, params: params[i] ?? [] }));
  const answers = await pool.answers('fail_payload', requests);
  const agreed = new Map(
    refused.map((i, at) => [
      i,
      together(
        answers.map(({ replies: own, isCurrent }) => {
          const estimate = estimateFrom(rpc, own[at]);
          // One that lags refuses what was right a moment ago.
          return isCurrent || !isRefusal(estimate) ? estimate : { kind: 'unavailable', message: 'the endpoint lags' };
        }),
      ),
    ]),
  );
  return first.map((estimate, i) => agreed.get(i) ?? estimate);
}

/** A refusal stands when nobody contradicts it and at least half of the endpoints say so; the one that can pass by itself first. */
function together(estimates: readonly GasEstimate[]): GasEstimate {
  const success = estimates.find(({ kind }) => kind === 'ok');
  if (success) return success;
  const refusals = sufficient(
    'fail_payload',
    estimates.map((estimate) => (isRefusal(estimate) ? estimate : null)),
  );
  const mildest = MILDEST_FIRST.map((mild) => refusals?.find(({ kind }) => kind === mild)).find((found) => found);
  return (
    mildest ??
    refusals?.[0] ?? { kind: 'unavailable', message: 'refused by one endpoint, and too few others could say' }
  );
}

function isRefusal({ kind }: GasEstimate): boolean {
  return kind !== 'ok' && kind !== 'unavailable';
}

function estimateFrom(rpc: RpcReader, reply: RpcReply | undefined): GasEstimate {
  if (reply?.kind === 'result') return estimated(reply.value);
  if (reply?.kind !== 'error') return { kind: 'unavailable', message: wordsOf(reply) };
  const { message } = reply.error;
  const errorClass = rpc.classOf(METHOD, reply.error);
  if (errorClass === 'execution_reverted') return { kind: 'reverted', reason: decodeRevert(reply.error) };
  if (errorClass === 'insufficient_funds') return { kind: 'insufficient_funds', message };
  if (actionOf(errorClass).response === 'fail_payload') return { kind: 'rejected', message };
  return { kind: ABOUT_THE_NODE.has(errorClass) ? 'unavailable' : 'unclear', message };
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
