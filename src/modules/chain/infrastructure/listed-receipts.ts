import type { Hash } from '../../../kernel/hex.js';
import { inSlices } from '../../../kernel/in-slices.js';
import { executionAmong, type Receipt, type ReceiptLookup } from '../domain/block.js';
import type { PlacedTx } from '../domain/chain-connector.js';
import { block, hexQuantity, parsedOrNull, readableReceipt, type Untold } from './parse-answer.js';
import { isRecord, type NodeError, type RpcFailureReason, type RpcReply, type RpcRequest } from './rpc/json-rpc.js';
import { reasonOf, toldBy } from './rpc/rpc-reader.js';

/** Blocks whose receipts are in memory at once, of each endpoint: those of one may be many megabytes. */
const BLOCKS_AT_ONCE = 4;
/** The endpoint answers, and the method does not, perhaps for good. */
const NOT_ANSWERED: ReadonlySet<RpcFailureReason> = new Set(['http', 'malformed']);

/** All requests are of one method. @returns the replies of each endpoint, always in the same order of endpoints */
type AskEach = (requests: readonly RpcRequest[]) => Promise<readonly (readonly RpcReply[])[]>;

/** Whether the endpoint has no receipts of blocks. Any other error may pass: it is no answer. */
export type IsUnsupported = (error: NodeError) => boolean;

/**
 * The receipts of transactions among those of their blocks, of endpoints that have none by hash: some lose this index (docs/public-cases.md). Blocks
 * are read by height: an endpoint then tells the block that it has there now, never one that a reorg took back.
 *
 * @returns for each endpoint, by hash
 */
export async function listedReceipts(
  askEach: AskEach,
  known: readonly PlacedTx[],
  isUnsupported: IsUnsupported,
  untoldBy: (reply: RpcReply | undefined) => Untold | undefined = () => undefined,
): Promise<Map<Hash, ReceiptLookup>[]> {
  const found: Map<Hash, ReceiptLookup>[] = [];
  for (const heights of inSlices([...new Set(known.map(({ blockNumber }) => blockNumber))], BLOCKS_AT_ONCE)) {
    const replies = await askEach(heights.map((height) => atHeight('eth_getBlockReceipts', height)));
    const isWithout = (reply: RpcReply | undefined): boolean => reply?.kind === 'error' && isUnsupported(reply.error);
    const withLists = replies.flat().some(isWithout)
      ? await askEach(heights.map((height) => atHeight('eth_getBlockByNumber', height, false)))
      : [];
    for (const [endpoint, own] of replies.entries())
      for (const [i, height] of heights.entries()) {
        const placed = known.filter(({ blockNumber }) => blockNumber === height);
        const lookups = isWithout(own[i])
          ? placed.map((each) => unlessListed(each, withLists[endpoint]?.[i]))
          : lookupsIn(placed, own[i], untoldBy(own[i]));
        const ofEndpoint = (found[endpoint] ??= new Map<Hash, ReceiptLookup>());
        for (const [index, { txHash }] of placed.entries()) ofEndpoint.set(txHash, lookups[index] ?? { kind: 'none' });
      }
  }
  return found;
}

function atHeight(method: string, height: number, ...params: readonly unknown[]): RpcRequest {
  return { method, params: [hexQuantity(height), ...params] };
}

/** Reads of all receipts only ours: a block may have thousands of them. */
function lookupsIn(known: readonly PlacedTx[], reply: RpcReply | undefined, untold?: Untold): ReceiptLookup[] {
  const all = (lookup: ReceiptLookup): ReceiptLookup[] => known.map(() => lookup);
  if (reply?.kind !== 'result') {
    const isForGood = reply?.kind === 'failed' && NOT_ANSWERED.has(reply.failure.reason);
    return all(
      isForGood
        ? { kind: 'unclear', message: `eth_getBlockReceipts is not answered: ${reasonOf(reply)}` }
        : { kind: 'unavailable', message: reasonOf(reply) },
    );
  }
  if (reply.value === null) return all({ kind: 'none' });
  if (!Array.isArray(reply.value)) return all({ kind: 'unclear', message: toldBy(reply, 'receipts is not a list') });
  const own = new Map<string, unknown[]>(known.map(({ txHash }) => [txHash, []]));
  for (const item of reply.value as readonly unknown[]) {
    const txHash = isRecord(item) ? item['transactionHash'] : null;
    if (typeof txHash === 'string') own.get(txHash.toLowerCase())?.push(item);
  }
  return known.map(({ txHash, blockHash }): ReceiptLookup => {
    const copies = (own.get(txHash) ?? [])
      .flatMap((item) => readableReceipt(item, untold) ?? [])
      .filter((each) => each.blockHash === blockHash);
    const execution = executionAmong(copies);
    if (execution === null) return { kind: 'none' };
    if (copies.some((copy) => copy.status !== execution.status && !isSurelyCopy(copy, execution)))
      return { kind: 'unclear', message: toldBy(reply, 'the block has receipts that contradict each other') };
    return { kind: 'found', receipt: execution };
  });
}

/** Of two that used gas the later one is a copy, too, but for that the answer by hash must agree (docs/invariants.md, K3), and here is none. */
function isSurelyCopy(copy: Receipt, execution: Receipt): boolean {
  return copy.gasUsed === 0n && execution.gasUsed !== null && execution.gasUsed > 0n;
}

/** Of an endpoint without receipts of blocks: what it lists in the block was executed, though it tells no receipt. */
function unlessListed({ txHash, blockHash }: PlacedTx, reply: RpcReply | undefined): ReceiptLookup {
  if (reply?.kind === 'result' && reply.value === null) return { kind: 'none' };
  const found = parsedOrNull(reply, block);
  if (found === null) return { kind: 'unavailable', message: reasonOf(reply) };
  const isListed = found.hash === blockHash && (!found.listsAll || found.transactionHashes.includes(txHash));
  return isListed
    ? {
        kind: 'unavailable',
        message: `block ${found.number} may have the transaction, and the endpoint tells no receipt`,
      }
    : { kind: 'none' };
}
