import type { BlockHeader } from '../domain/block.js';
import type { ChainConnector, FinalityTag } from '../domain/chain-connector.js';
import type { ProbedChain } from '../domain/probed-chain.js';
import { ORACLE } from './optimism-data-fees.js';
import { blockHeader, hexQuantity, parsedOrNull } from './parse-answer.js';
import type { RpcReply } from './rpc/json-rpc.js';
import { type Params, reasonOf, type RpcReader } from './rpc/rpc-reader.js';

/** The method whose batches show what an endpoint takes. */
export const BATCHED = 'eth_getBlockByNumber';
const TAGS: readonly FinalityTag[] = ['safe', 'finalized'];
/** Timestamps are whole seconds, so that over fewer blocks the time of one is not told. */
const FEWEST_BLOCKS = 10;
const MOST_BLOCKS = 100;

/** Asks about ten calls. @throws RpcUnavailable */
export async function probeChain(
  chain: Pick<ChainConnector, 'head'>,
  rpc: RpcReader,
  takesBatches: () => boolean,
): Promise<ProbedChain> {
  const head = await chain.head();
  const earlier = Math.max(0, head.number - MOST_BLOCKS);
  const [before, ...tagged] = await answers(
    rpc,
    BATCHED,
    [hexQuantity(earlier), ...TAGS].map((block) => [block, false]),
  );
  const methods: readonly [method: string, params: Params][] = [
    ['eth_feeHistory', ['0x1', 'latest', []]],
    ['eth_getBlockReceipts', [hexQuantity(head.number)]],
    ['eth_maxPriorityFeePerGas', []],
  ];
  const replies = await Promise.all(methods.map(([method, params]) => answers(rpc, method, [params])));
  const [code] = await answers(rpc, 'eth_getCode', [[ORACLE, 'latest']]);
  return {
    blockTimeMs: blockTime(parsedOrNull(before, blockHeader), head),
    feeType: head.baseFeePerGas === null ? 'legacy' : 'eip1559',
    tags: TAGS.filter((_, i) => parsedOrNull(tagged[i], blockHeader) !== null),
    takesBatches: takesBatches(),
    missingMethods: methods.filter((_, i) => replies[i]?.[0]?.kind === 'error').map(([method]) => method),
    hasDataFeeOracle: code?.kind === 'result' && typeof code.value === 'string' && code.value.length > 2,
  };
}

/** An error is an answer here; silence is not. */
async function answers(rpc: RpcReader, method: string, params: readonly Params[]): Promise<RpcReply[]> {
  const replies = await rpc.replies(method, params);
  const failed = replies.find(({ kind }) => kind === 'failed');
  if (failed !== undefined) throw rpc.unavailable(method, reasonOf(failed));
  return replies;
}

function blockTime(before: BlockHeader | null, head: BlockHeader): number | null {
  const since = before?.timestamp ?? null;
  if (before === null || since === null || head.timestamp === null) return null;
  const blocks = head.number - before.number;
  return blocks < FEWEST_BLOCKS ? null : Math.round(((head.timestamp - since) * 1_000) / blocks);
}
