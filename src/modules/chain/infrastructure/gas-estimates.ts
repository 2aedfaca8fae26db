import type { Call, CallAuthorization, GasEstimate } from '../domain/gas-estimate.js';
import type { NodeErrorClass } from '../../../kernel/node-error-class.js';
import { MOST_GAS, TRANSFER_GAS } from '../../../kernel/transaction-gas.js';
import { sufficient } from '../domain/evidence.js';
import { actionOf } from '../domain/node-error-action.js';
import { decodeRevert } from './decode-revert.js';
import type { RpcReply, RpcRequest } from './rpc/json-rpc.js';
import { fields, hexQuantity, MalformedAnswer, parsedOrNull, quantity } from './parse-answer.js';
import type { RpcPool } from './rpc/rpc-pool.js';
import { reasonOf, type RpcReader } from './rpc/rpc-reader.js';

/** These errors are about the endpoint, not about the call. */
const ENDPOINT_ERRORS: ReadonlySet<NodeErrorClass> = new Set<NodeErrorClass>([
  'transient',
  'rate_limited',
  'ambiguous_internal',
  'method_unsupported',
]);

/** When endpoints refuse for different reasons, these reasons win, because they do not fail the payload at once. */
const MILDEST_FIRST: readonly GasEstimate['kind'][] = ['insufficient_funds', 'unclear'];

const METHOD = 'eth_estimateGas';

/** No chain has blocks with less, so the margin of a lower estimate fits into each. */
const SMALL_GAS = 1n << 22n;

/**
 * Estimates each call on `latest`, the one state that every node has. A success at one endpoint is enough. A call that it refuses is
 * estimated by all endpoints, because the refusal may fail a payload; so is one for which it answers what is no gas.
 */
export async function estimateGas(pool: RpcPool, rpc: RpcReader, calls: readonly Call[]): Promise<GasEstimate[]> {
  const estimates = await estimated(pool, rpc, calls);
  if (!estimates.some(isLarge)) return estimates;
  const blockGas = await blockGasOf(rpc);
  return estimates.map((estimate) => (isLarge(estimate) && blockGas !== null ? { ...estimate, blockGas } : estimate));
}

function isLarge(estimate: GasEstimate): boolean {
  return estimate.kind === 'ok' && estimate.gas > SMALL_GAS;
}

/** Null when no node tells it (docs/invariants.md, K1). */
async function blockGasOf(rpc: RpcReader): Promise<bigint | null> {
  const [reply] = await rpc.replies('eth_getBlockByNumber', [['latest', false]]);
  return parsedOrNull(reply, (value) => quantity(fields(value, 'block')['gasLimit'], 'block.gasLimit'));
}

async function estimated(pool: RpcPool, rpc: RpcReader, calls: readonly Call[]): Promise<GasEstimate[]> {
  const params = calls.map((call) => [paramsOf(call), 'latest']);
  const replies = await rpc.replies(METHOD, params);
  const first = calls.map((_, i) => estimateFrom(rpc, replies[i]));
  const refused = first.flatMap((estimate, i) => {
    const isNonsense = replies[i]?.kind === 'result' && estimate.kind !== 'ok';
    return isNonsense || isRefusal(estimate) ? [i] : [];
  });
  if (refused.length === 0 || pool.hasOneEndpoint) return first;
  const requests = refused.map((i): RpcRequest => ({ method: METHOD, params: params[i] ?? [] }));
  const answers = await pool.answers('fail_payload', requests);
  const agreed = new Map(
    refused.map((i, at) => [
      i,
      combined(
        answers.map(({ replies: own, isCurrent }) => {
          const estimate = estimateFrom(rpc, own[at]);
          // An endpoint that lags estimates on an old state, so its refusal does not count.
          return isCurrent || !isRefusal(estimate)
            ? estimate
            : { kind: 'unavailable', message: 'the endpoint lags behind the head' };
        }),
      ),
    ]),
  );
  return first.map((estimate, i) => agreed.get(i) ?? estimate);
}

/** A refusal needs at least half of the endpoints and no success; of several refusals the mildest wins. */
function combined(estimates: readonly GasEstimate[]): GasEstimate {
  const success = estimates.find(({ kind }) => kind === 'ok');
  if (success) return success;
  const refusals = sufficient(
    'fail_payload',
    estimates.map((estimate) => (isRefusal(estimate) ? estimate : null)),
  );
  const mildest = MILDEST_FIRST.map((mild) => refusals?.find(({ kind }) => kind === mild)).find((found) => found);
  return (
    mildest ??
    refusals?.[0] ?? { kind: 'unavailable', message: 'refused by one endpoint, and too few other endpoints answered' }
  );
}

function isRefusal({ kind }: GasEstimate): boolean {
  return kind !== 'ok' && kind !== 'unavailable' && kind !== 'silent';
}

function estimateFrom(rpc: RpcReader, reply: RpcReply | undefined): GasEstimate {
  if (reply?.kind === 'result') return gasFrom(reply.value);
  if (reply?.kind === 'failed' && reply.failure.reason === 'call_silent')
    return { kind: 'silent', message: reply.failure.message };
  if (reply?.kind !== 'error') return { kind: 'unavailable', message: reasonOf(reply) };
  const { message } = reply.error;
  const errorClass = rpc.classOf(METHOD, reply.error);
  if (errorClass === 'execution_reverted') return { kind: 'reverted', reason: decodeRevert(reply.error) };
  if (errorClass === 'insufficient_funds') return { kind: 'insufficient_funds', message };
  if (actionOf(errorClass).response === 'fail_payload') return { kind: 'rejected', message };
  return { kind: ENDPOINT_ERRORS.has(errorClass) ? 'unavailable' : 'unclear', message };
}

function gasFrom(value: unknown): GasEstimate {
  try {
    const gas = quantity(value, 'gas');
    if (gas < TRANSFER_GAS || gas > MOST_GAS) throw new MalformedAnswer('gas', 'a number from 21,000 and below 2^63');
    return { kind: 'ok', gas };
  } catch (error) {
    if (error instanceof MalformedAnswer) return { kind: 'unavailable', message: error.message };
    throw error;
  }
}

function paramsOf({ from, to, value, data, accessList, blobHashes, authorizationList }: Call): Record<string, unknown> {
  return {
    from,
    ...(to === null ? {} : { to }),
    value: hexQuantity(value),
    data,
    ...(accessList === undefined ? {} : { accessList }),
    ...(blobHashes === undefined ? {} : { blobVersionedHashes: blobHashes }),
    ...(authorizationList === undefined ? {} : { authorizationList: authorizationList.map(authorizationParam) }),
  };
}

function authorizationParam({ chainId, address, nonce, yParity, r, s }: CallAuthorization): Record<string, string> {
  return {
    chainId: hexQuantity(chainId),
    address,
    nonce: hexQuantity(nonce),
    yParity: hexQuantity(yParity),
    // Quantities have no leading zeros.
    r: hexQuantity(BigInt(r)),
    s: hexQuantity(BigInt(s)),
  };
}
