import { type Signature, Transaction } from 'ethers';
import { SECP256K1 } from '../../src/custody/secp256k1.js';
import { groupBy } from '../../src/kernel/group-by.js';
import { type Address, type Hash, type Hex, parseAddress, parseHash, parseHex } from '../../src/kernel/hex.js';
import type { ChainId, Nonce } from '../../src/kernel/signer-id.js';
import {
  type Agreed,
  type AgreedCount,
  type AccountCounts,
  type Block,
  type BlockHeader,
  type BlockReceipts,
  type BlockTag,
  type BlockToProve,
  type BroadcastOutcome,
  type Call,
  type ChainConnector,
  Chains,
  type DataOfCall,
  type FeeQuote,
  type FinalityTag,
  type GasEstimate,
  type MinedQuestion,
  type MinedTransactions,
  type NonceUser,
  type PlacedTx,
  type PermitNonceQuestion,
  type PooledQuestion,
  type PooledTransactions,
  type Receipt,
  type ReceiptLookup,
  type SentTransaction,
  type SignedBytes,
  type NonceUse,
  type NonceQuestion,
  type UsedCount,
  type UsedNonces,
} from '../../src/modules/chain/index.js';
import { assertOutsideTransaction } from '../../src/platform/database/transaction-scope.js';
import { DEV_CHAIN } from './builders.js';
import { ModelPool, type ModelTx, type PoolAnswer } from './model-pool.js';

export type { ModelTx } from './model-pool.js';

const GWEI = 1_000_000_000n;
/** Of every transaction of somebody else. */
export const FOREIGN_DATA = parseHex('0xf0');

export interface ModelBlock extends Block {
  readonly txs: readonly ModelTx[];
}

/** What a test puts in the way of an answer. Undefined means: answer as a healthy node does. */
export interface Faults {
  /** Called for each transaction sent; `deliver` says whether the node takes it all the same. */
  broadcast?: (tx: ModelTx) => { readonly outcome: BroadcastOutcome; readonly deliver: boolean } | undefined;
  estimate?: (call: Call) => GasEstimate | undefined;
  /** By hash; where it is `none`, the receipts of its block lack it, too. */
  receipt?: (hash: Hash) => ReceiptLookup | undefined;
  /** No receipt is known by its hash; the receipts of blocks have them all. */
  lostIndex?: boolean;
  status?: (tx: ModelTx) => Receipt['status'] | undefined;
}

/** A chain in memory with a mempool, one block per `mine()`, and reorgs: real rules, no network, no clock. */
export class ModelChain implements ChainConnector {
  readonly chainId: ChainId = DEV_CHAIN;
  readonly faults: Faults = {};
  /** Blocks by which the tags are behind the head; null for a node without them. */
  tagLag: Readonly<Record<FinalityTag, number>> | null = null;
  /** False for a node that keeps no state but the latest. */
  namesUsers = true;
  /** False for a node that tells how many transactions an account has in the pool, and shows none of them. */
  showsPool = true;
  /** True for a chain with one endpoint: what it says needs a second look. */
  speaksAlone = false;
  /** Whether receipts of whole blocks come as proven; else they are read again before they are final, as on many a rollup. */
  provesReceipts = false;
  /** Wei that each transaction costs on the L1 of a rollup. */
  l1DataFee = 0n;
  /** Accounts that run the code of a contract. */
  readonly delegations = new Set<Address>();
  /** Every transaction that was ever sent to the node, in order, with repetitions. */
  readonly sent: ModelTx[] = [];
  private readonly parsed = new Map<Hash, ModelTx>();
  /** Blocks in which transactions failed without using their nonces, as on some chains. */
  private readonly failedAt = new Map<Hash, number>();
  /** True for a chain that uses these nonces after all. */
  countsFailed = false;
  protected readonly pool = new ModelPool();
  protected readonly chain: ModelBlock[] = [genesis()];
  private fork = 0;
  private foreign = 0;

  /** Mines everything that is executable, or what fits: each account's run of nonces without a gap. */
  mine(limit = Infinity): Block {
    const txs: ModelTx[] = [];
    const next = new Map<Address, Nonce>();
    for (const tx of this.pool.all().sort((a, b) => Number(a.nonce - b.nonce))) {
      const expected = next.get(tx.from) ?? this.minedNonce(tx.from);
      if (tx.nonce !== expected || txs.length >= limit) continue;
      txs.push(tx);
      next.set(tx.from, expected + 1n);
    }
    return this.append(txs);
  }

  /** A transaction of the pool fails in a block, and its nonce stays free. */
  mineFailed({ hash }: Pick<ModelTx, 'hash'>): Block {
    const tx = this.pool.all().find((each) => each.hash === hash);
    if (!tx) throw new Error('no such transaction in the pool');
    this.pool.remove(hash);
    this.failedAt.set(hash, this.tip().number + 1);
    return this.append([tx]);
  }

  private leftNonceFree(tx: ModelTx, block: ModelBlock): boolean {
    return this.failedAt.get(tx.hash) === block.number;
  }

  mineEmpty(count = 1): void {
    for (let i = 0; i < count; i += 1) this.append([]);
  }

  /** Takes the last blocks back; their transactions return to the pool unless `drop`. A longer empty branch takes their place. */
  reorg(depth: number, { drop = false } = {}): void {
    const gone = this.takeBack(depth);
    if (!drop) for (const tx of gone) this.pool.put(tx);
    this.mineEmpty(depth + 1);
  }

  /**
   * As after `docker compose down -v`: another chain with the same id.
   * @param sameGenesis as with a genesis file
   * @returns brings the first one back
   */
  reset({ sameGenesis = false } = {}): () => void {
    this.fork += 1;
    this.pool.clear();
    const before = this.chain.splice(0);
    const first = before[0] ?? genesis();
    this.chain.push(sameGenesis ? first : { ...first, hash: this.hashAt(0) });
    return () => {
      this.fork += 1;
      this.chain.splice(0, this.chain.length, ...before);
    };
  }

  /** No two branches, and no two chains, have a hash in common. */
  private hashAt(number: number): Hash {
    return parseHash(`0x${this.fork.toString(16).padStart(24, '0')}${number.toString(16).padStart(40, '0')}`);
  }

  /** The last blocks are gone; the next one begins another branch. @returns their transactions */
  protected takeBack(depth: number): ModelTx[] {
    this.fork += 1;
    return this.chain.splice(this.chain.length - depth, depth).flatMap(({ txs }) => txs);
  }

  /** Somebody else who has the key uses this nonce; whatever the pool had there is replaced. */
  sendForeign(from: Address, nonce: Nonce, data: Hex = FOREIGN_DATA): ModelTx {
    const foreign = this.foreignTx(from, nonce, GWEI, data);
    this.pool.put(foreign);
    return foreign;
  }

  /** @param price wei per gas, both fees */
  protected foreignTx(from: Address, nonce: Nonce, price: bigint, data: Hex = FOREIGN_DATA): ModelTx {
    this.foreign += 1;
    const hash = parseHash(`0xf0e1${this.foreign.toString(16).padStart(60, '0')}`);
    const fees = { maxFeePerGas: price, maxPriorityFeePerGas: price };
    // Bytes that nobody can read: the chain knows them by their hash.
    const foreign = { hash, from, nonce, data, ...fees, raw: hash };
    this.parsed.set(hash, foreign);
    return foreign;
  }

  dropPool(): void {
    this.pool.clear();
  }

  /** Everything on chain, in order. */
  minedTxs(): ModelTx[] {
    return this.chain.flatMap(({ txs }) => txs);
  }

  /** The transaction that has this nonce on the chain, and its block. */
  minedBy(from: Address, nonce: Nonce): { readonly tx: ModelTx; readonly block: Block } | null {
    for (const block of this.chain) {
      const tx = block.txs.find((each) => each.from === from && each.nonce === nonce);
      if (tx && (this.countsFailed || !this.leftNonceFree(tx, block))) return { tx, block };
    }
    return null;
  }

  get height(): number {
    return this.tip().number;
  }

  blockAt(number: number): ModelBlock | null {
    return this.chain[number] ?? null;
  }

  /** To those who mine, past every fault. */
  offer(tx: ModelTx): PoolAnswer {
    return this.pool.offer(tx, this.minedNonce(tx.from));
  }

  /** In the pool from now on, whatever the price of what has its nonce there: other miners may have it. */
  force(tx: ModelTx): void {
    this.pool.put(tx);
  }

  pooled(): ModelTx[] {
    return this.pool.all();
  }

  async head(): Promise<BlockHeader> {
    assertOutsideTransaction('head');
    return this.tip();
  }

  async taggedHead(tag: FinalityTag): Promise<BlockHeader | null> {
    assertOutsideTransaction('taggedHead');
    return this.tagLag && (this.chain[Math.max(0, this.tip().number - this.tagLag[tag])] ?? null);
  }

  async blocks(numbers: readonly number[]): Promise<(Block | null)[]> {
    assertOutsideTransaction('blocks');
    return numbers.map((number) => this.chain[number] ?? null);
  }

  async receipts(hashes: readonly Hash[]): Promise<ReceiptLookup[]> {
    assertOutsideTransaction('receipts');
    const found = new Map(this.allReceipts().map((receipt) => [receipt.txHash, receipt]));
    return hashes.map((hash) => {
      const receipt = found.get(hash);
      if (this.faults.lostIndex) return { kind: 'none' };
      return this.faults.receipt?.(hash) ?? (receipt ? { kind: 'found', receipt } : { kind: 'none' });
    });
  }

  async blockReceipts({ hash }: Pick<BlockToProve, 'hash'>): Promise<BlockReceipts | null> {
    assertOutsideTransaction('blockReceipts');
    const block = this.chain.find((candidate) => candidate.hash === hash);
    if (!block) return null;
    const receipts = this.receiptsIn(block).filter(({ txHash }) => this.faults.receipt?.(txHash)?.kind !== 'none');
    return { receipts, proven: this.provesReceipts };
  }

  async transactionCounts(accounts: readonly Address[], tag: BlockTag): Promise<Nonce[]> {
    assertOutsideTransaction('transactionCounts');
    return accounts.map((account) => (tag === 'latest' ? this.minedNonce(account) : this.pendingNonce(account)));
  }

  async agreedCounts(accounts: readonly Address[], tag: BlockTag): Promise<(AgreedCount | null)[]> {
    const counts = await this.transactionCounts(accounts, tag);
    return counts.map((nonce) => ({ nonce, block: this.tip() }));
  }

  async equalCounts(accounts: readonly Address[]): Promise<(AgreedCount | null)[]> {
    return this.agreedCounts(accounts, 'pending');
  }

  /** Of owners at contracts, by their addresses. What is not there, nobody tells. */
  readonly permitNonceOf = new Map<string, bigint>();

  async permitNonces(questions: readonly PermitNonceQuestion[]): Promise<(bigint | null)[]> {
    assertOutsideTransaction('permitNonces');
    return questions.map(({ contract, owner }) => this.permitNonceOf.get(`${contract} ${owner}`) ?? null);
  }

  async agreedPermitNonces(questions: readonly PermitNonceQuestion[]): Promise<(Agreed<bigint> | null)[]> {
    const nonces = await this.permitNonces(questions);
    return nonces.map((value) => (value === null ? null : { value, isAlone: this.speaksAlone }));
  }

  async usedCounts(nonces: readonly UsedNonces[]): Promise<UsedCount[]> {
    const counts = await this.transactionCounts(
      nonces.map(({ account }) => account),
      'latest',
    );
    const block = this.tip();
    return nonces.map(({ below, from }, index) => {
      const count = counts[index] ?? 0n;
      return { isLower: block.number < from ? null : count < below, count, block };
    });
  }

  async agreedBlocks(numbers: readonly number[]): Promise<(Agreed<Hash> | null)[]> {
    assertOutsideTransaction('agreedBlocks');
    return numbers.map((number) => {
      const hash = this.chain[number]?.hash;
      return hash ? { value: hash, isAlone: this.speaksAlone } : null;
    });
  }

  /** As one endpoint answers: whole blocks at once, and what is not in them by hash. */
  async agreedReceipts(known: readonly PlacedTx[]): Promise<ReceiptLookup[]> {
    const counts = groupBy(known, ({ blockHash }) => blockHash);
    const found = new Map<Hash, Receipt>();
    for (const [hash, inBlock] of counts)
      if (inBlock.length > 1)
        for (const receipt of (await this.blockReceipts({ hash }).catch(() => null))?.receipts ?? [])
          found.set(receipt.txHash, receipt);
    const others = known.map(({ txHash }) => txHash).filter((txHash) => !found.has(txHash));
    const answers = others.length === 0 ? [] : await this.receipts(others);
    return known.map(({ txHash }): ReceiptLookup => {
      const receipt = found.get(txHash);
      if (receipt) return { kind: 'found', receipt };
      return answers[others.indexOf(txHash)] ?? { kind: 'none' };
    });
  }

  async accountCounts(accounts: readonly Address[]): Promise<AccountCounts[]> {
    assertOutsideTransaction('accountCounts');
    return accounts.map((account) => ({ latest: this.minedNonce(account), pending: this.pendingNonce(account) }));
  }

  async pooledOf(questions: readonly PooledQuestion[]): Promise<PooledTransactions[]> {
    assertOutsideTransaction('pooledOf');
    return questions.map(({ account, from }) => ({
      transactions: this.showsPool ? this.pooled().filter(isSentBy(account, from)).map(toSent) : [],
      shown: this.showsPool,
      hiddenBelow: this.showsPool ? 0n : this.pendingNonce(account),
    }));
  }

  async transactions(hashes: readonly Hash[]): Promise<(SentTransaction | null)[]> {
    assertOutsideTransaction('transactions');
    const all = [...this.pooled(), ...this.minedTxs()].map(toSent);
    return hashes.map((each) => all.find(({ hash }) => hash === each) ?? null);
  }

  /** All of them, whatever the time: one block here takes a second since 1970. */
  async minedOf(questions: readonly MinedQuestion[]): Promise<MinedTransactions[]> {
    assertOutsideTransaction('minedOf');
    return questions.map(({ account, from }) => ({
      transactions: this.minedTxs().filter(isSentBy(account, from)).map(toSent),
      complete: true,
    }));
  }

  async nonceUses(slots: readonly NonceQuestion[]): Promise<NonceUse[]> {
    assertOutsideTransaction('nonceUses');
    const lookups = await Promise.all(slots.map(({ hashes }) => this.receipts(hashes)));
    return slots.map(({ account, nonce, hashes }, i): NonceUse => {
      const own = lookups[i] ?? [];
      for (const lookup of own) if (lookup.kind === 'found') return { kind: 'mined', receipt: lookup.receipt };
      if (this.minedNonce(account) <= nonce) return { kind: 'open', isFree: true };
      if (own.some(({ kind }) => kind !== 'none')) return { kind: 'open' };
      const user = this.namesUsers ? this.userOf(account, nonce) : null;
      if (user && hashes.includes(user.txHash)) return { kind: 'ours', block: user.block };
      return { kind: 'passed', head: this.tip(), user };
    });
  }

  async balances(accounts: readonly Address[]): Promise<bigint[]> {
    assertOutsideTransaction('balances');
    return accounts.map(() => 1_000n * 10n ** 18n);
  }

  async delegated(accounts: readonly Address[]): Promise<boolean[]> {
    assertOutsideTransaction('delegated');
    return accounts.map((account) => this.delegations.has(account));
  }

  async estimateGas(calls: readonly Call[]): Promise<GasEstimate[]> {
    assertOutsideTransaction('estimateGas');
    return calls.map((call) => this.faults.estimate?.(call) ?? { kind: 'ok', gas: 21_000n });
  }

  async feeQuote(): Promise<FeeQuote> {
    assertOutsideTransaction('feeQuote');
    return {
      blockNumber: this.tip().number,
      hasBaseFee: true,
      baseFeePerGas: GWEI,
      tips: { slow: GWEI, standard: GWEI, fast: 2n * GWEI, urgent: 3n * GWEI },
      congestedTip: 3n * GWEI,
      blobBaseFee: 1n,
    };
  }

  async l1DataFees(calls: readonly DataOfCall[]): Promise<bigint[]> {
    assertOutsideTransaction('l1DataFees');
    return calls.map(() => this.l1DataFee);
  }

  async broadcast(transactions: readonly SignedBytes[]): Promise<BroadcastOutcome[]> {
    assertOutsideTransaction('broadcast');
    return transactions.map((transaction) => this.receive(transaction));
  }

  private userOf(account: Address, nonce: Nonce): NonceUser | null {
    const found = this.minedBy(account, nonce);
    return found && { txHash: found.tx.hash, block: found.block, sent: toSent(found.tx) };
  }

  private receive(bytes: SignedBytes): BroadcastOutcome {
    const tx = this.parse(bytes);
    this.sent.push(tx);
    const fault = this.faults.broadcast?.(tx);
    if (fault && !fault.deliver) return fault.outcome;
    const answer = this.accept(tx);
    return fault?.outcome ?? answer;
  }

  private accept(tx: ModelTx): BroadcastOutcome {
    const answer = this.offer(tx);
    switch (answer) {
      case 'taken':
        return { kind: 'accepted' };
      case 'already known':
        return { kind: 'accepted', errorClass: 'already_known' };
      case 'nonce too low':
        return { kind: 'unknown', errorClass: 'nonce_too_low', message: answer };
      case 'replacement transaction underpriced':
        return { kind: 'unknown', errorClass: 'replacement_underpriced', message: answer };
    }
  }

  /** Seconds since 1970. */
  protected timestampOf(number: number): number {
    return number;
  }

  protected append(txs: readonly ModelTx[]): Block {
    const parent = this.tip();
    const number = parent.number + 1;
    const block = {
      number,
      hash: this.hashAt(number),
      parentHash: parent.hash,
      timestamp: this.timestampOf(number),
      baseFeePerGas: this.baseFeeOfNext(),
      receiptsRoot: null,
      transactionHashes: txs.map((tx) => tx.hash),
      listsAll: true,
      txs,
    };
    this.chain.push(block);
    this.pool.prune((account) => this.minedNonce(account));
    return block;
  }

  private parse({ hash, raw }: SignedBytes): ModelTx {
    const known = this.parsed.get(hash);
    if (known) return known;
    const parsed = Transaction.from(raw);
    const { signature, unsignedHash } = parsed;
    if (signature === null || parsed.hash !== hash) throw new Error('bytes without a signature, or with another hash');
    const tx = {
      hash,
      from: senderOf(parseHash(unsignedHash), signature),
      nonce: BigInt(parsed.nonce),
      data: parsed.data,
      maxFeePerGas: parsed.maxFeePerGas ?? parsed.gasPrice ?? 0n,
      maxPriorityFeePerGas: parsed.maxPriorityFeePerGas ?? parsed.gasPrice ?? 0n,
      raw,
    };
    this.parsed.set(hash, tx);
    return tx;
  }

  /** Wei per gas. */
  protected baseFeeOfNext(): bigint {
    return GWEI;
  }

  protected tip(): ModelBlock {
    const tip = this.chain.at(-1);
    if (!tip) throw new Error('a chain has a genesis block');
    return tip;
  }

  protected minedNonce(account: Address): Nonce {
    const used = this.chain.flatMap((block) =>
      block.txs.filter((tx) => tx.from === account && (this.countsFailed || !this.leftNonceFree(tx, block))),
    );
    return BigInt(used.length);
  }

  private pendingNonce(account: Address): Nonce {
    return this.pool.pendingNonce(account, this.minedNonce(account));
  }

  private allReceipts(): Receipt[] {
    return this.chain.flatMap((block) => this.receiptsIn(block));
  }

  private receiptsIn(block: ModelBlock): Receipt[] {
    return block.txs.map((tx, transactionIndex) => ({
      txHash: tx.hash,
      blockNumber: block.number,
      blockHash: block.hash,
      transactionIndex,
      status: this.leftNonceFree(tx, block) ? 'reverted' : (this.faults.status?.(tx) ?? 'success'),
      gasUsed: 21_000n,
      effectiveGasPrice: GWEI,
      contractAddress: null,
    }));
  }
}

/** What ethers does for it takes twenty times as long. */
export function senderOf(digest: Hash, { r, s, yParity }: Signature): Address {
  return SECP256K1.recover(digest, { r: parseHex(r), s: parseHex(s), yParity });
}

function isSentBy(account: Address, from: Nonce): (tx: ModelTx) => boolean {
  return (tx) => tx.from === account && tx.nonce >= from;
}

function toSent(tx: ModelTx): SentTransaction {
  const { from: account, nonce, hash, raw, maxFeePerGas, maxPriorityFeePerGas } = tx;
  const fees = { maxFeePerGas, maxPriorityFeePerGas };
  if (tx.raw === tx.hash)
    return {
      account,
      nonce,
      hash,
      raw,
      to: account,
      value: 0n,
      data: parseHex(tx.data),
      accessList: [],
      type: 2,
      gasLimit: 21_000n,
      ...fees,
    };
  const { to, value, data, accessList, gasLimit } = Transaction.from(raw);
  return {
    account,
    nonce,
    hash,
    raw,
    to: to === null ? null : parseAddress(to),
    value,
    data: parseHex(data),
    accessList: (accessList ?? []).map(({ address, storageKeys }) => ({
      address: parseAddress(address),
      storageKeys: storageKeys.map(parseHex),
    })),
    type: 2,
    gasLimit,
    ...fees,
  };
}

function genesis(): ModelBlock {
  const hash = parseHash(`0x${'0'.repeat(64)}`);
  const header = { number: 0, hash, parentHash: hash, timestamp: 0, baseFeePerGas: GWEI, receiptsRoot: null };
  return { ...header, transactionHashes: [], listsAll: true, txs: [] };
}

/** One model chain as all the chains there are. */
export class ModelChains extends Chains {
  constructor(private readonly chain: ChainConnector) {
    super();
  }

  ids(): readonly ChainId[] {
    return [this.chain.chainId];
  }

  get(): ChainConnector {
    return this.chain;
  }
}
