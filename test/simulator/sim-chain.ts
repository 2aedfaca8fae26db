import { Transaction } from 'ethers';
import { minOf } from '../../src/kernel/quantities.js';
import { type Address, type Hash, type Hex, parseHash } from '../../src/kernel/hex.js';
import type { Nonce } from '../../src/kernel/signer-id.js';
import type { Block } from '../../src/modules/chain/index.js';
import { FOREIGN_DATA, type ModelBlock, ModelChain, type ModelTx, senderOf } from '../support/model-chain.js';
import type { PoolAnswer } from '../support/model-pool.js';
import { FinalityRecord } from './network/finality-record.js';
import { Market, QUIET_FEE, tipOf } from './network/market.js';
import { ROOMY } from './network/pool-room.js';
import { Purses } from './network/purses.js';
import { type Rules, USUAL } from './network/rules.js';
import { SimPool } from './network/sim-pool.js';
import { Tags } from './network/tags.js';
import type { Random } from './random.js';
import { Seen } from './seen.js';
import type { TxRow } from './snapshot.js';

/** Not ours to execute once: no-ops, and whatever somebody else sends. */
export const NO_PAYLOAD: ReadonlySet<string> = new Set(['0x', FOREIGN_DATA]);
/** How likely a block has what a node refused and kept: beside another transaction for its nonce, and without one. */
const KEPT_BESIDE = 0.5;
const KEPT_ALONE = 0.2;
/** Transactions in a block of a new branch. */
const MOST_OF_A_BRANCH_BLOCK = 4;

/** The chain as it is, whatever any endpoint says of it. */
export class SimChain extends ModelChain {
  /** Calldata that reverts when it is mined. */
  readonly reverting = new Set<string>();
  /** What a database knew of and lost: calldata of requests, and hashes of attempts. */
  readonly lostPayloads = new Set<string>();
  readonly lostBytes = new Set<string>();
  /** Hashes of what outside senders signed. */
  readonly signedOutside = new Set<string>();
  /** By calldata, of requests with confirmations of their own. */
  readonly ownConfirmations = new Map<string, number>();
  /** Seconds since 1970, as the database has them. */
  seconds = 0;
  readonly tags = new Tags();
  readonly purses = new Purses();
  readonly finality: FinalityRecord;
  readonly market: Market;
  protected override readonly pool: SimPool;
  /** Every transaction that a pool ever took: whoever makes a block may have it still. */
  private readonly out = new Map<Hash, ModelTx>();
  /** Of these what a node refused in words, and no pool ever took. */
  private readonly kept = new Set<Hash>();
  /** The highest count that each account ever had: a reorg may have taken some of it back. */
  private readonly highest = new Map<string, bigint>();
  private readonly read = new Map<string, ModelTx>();
  private readonly ever = new Map<string, ModelBlock>();
  /** What was mined with an account and nonce, on every branch. */
  private readonly uses = new Map<string, { readonly block: Hash; readonly data: string }[]>();

  constructor(
    private readonly rules: Rules = USUAL,
    private readonly seen = new Seen(),
  ) {
    super();
    this.finality = new FinalityRecord(rules.finality);
    this.market = new Market(rules.steepFees);
    this.pool = new SimPool(seen);
    this.pool.room = rules.shortOfRoom === 'everybody' ? rules.room : ROOMY;
    this.faults.status = ({ data }) => (this.reverting.has(data) ? 'reverted' : undefined);
  }

  /**
   * @param random for blocks of somebody who may have any of several transactions for one nonce; null: of what the pool kept
   * @param keeper of what nodes refused and kept all the same
   */
  makeBlock(limit: number, random: Random | null, keeper: Random): void {
    const txs: ModelTx[] = [];
    while (txs.length < limit) {
      const tx = this.keptFor(txs, keeper) ?? this.nextFor(txs, random);
      if (!tx) break;
      txs.push(tx);
    }
    this.append(txs);
  }

  /**
   * Another branch, one block longer, takes the place of the last blocks: with transactions of theirs in another order, with other ones
   * for the same nonces, and without some. The rest returns to the pool unless `drop`.
   */
  rebranch(depth: number, drop: boolean, random: Random): void {
    const gone = this.takeBack(depth);
    this.tags.cut(this.height);
    if (!drop) for (const tx of gone) this.pool.put(tx);
    for (let block = 0; block <= depth; block += 1) {
      const limit = random.between(0, MOST_OF_A_BRANCH_BLOCK);
      this.append(this.ofBranch(limit, gone, random));
    }
    this.noteBranch(gone);
  }

  /** Somebody else who has the key offers this price for a nonce, in wei per gas. */
  offerForeign(from: Address, nonce: Nonce, price: bigint): PoolAnswer {
    return this.offer(this.foreignTx(from, nonce, price));
  }

  override sendForeign(from: Address, nonce: Nonce): ModelTx {
    const foreign = super.sendForeign(from, nonce);
    this.out.set(foreign.hash, foreign);
    return foreign;
  }

  override offer(tx: ModelTx): PoolAnswer {
    this.out.set(tx.hash, tx);
    this.kept.delete(tx.hash);
    return super.offer(tx);
  }

  /** A node refused it, and has it all the same. */
  keep(tx: ModelTx): void {
    if (this.out.has(tx.hash)) return;
    this.out.set(tx.hash, tx);
    this.kept.add(tx.hash);
    this.seen.note('a node keeps what it refuses');
  }

  /** The pools drop it; it is out all the same. */
  forget(hash: Hash): void {
    this.pool.remove(hash);
  }

  highestCount(account: string): bigint {
    return this.highest.get(account) ?? 0n;
  }

  /** In their order. */
  ourMinedPayloads(): ModelTx[] {
    return this.minedTxs().filter((tx) => this.isPayload(tx));
  }

  /** Ours to execute once. Nobody knows of those any more whose requests were lost. */
  isPayload({ data }: Pick<ModelTx, 'data'>): boolean {
    return !NO_PAYLOAD.has(data) && !this.lostPayloads.has(data);
  }

  /**
   * What was lost and is in no pool that an endpoint has, and in no block, never comes back: no node can know of what those alone have who make
   * blocks (decision 12).
   */
  forgetLost(inPools: ReadonlySet<string>): void {
    const mined = new Set(this.minedTxs().map(({ hash }) => hash));
    for (const hash of this.out.keys()) {
      if (!this.lostBytes.has(hash) || inPools.has(hash) || mined.has(hash)) continue;
      this.out.delete(hash);
      this.forget(hash);
    }
  }

  isMined(data: string): boolean {
    return this.minedTxs().some((tx) => tx.data === data);
  }

  /** Somebody else had the nonce in a block that was final, whatever a reorg did to it since; or a request that the database lost. */
  wasTakenForGood(tx: Pick<ModelTx, 'from' | 'nonce'>): boolean {
    return this.wasUsedForGood(tx, (data) => data === FOREIGN_DATA || this.lostPayloads.has(data));
  }

  /** The same of a no-op: a payload that nodes refuse gets another nonce then. */
  wasClosedForGood(tx: Pick<ModelTx, 'from' | 'nonce'>): boolean {
    return this.wasUsedForGood(tx, (data) => data === '0x');
  }

  /** The database lost it, and no pool and no block had it then: no node can know that it was ever sent, and it does not come back. */
  isForgotten({ hash }: Pick<ModelTx, 'hash'>): boolean {
    return this.lostBytes.has(hash) && !this.out.has(hash);
  }

  /**
   * A payload of ours was sent at a nonce that somebody else had for good: it was moved, and a deeper reorg may give the nonce back.
   * @param gaveUpNonce whether it also may have been moved because a no-op of ours had the nonce
   */
  wasMoved(data: string, gaveUpNonce: boolean): boolean {
    return this.sent.some(
      (tx) => tx.data === data && (this.wasTakenForGood(tx) || (gaveUpNonce && this.wasClosedForGood(tx))),
    );
  }

  /** It was in a block that was final, and a deeper reorg took that back. */
  wasTakenBack(data: string, confirmations: number | null): boolean {
    return [...this.ever.values()].some(
      ({ hash, txs }) =>
        !this.has(hash) && this.finality.wasFinal(hash, confirmations) && txs.some((tx) => tx.data === data),
    );
  }

  /** Another transaction with the nonce of this one was in a block that was final. */
  hadFinalRival(hash: string): boolean {
    const own = this.sent.find((tx) => tx.hash === hash);
    return [...this.ever.values()].some(({ hash: block, txs }) =>
      txs.some(
        (tx) =>
          tx.from === own?.from &&
          tx.nonce === own.nonce &&
          tx.hash !== hash &&
          this.finality.wasFinal(block, this.ownConfirmations.get(tx.data)),
      ),
    );
  }

  /** Another transaction with this account and nonce was in a block, also in one that a reorg took back. */
  hadRival({ signer, nonce }: Pick<TxRow, 'signer' | 'nonce'>, hash: Hash | undefined): boolean {
    return [...this.ever.values()].some(({ txs }) =>
      txs.some((tx) => tx.from === signer && Number(tx.nonce) === nonce && tx.hash !== hash),
    );
  }

  /** A block by its hash, also one that a reorg took back. */
  everAt(hash: string): ModelBlock | null {
    return this.ever.get(hash) ?? null;
  }

  /** A transaction by its hash, also in a block that a reorg took back. */
  wasMined(hash: string): boolean {
    return [...this.ever.values()].some(({ txs }) => txs.some((tx) => tx.hash === hash));
  }

  has(hash: string): boolean {
    const block = this.ever.get(hash);
    return block !== undefined && this.blockAt(block.number)?.hash === hash;
  }

  /** Blocks that a reorg may take back without touching what may be final. */
  openBlocks(): number {
    return this.finality.openBlocks(this.chain);
  }

  /** Wei, as of a block. */
  balanceAt(account: Address, number: number): bigint {
    return this.purses.balance(account, this.chain.slice(0, number + 1));
  }

  setBalance(account: Address, wei: bigint): void {
    this.purses.set(account, wei, this.chain);
  }

  /** What those who make blocks have no room for is gone. */
  trimPool(): void {
    this.pool.trim({ countOf: (account) => this.minedNonce(account), baseFee: this.baseFee });
  }

  /** Of the next block, wei per gas. */
  get baseFee(): bigint {
    return this.market.baseFee;
  }

  /** Money and tags are as they should be, and prices stay what they are. */
  calm(): void {
    this.market.leapTo(this.payableFee());
    this.tags.standStill = false;
    this.tags.isAbsent = false;
    this.purses.fillAll();
  }

  /** The base fee of now, or one that leaves room below the cap, for a replacement needs it; and what others are ready to pay. */
  private payableFee(): bigint {
    const { maxFeePerGas, maxTip, namedPrices } = this.rules;
    const fee = maxFeePerGas === null ? this.baseFee : minOf(this.baseFee, maxFeePerGas / 2n);
    const waits = this.pooled().some((tx) => tx.data === FOREIGN_DATA && tx.maxFeePerGas < fee);
    return namedPrices || maxTip !== null || waits ? QUIET_FEE : fee;
  }

  /** The tags moved. */
  noteTags(): void {
    const { finality } = this.rules;
    this.finality.saw(this.chain, finality === 'depth' ? -1 : this.tags.of(finality));
  }

  /** A transaction from its bytes; each is decoded once. */
  decode(raw: Hex): ModelTx {
    const known = this.read.get(raw);
    if (known) return known;
    const parsed = Transaction.from(raw);
    const { signature, unsignedHash } = parsed;
    if (signature === null || parsed.hash === null) throw new Error('bytes without a signature');
    const tx = {
      hash: parseHash(parsed.hash),
      from: senderOf(parseHash(unsignedHash), signature),
      nonce: BigInt(parsed.nonce),
      data: parsed.data,
      maxFeePerGas: parsed.maxFeePerGas ?? parsed.gasPrice ?? 0n,
      maxPriorityFeePerGas: parsed.maxPriorityFeePerGas ?? parsed.gasPrice ?? 0n,
      raw,
    };
    this.read.set(raw, tx);
    return tx;
  }

  protected override timestampOf(): number {
    return Math.floor(this.seconds);
  }

  protected override baseFeeOfNext(): bigint {
    return this.baseFee;
  }

  protected override append(txs: readonly ModelTx[]): Block {
    const block = super.append(txs);
    this.ever.set(block.hash, this.tip());
    for (const { hash, from, nonce, data } of txs) {
      if (this.kept.has(hash) && !NO_PAYLOAD.has(data))
        this.seen.note('a block has a payload that its node had refused');
      if (nonce >= this.highestCount(from)) this.highest.set(from, nonce + 1n);
      const key = `${from} ${nonce}`;
      this.uses.set(key, [...(this.uses.get(key) ?? []), { block: block.hash, data }]);
    }
    for (const tx of this.pooled()) if (!this.canPay(tx, [])) this.pool.remove(tx.hash);
    this.market.blockWasMade();
    this.tags.follow(block.number);
    this.noteTags();
    return block;
  }

  /** The one that pays most of those that fit behind the ones in the block already. */
  private nextFor(txs: readonly ModelTx[], random: Random | null): ModelTx | undefined {
    const tip = (tx: ModelTx): bigint => tipOf(tx, this.baseFee);
    const [kept] = this.pooled()
      .filter((tx) => this.fits(tx, txs) && tip(tx) >= this.market.leastTip)
      .sort((a, b) => Number(tip(b) - tip(a)));
    if (!kept || !random) return kept;
    const found = random.pick(this.rivalsAt(kept).filter((tx) => this.fits(tx, txs)));
    if (found.hash !== kept.hash) this.seen.note('a block has the transaction that the pool did not keep');
    return found;
  }

  private wasUsedForGood({ from, nonce }: Pick<ModelTx, 'from' | 'nonce'>, by: (data: string) => boolean): boolean {
    return (this.uses.get(`${from} ${nonce}`) ?? []).some(
      ({ block, data }) => by(data) && this.finality.wasFinal(block),
    );
  }

  private keptFor(txs: readonly ModelTx[], keeper: Random): ModelTx | undefined {
    const fitting = [...this.kept].flatMap((hash) => this.out.get(hash) ?? []).filter((tx) => this.fits(tx, txs));
    return fitting.find(({ from, nonce }) => {
      const hasRival = this.pooled().some((rival) => rival.from === from && rival.nonce === nonce);
      return keeper.chance(hasRival ? KEPT_BESIDE : KEPT_ALONE);
    });
  }

  private ofBranch(limit: number, gone: readonly ModelTx[], random: Random): ModelTx[] {
    const txs: ModelTx[] = [];
    while (txs.length < limit) {
      const fitting = [...this.out.values()].filter((tx) => this.fits(tx, txs));
      if (fitting.length === 0) break;
      const asBefore = fitting.filter((tx) => gone.includes(tx));
      const others = fitting.filter((tx) => gone.some((before) => isOtherPayload(tx, before)));
      // A race is rare, and one that a block has decided rarer.
      if (others.length > 0 && random.chance(0.5)) txs.push(random.pick(others));
      else txs.push(random.pick(asBefore.length > 0 && random.chance(0.6) ? asBefore : fitting));
    }
    return txs;
  }

  private noteBranch(gone: readonly ModelTx[]): void {
    const now = this.minedTxs();
    const back = now.filter(({ hash }) => gone.some((tx) => tx.hash === hash)).map(({ hash }) => hash);
    const before = gone.map(({ hash }) => hash).filter((hash) => back.includes(hash));
    if (back.length > 0) this.seen.note('a reorg mines transactions again');
    if (back.join() !== before.join()) this.seen.note('a reorg mines transactions in another order');
    for (const tx of gone) {
      const winner = this.minedBy(tx.from, tx.nonce);
      if (!winner || winner.tx.hash === tx.hash) continue;
      this.seen.note('a reorg mines another transaction for a nonce');
      if (isOtherPayload(winner.tx, tx)) this.seen.note('a reorg changes the winner of a race');
    }
  }

  private rivalsAt({ from, nonce }: ModelTx): ModelTx[] {
    return [...this.out.values()].filter((tx) => tx.from === from && tx.nonce === nonce);
  }

  private fits(tx: ModelTx, before: readonly ModelTx[]): boolean {
    const own = before.filter(({ from }) => from === tx.from);
    return (
      tx.nonce === this.minedNonce(tx.from) + BigInt(own.length) &&
      tx.maxFeePerGas >= this.baseFee &&
      this.canPay(tx, own)
    );
  }

  private canPay(tx: ModelTx, before: readonly ModelTx[]): boolean {
    const all = [...before, tx].reduce((sum, each) => sum + this.purses.most(each), 0n);
    return all <= this.balanceAt(tx.from, this.height);
  }
}

/** Both are ours and for one nonce, and are not two prices of one payload. */
function isOtherPayload(one: ModelTx, other: ModelTx): boolean {
  const isOneNonce = one.from === other.from && one.nonce === other.nonce;
  return isOneNonce && one.data !== other.data && ![one.data, other.data].includes(FOREIGN_DATA);
}
