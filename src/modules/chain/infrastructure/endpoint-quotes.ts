import { sufficient } from '../domain/evidence.js';
import type { FeeQuote } from '../domain/fee-quote.js';
import { FEE_HISTORY_BLOCKS, type FeeHistory, parseFeeHistory, quoteFrom, TIP_PERCENTILES } from './fee-history.js';
import { hexQuantity, parsedOrNull, quantity } from './parse-answer.js';
import type { EndpointAnswer } from './rpc/quorum-reads.js';
import type { RpcPool } from './rpc/rpc-pool.js';
import type { RpcReader } from './rpc/rpc-reader.js';

const HISTORY = 'eth_feeHistory';
const HISTORY_PARAMS = [hexQuantity(FEE_HISTORY_BLOCKS), 'latest', TIP_PERCENTILES] as const;
const SUGGESTION = 'eth_maxPriorityFeePerGas';

/**
 * One quote per endpoint, of at least half of the endpoints; quotes of endpoints that lag or are ahead only if there are no others.
 * Where recent blocks paid no tips, the endpoints are asked for their suggestion.
 *
 * @throws RpcUnavailable when too few endpoints answer
 */
export async function endpointQuotes(pool: RpcPool, rpc: RpcReader, minTip: bigint): Promise<readonly FeeQuote[]> {
  if (pool.hasOneEndpoint) return [await theOnlyQuote(rpc, minTip)];
  const answers = await pool.answers('sign_fee', [{ method: HISTORY, params: HISTORY_PARAMS }]);
  const histories = sufficient(
    'sign_fee',
    answers.map((answer) => historyOf(answer)),
  );
  if (histories === null) throw rpc.unavailable(HISTORY, 'too few endpoints answered');
  const current = histories.filter(({ isCurrent }) => isCurrent);
  const used = current.length > 0 ? current : histories;
  const suggestion = used.some(({ history }) => hasNoTips(history)) ? await lowestSuggestion(pool) : null;
  return used.map(({ history }) => quoteFrom(history, suggestion, minTip));
}

async function theOnlyQuote(rpc: RpcReader, minTip: bigint): Promise<FeeQuote> {
  const history = await rpc.one(HISTORY, HISTORY_PARAMS, parseFeeHistory);
  const suggestion = hasNoTips(history) ? await rpc.one(SUGGESTION, [], (value) => quantity(value, 'tip')) : null;
  return quoteFrom(history, suggestion, minTip);
}

async function lowestSuggestion(pool: RpcPool): Promise<bigint | null> {
  const answers = await pool.answers('sign_fee', [{ method: SUGGESTION, params: [] }]);
  const tips = answers.flatMap(({ replies: [reply] }) => parsedOrNull(reply, (value) => quantity(value, 'tip')) ?? []);
  return tips.length === 0 ? null : tips.reduce((least, tip) => (tip < least ? tip : least));
}

function historyOf({
  replies: [reply],
  isCurrent,
}: EndpointAnswer): { isCurrent: boolean; history: FeeHistory } | null {
  const history = parsedOrNull(reply, parseFeeHistory);
  return history && { isCurrent, history };
}

function hasNoTips({ tips }: FeeHistory): boolean {
  return tips.every((each) => each.length === 0);
}
