import type { Address } from '../../../kernel/hex.js';
import { maxOf, minOf } from '../../../kernel/quantities.js';
import type { ChainId, Nonce } from '../../../kernel/signer-id.js';
import type { AccountCounts, PooledQuestion, PooledTransactions, SentTransaction } from '../domain/sent-transaction.js';
import type { RpcReply, RpcRequest } from './rpc/json-rpc.js';
import { fields, hexQuantity, informed, list, parsedOrNull, quantity } from './parse-answer.js';
import type { RpcPool } from './rpc/rpc-pool.js';
import { senderOf, sentTransaction } from './sent-transaction-answer.js';

/** The most nonces that are read one by one for an account: a transaction count that is far too high must not cause so many calls. */
const MAX_NONCES = 256;

/** Null for an account when no endpoint answered both counts. */
export async function accountCounts(pool: RpcPool, accounts: readonly Address[]): Promise<(AccountCounts | null)[]> {
  const answers = await askAll(
    pool,
    accounts.flatMap((account) => [count(account, 'latest'), count(account, 'pending')]),
  );
  return accounts.map((_, index) => {
    const mined = answers.flatMap((replies) => counted(replies[2 * index]) ?? []);
    const pooled = answers.flatMap((replies) => counted(replies[2 * index + 1]) ?? []);
    if (mined.length === 0 || pooled.length === 0) return null;
    // One URL may lead to several nodes, and the pending count of one may lag: mined transactions count as sent.
    return { latest: mined.reduce(minOf), pending: [...mined, ...pooled].reduce(maxOf) };
  });
}

/**
 * The transactions of accounts in the pools of all endpoints, by the calls that each endpoint supports: `txpool_contentFrom` shows all
 * of them, other calls show single nonces, or the pending block.
 */
export async function pooledTransactions(
  pool: RpcPool,
  questions: readonly PooledQuestion[],
): Promise<(PooledTransactions | null)[]> {
  const pools = questions.map((question) => new PoolsOf(question, pool.chainId));
  const contents = await askAll(
    pool,
    questions.flatMap(({ account }) => [
      { method: 'txpool_contentFrom', params: [account] },
      count(account, 'pending'),
    ]),
  );
  pools.forEach((each, i) => contents.forEach((replies) => each.shows(replies[2 * i], replies[2 * i + 1])));
  await askOneByOne(pool, pools);
  if (pools.some((each) => each.missing().length > 0)) {
    const next = await askAll(pool, [{ method: 'eth_getBlockByNumber', params: ['pending', true] }]);
    for (const [reply] of next) for (const each of pools) each.found(transactionsOf(reply, each.account, pool.chainId));
  }
  return pools.map((each) => each.answer());
}

async function askOneByOne(pool: RpcPool, pools: readonly PoolsOf[]): Promise<void> {
  const asked = pools.flatMap((each) => each.missing().map((nonce) => ({ each, nonce })));
  if (asked.length === 0) return;
  const method = 'eth_getTransactionBySenderAndNonce';
  const answers = await askAll(
    pool,
    asked.map(({ each, nonce }) => ({ method, params: [each.account, hexQuantity(nonce)] })),
  );
  for (const replies of answers)
    asked.forEach(({ each }, i) =>
      each.found([parsedOrNull(replies[i], (value) => sentTransaction(value, pool.chainId))]),
    );
}

/** The pooled transactions of one account, as far as known. */
class PoolsOf {
  private readonly byHash = new Map<string, SentTransaction>();
  private shown = false;
  private isOneSilent = false;
  private answered = false;
  private hiddenBelow = 0n;

  constructor(
    private readonly question: PooledQuestion,
    private readonly chainId: ChainId,
  ) {}

  get account(): Address {
    return this.question.account;
  }

  /** Adds the pool of one endpoint, or the pending count of an endpoint that does not show its pool. */
  shows(content: RpcReply | undefined, count: RpcReply | undefined): void {
    const pending = counted(count);
    if (pending !== null) this.answered = true;
    const all = parsedOrNull(content, (value) => contentFrom(value, this.chainId));
    if (all === null) this.hiddenBelow = maxOf(this.hiddenBelow, pending ?? 0n);
    else this.shown = true;
    // Its pool may have what the others do not have.
    if (all === null && pending === null) this.isOneSilent = true;
    this.found(all ?? []);
  }

  found(transactions: readonly (SentTransaction | null)[]): void {
    for (const each of transactions)
      if (each?.account === this.account && each.nonce >= this.question.from) this.byHash.set(each.hash, each);
  }

  /** Nonces that may be in a pool that is not shown. */
  missing(): Nonce[] {
    const known = new Set([...this.byHash.values()].map(({ nonce }) => nonce));
    const nonces: Nonce[] = [];
    for (let nonce = this.question.from; nonce < this.hiddenBelow && nonces.length < MAX_NONCES; nonce += 1n)
      if (!known.has(nonce)) nonces.push(nonce);
    return nonces;
  }

  answer(): PooledTransactions | null {
    if (!this.answered) return null;
    return {
      transactions: [...this.byHash.values()],
      shown: this.shown && !this.isOneSilent,
      hiddenBelow: this.hiddenBelow,
    };
  }
}

async function askAll(pool: RpcPool, requests: readonly RpcRequest[]): Promise<RpcReply[][]> {
  return requests.length === 0 ? [] : Promise.all(await pool.sendToAll(requests));
}

function count(account: Address, tag: 'latest' | 'pending'): RpcRequest {
  return { method: 'eth_getTransactionCount', params: [account, tag] };
}

function counted(reply: RpcReply | undefined): Nonce | null {
  return parsedOrNull(reply, (value) => quantity(value, 'count'));
}

/** `{pending: {nonce: transaction}, queued: {nonce: transaction}}`. */
function contentFrom(value: unknown, chainId: ChainId): (SentTransaction | null)[] {
  const content = fields(value, 'content');
  return ['pending', 'queued'].flatMap((part) =>
    Object.values(fields(content[part] ?? {}, `content.${part}`)).map((sent) => sentTransaction(sent, chainId)),
  );
}

/** The transactions of one account in a block with full transactions. */
export function transactionsOf(reply: RpcReply | undefined, account: Address, chainId: ChainId): SentTransaction[] {
  const all = parsedOrNull(reply, (value) => list(fields(value, 'block')['transactions'], 'block.transactions')) ?? [];
  return all
    .filter((item) => senderOf(item) === account)
    .flatMap((item) => informed(item, 'transaction', (value) => sentTransaction(value, chainId)) ?? []);
}
