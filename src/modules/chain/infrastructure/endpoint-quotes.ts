import { sufficient } from '../domain/evidence.js';
import type { FeeQuote } from '../domain/fee-quote.js';
import { FEE_HISTORY_BLOCKS, type FeeHistory, parseFeeHistory, TIP_PERCENTILES } from './fee-history.js';
import { blockHeader, hexQuantity, parsedOrNull, quantity } from './parse-answer.js';
import { plainQuoteFrom, quoteFrom, tellsBaseFee } from './quote-from.js';
import type { RpcFailure, RpcRequest } from './rpc/json-rpc.js';
import type { EndpointAnswer } from './rpc/quorum-reads.js';
import type { RpcPool } from './rpc/rpc-pool.js';
import { reasonOf, type RpcReader } from './rpc/rpc-reader.js';

const HISTORY: RpcRequest = {
  method: 'eth_feeHistory',
  params: [hexQuantity(FEE_HISTORY_BLOCKS), 'latest', Object.values(TIP_PERCENTILES)],
};
const SUGGESTION: RpcRequest = { method: 'eth_maxPriorityFeePerGas', params: [] };
const GAS_PRICE: RpcRequest = { method: 'eth_gasPrice', params: [] };
const HEAD: RpcRequest = { method: 'eth_getBlockByNumber', params: ['latest', false] };

/**
 * One quote per endpoint, of at least half of the endpoints; quotes of endpoints that lag or are ahead only if there are no others.
 * Where recent blocks paid no tips, the endpoints are asked for their suggestion. A chain that seems to have no base fee costs one more
 * round trip.
 *
 * @throws RpcUnavailable when too few endpoints answer
 */
export async function endpointQuotes(pool: RpcPool, rpc: RpcReader, minTip: bigint): Promise<readonly FeeQuote[]> {
  const answers = await ask(pool, [HISTORY]);
  const told = sufficient('sign_fee', answers.map(historyOf));
  const current = currentOf(told ?? []).map(({ history }) => history);
  const histories = current.filter(tellsBaseFee).filter(({ nextBaseFee }) => nextBaseFee > 0n);
  if (told === null || histories.length < current.length) return plainQuotes(pool, rpc, minTip, answers);
  if (histories.every(({ tips }) => tips !== null)) return histories.map((history) => quoteFrom(history, null, minTip));
  const suggestions = await ask(pool, [SUGGESTION]);
  assertAnswered(rpc, SUGGESTION, suggestions);
  const suggestion = lowestOf(suggestions);
  // The gas price tells a tip, too.
  if (suggestion === null && suggestions.some(({ replies: [reply] }) => reply?.kind === 'failed'))
    return plainQuotes(pool, rpc, minTip, answers);
  return histories.map((history) => quoteFrom(history, suggestion, minTip));
}

/** Quotes of a chain that seems to have no base fee, or whose nodes do not have `eth_feeHistory`. */
async function plainQuotes(
  pool: RpcPool,
  rpc: RpcReader,
  minTip: bigint,
  histories: readonly EndpointAnswer[],
): Promise<readonly FeeQuote[]> {
  assertAnswered(rpc, HISTORY, histories);
  const answers = await ask(pool, [GAS_PRICE, HEAD, SUGGESTION]);
  const quotes = sufficient(
    'sign_fee',
    answers.map(({ replies: [gasPrice, head, suggestion], isCurrent }, i) => {
      const quote = plainQuoteFrom(
        {
          history: parsedOrNull(histories[i]?.replies[0], parseFeeHistory),
          gasPrice: parsedOrNull(gasPrice, (value) => quantity(value, 'gasPrice')),
          head: parsedOrNull(head, blockHeader),
          suggestion: parsedOrNull(suggestion, (value) => quantity(value, 'tip')),
          isSilent: [gasPrice, suggestion].some((reply) => reply?.kind === 'failed'),
        },
        minTip,
      );
      return quote && { isCurrent, quote };
    }),
  );
  if (quotes === null) throw rpc.unavailable(HISTORY.method, 'too few endpoints quote fees');
  return currentOf(quotes).map(({ quote }) => quote);
}

/** A single endpoint is waited for as with every read. Endpoints are in the same order each time. */
async function ask(pool: RpcPool, requests: readonly RpcRequest[]): Promise<readonly EndpointAnswer[]> {
  if (pool.hasOneEndpoint) return [{ replies: await pool.read(requests), isCurrent: true }];
  return pool.answers('sign_fee', requests);
}

function lowestOf(suggestions: readonly EndpointAnswer[]): bigint | null {
  const tips = suggestions.flatMap(
    ({ replies: [reply] }) => parsedOrNull(reply, (value) => quantity(value, 'tip')) ?? [],
  );
  return tips.length === 0 ? null : tips.reduce((least, tip) => (tip < least ? tip : least));
}

/** How a method is refused, too: HTTP 405 for one that is missing, HTTP 500 for one that is broken (docs/public-cases.md). */
const REFUSALS: ReadonlySet<RpcFailure['reason']> = new Set(['http', 'malformed']);

/** An error is an answer: a node may not support the method. @throws RpcUnavailable when too few endpoints answered */
function assertAnswered(rpc: RpcReader, { method }: RpcRequest, answers: readonly EndpointAnswer[]): void {
  const replies = answers.map(({ replies: [reply] }) => reply);
  if (
    sufficient(
      'sign_fee',
      replies.map((reply) =>
        reply?.kind === 'failed' && !REFUSALS.has(reply.failure.reason) ? null : (reply ?? null),
      ),
    ) === null
  )
    throw rpc.unavailable(method, reasonOf(replies[0]));
}

function historyOf({
  replies: [reply],
  isCurrent,
}: EndpointAnswer): { isCurrent: boolean; history: FeeHistory } | null {
  const history = parsedOrNull(reply, parseFeeHistory);
  return history && { isCurrent, history };
}

function currentOf<T extends { readonly isCurrent: boolean }>(told: readonly T[]): readonly T[] {
  const current = told.filter(({ isCurrent }) => isCurrent);
  return current.length > 0 ? current : told;
}
