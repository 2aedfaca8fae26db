import type { Address, Hash } from '../../../kernel/hex.js';
import type { Nonce } from '../../../kernel/signer-id.js';
import { type Agreed, type AgreedCount, agreedUpon, type Decision, sufficient } from '../domain/evidence.js';
import type { BlockRef, ReceiptLookup } from '../domain/block.js';
import type { BlockTag, PlacedTx } from '../domain/chain-connector.js';
import type { UsedCount, UsedNonces } from '../domain/used-nonces.js';
import { blockHeader, hexQuantity, parsedOrNull, quantity } from './parse-answer.js';
import { type IsUnsupported, listedReceipts } from './listed-receipts.js';
import { lookup } from './receipt-lookups.js';
import type { RpcRequest } from './rpc/json-rpc.js';
import type { RpcPool } from './rpc/rpc-pool.js';
import type { EndpointAnswer } from './rpc/quorum-reads.js';

const NO_ANSWER: ReceiptLookup = { kind: 'unavailable', message: 'no answer' };

/** The lowest count of all endpoints, per account; null when too few endpoints answer. */
export async function agreedCounts(
  pool: RpcPool,
  accounts: readonly Address[],
  tag: BlockTag,
): Promise<(AgreedCount | null)[]> {
  const { counts, block } = await countsOf(pool, 'raise_cursor', accounts, tag);
  return counts.map((some) => {
    const known = sufficient('raise_cursor', some);
    // A count that is too high never wins.
    return known === null || block === null ? null : { nonce: lowest(known), block };
  });
}

/** The count with pools that every endpoint tells, per account; null when one does not answer, or tells another. */
export async function equalCounts(pool: RpcPool, accounts: readonly Address[]): Promise<(AgreedCount | null)[]> {
  const { counts, block } = await countsOf(pool, 'release_hold', accounts, 'pending');
  return counts.map((some) => {
    const [nonce, ...others] = sufficient('release_hold', some) ?? [];
    return nonce === undefined || block === null || others.some((other) => other !== nonce) ? null : { nonce, block };
  });
}

/** @returns the count of each endpoint, per account; null where an endpoint tells nothing that counts */
async function countsOf(
  pool: RpcPool,
  decision: Decision,
  accounts: readonly Address[],
  tag: BlockTag,
): Promise<{ readonly counts: readonly (Nonce | null)[][]; readonly block: BlockRef | null }> {
  if (accounts.length === 0) return { counts: [], block: null };
  const answers = await pool.answers(decision, [
    ...accounts.map((account) => ({ method: 'eth_getTransactionCount', params: [account, tag] })),
    { method: 'eth_getBlockByNumber', params: ['latest', false] },
  ]);
  const withHeads = answers.map((answer) => ({ answer, head: headIn(answer, accounts.length) }));
  return {
    // An endpoint that lags reports an old count: the account may have used more nonces since.
    counts: accounts.map((_, i) =>
      withHeads.map(({ answer, head }) => (head === null || !answer.isCurrent ? null : countIn(answer, i))),
    ),
    block: medianHead(withHeads),
  };
}

/** Whether each account used its nonces, by the endpoints whose heads have reached the block in which the last of them was used. */
export async function usedCounts(pool: RpcPool, nonces: readonly UsedNonces[]): Promise<UsedCount[]> {
  if (nonces.length === 0) return [];
  const answers = await pool.answers('hold_signer', [
    ...nonces.map(({ account }) => ({ method: 'eth_getTransactionCount', params: [account, 'latest'] })),
    { method: 'eth_getBlockByNumber', params: ['latest', false] },
  ]);
  const withHeads = answers.map((answer) => ({ answer, head: headIn(answer, nonces.length) }));
  const block = medianHead(withHeads);
  return nonces.map(({ below, from }, i) => {
    const counts = withHeads.map(({ answer, head }) => ({ count: countIn(answer, i), head }));
    const told = counts.flatMap(({ count }) => count ?? []);
    const votes = counts.map(({ count, head }) =>
      count === null || head === null || head.number < from ? null : count < below ? 'lower' : 'used',
    );
    const agreed = agreedUpon('hold_signer', votes)?.value;
    return {
      isLower: agreed === undefined ? null : agreed === 'lower',
      count: told.length === 0 ? null : lowest(told),
      block,
    };
  });
}

/** The block hash that the endpoints agree on at each height; null when too few answer, or when they do not agree. */
export async function agreedBlocks(pool: RpcPool, numbers: readonly number[]): Promise<(Agreed<Hash> | null)[]> {
  if (numbers.length === 0) return [];
  const answers = await pool.answers(
    'make_final',
    numbers.map((number) => ({ method: 'eth_getBlockByNumber', params: [hexQuantity(number), false] })),
  );
  return numbers.map((number, i) =>
    agreedUpon(
      'make_final',
      answers.map(({ replies }) => {
        const block = parsedOrNull(replies[i], blockHeader);
        return block?.number === number ? block.hash : null;
      }),
    ),
  );
}

/** Receipts on which the endpoints agree: the same block and outcome, or no receipt. Where they do not agree: unavailable. */
export async function agreedReceipts(
  pool: RpcPool,
  known: readonly PlacedTx[],
  isUnsupported: IsUnsupported,
): Promise<ReceiptLookup[]> {
  if (known.length === 0) return [];
  const answers = await pool.answers(
    'make_final',
    known.map(({ txHash }) => ({ method: 'eth_getTransactionReceipt', params: [txHash] })),
  );
  const byHash = known.map(({ txHash }, i) => answers.map(({ replies }) => lookup(txHash, replies[i])));
  // The receipts of a whole block are many: only where those by hash do not agree on one.
  const unknown = known.filter((_, i) => {
    const lookups = byHash[i] ?? [];
    return lookups.some(({ kind }) => kind === 'none') && agreedAmong(answers, lookups).kind !== 'found';
  });
  const ask = async (requests: readonly RpcRequest[]) =>
    (await pool.answers('make_final', requests)).map(({ replies }) => replies);
  const listed = await listedReceipts(ask, unknown, isUnsupported);
  return known.map((placed, i) => {
    const lookups = answers.map((_, endpoint): ReceiptLookup => {
      const answer = byHash[i]?.[endpoint] ?? NO_ANSWER;
      if (answer.kind !== 'none' || !unknown.includes(placed)) return answer;
      return listed[endpoint]?.get(placed.txHash) ?? NO_ANSWER;
    });
    return agreedAmong(answers, lookups);
  });
}

/** @param lookups of the endpoints, about one transaction */
function agreedAmong(endpoints: readonly EndpointAnswer[], lookups: readonly ReceiptLookup[]): ReceiptLookup {
  const told = lookups.map((answer, i): ReceiptLookup =>
    // An endpoint that lags may not have the block yet: a missing receipt there proves nothing.
    answer.kind === 'none' && endpoints[i]?.isCurrent !== true
      ? { kind: 'unavailable', message: 'the endpoint lags behind the head' }
      : answer,
  );
  const agreed = agreedUpon('make_final', told.map(outcomeIn))?.value ?? null;
  return (
    told.find((answer) => (agreed === null ? answer.kind === 'unclear' : outcomeIn(answer) === agreed)) ?? {
      kind: 'unavailable',
      message: 'the endpoints do not agree',
    }
  );
}

/** In a form that can be compared; null for an answer that proves nothing. */
function outcomeIn(answer: ReceiptLookup): string | null {
  if (answer.kind === 'found') return `${answer.receipt.blockHash} ${answer.receipt.status}`;
  return answer.kind === 'none' ? 'none' : null;
}

function headIn({ replies }: EndpointAnswer, index: number): BlockRef | null {
  const head = parsedOrNull(replies[index], blockHeader);
  return head && { number: head.number, hash: head.hash };
}

function countIn({ replies }: EndpointAnswer, index: number): Nonce | null {
  return parsedOrNull(replies[index], (value) => quantity(value, 'count'));
}

/** The median head: neither that of a stuck endpoint nor that of an endpoint far ahead, if other endpoints answered. */
function medianHead(answers: readonly { readonly answer: EndpointAnswer; readonly head: BlockRef | null }[]) {
  const current = answers.filter(({ answer, head }) => answer.isCurrent && head !== null);
  const heads = (current.length > 0 ? current : answers).flatMap(({ head }) => head ?? []);
  return heads.toSorted((a, b) => a.number - b.number)[Math.floor(heads.length / 2)] ?? null;
}

function lowest(counts: readonly Nonce[]): Nonce {
  return counts.reduce((least, count) => (count < least ? count : least));
}
