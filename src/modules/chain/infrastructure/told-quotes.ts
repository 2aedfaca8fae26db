import { sufficient } from '../domain/evidence.js';
import type { FeeQuote } from '../domain/fee-quote.js';
import { FEE_HISTORY_BLOCKS, type FeeHistory, parseFeeHistory, quoteFrom, TIP_PERCENTILES } from './fee-history.js';
import { hexQuantity, parsedOrNull, quantity } from './parse-answer.js';
import type { RpcPool } from './rpc/rpc-pool.js';
import type { RpcReader } from './rpc/rpc-reader.js';
import type { EndpointAnswer } from './rpc/hearing.js';

const HISTORY = 'eth_feeHistory';
const HISTORY_PARAMS = [hexQuantity(FEE_HISTORY_BLOCKS), 'latest', TIP_PERCENTILES] as const;
const SUGGESTION = 'eth_maxPriorityFeePerGas';

/**
 * What each endpoint quotes for itself, at least half of them; those behind or ahead only if there is nobody else. An endpoint
 * without a market is asked what it suggests.
 *
 * @throws RpcUnavailable when too few can say
 */
export async function toldQuotes(pool: RpcPool, rpc: RpcReader, minTip: bigint): Promise<readonly FeeQuote[]> {
  if (pool.hasOneEndpoint) return [await theOnlyQuote(rpc, minTip)];
  const answers = await pool.answers('sign_fee', [{ method: HISTORY, params: HISTORY_PARAMS }]);
  const told = answers.map((answer) => historyOf(answer));
  const histories = sufficient('sign_fee', told);
  if (histories === null) throw rpc.unavailable(HISTORY, 'too few endpoints tell the market');
  const current = histories.filter(({ isCurrent }) => isCurrent);
  const used = current.length > 0 ? current : histories;
  const suggestion = used.some(({ history }) => isQuiet(history)) ? await lowestSuggestion(pool) : null;
  return used.map(({ history }) => quoteFrom(history, suggestion, minTip));
}

async function theOnlyQuote(rpc: RpcReader, minTip: bigint): Promise<FeeQuote> {
  const history = await rpc.one(HISTORY, HISTORY_PARAMS, parseFeeHistory);
  const suggestion = isQuiet(history) ? await rpc.one(SUGGESTION, [], (value) => quantity(value, 'tip')) : null;
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

function isQuiet({ tips }: FeeHistory): boolean {
  return tips.every((each) => each.length === 0);
}
