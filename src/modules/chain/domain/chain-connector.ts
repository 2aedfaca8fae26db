import type { Address, Hash, Hex } from '../../../kernel/hex.js';
import type { ChainId, Nonce } from '../../../kernel/signer-id.js';
import type { BlobSidecar } from './blob-sidecar.js';
import type { Agreed, AgreedCount } from './evidence.js';
import type { Block, BlockHeader, BlockReceipts, BlockToProve, Receipt, ReceiptLookup } from './block.js';
import type { BroadcastOutcome } from './broadcast-outcome.js';
import type { FeeQuote } from './fee-quote.js';
import type { Call, GasEstimate } from './gas-estimate.js';
import type { DataOfCall } from './l1-data-fees.js';
import type {
  AccountCounts,
  MinedQuestion,
  MinedTransactions,
  PooledQuestion,
  PooledTransactions,
  SentTransaction,
} from './sent-transaction.js';
import type { NonceUse, NonceQuestion } from './nonce-use.js';
import type { UsedCount, UsedNonces } from './used-nonces.js';

/** Bytes ready for the network, with the hash we computed for them. */
export interface SignedBytes {
  readonly hash: Hash;
  readonly raw: Hex;
  /** Only of a blob transaction: what travels beside it. */
  readonly sidecar?: BlobSidecar;
}

export type BlockTag = 'latest' | 'pending';

/** `safe`: the chain does not expect to reorg the block. `finalized`: the chain never reorgs it. */
export type FinalityTag = 'safe' | 'finalized';

/** A transaction, and the block that has it according to a stored receipt. */
export type PlacedTx = Pick<Receipt, 'txHash' | 'blockHash' | 'blockNumber'>;

/** Whose nonce of which contract. */
export interface PermitNonceQuestion {
  readonly contract: Address;
  readonly owner: Address;
}

interface OneChain {
  readonly chainId: ChainId;
}

/** Blocks and heads. */
export interface ChainBlocks extends OneChain {
  head(): Promise<BlockHeader>;
  /** Newest block under the tag; null when the node has none (yet). Most nodes that do not support the tag answer with an error. */
  taggedHead(tag: FinalityTag): Promise<BlockHeader | null>;
  /** In the given order; null for a block that the node does not have. */
  blocks(numbers: readonly number[]): Promise<(Block | null)[]>;
  /**
   * Hash of the canonical block at each height, with the evidence of `make_final` and `reopen_final`; null when it is not known or the
   * endpoints do not agree. An endpoint without the block does not count as an answer. The answer of a single endpoint needs a second
   * observation. In the given order. Costs a call per height at every endpoint.
   */
  agreedBlocks(numbers: readonly number[]): Promise<(Agreed<Hash> | null)[]>;
}

/** What became of transactions. */
export interface ChainReceipts extends OneChain {
  /** In the given order. */
  receipts(hashes: readonly Hash[]): Promise<ReceiptLookup[]>;
  /**
   * All receipts of one block by its hash; null when the node does not have (or no longer has) that block.
   *
   * @param atOnce not one by one, which tells nothing new where a node knows nothing by hash: null where it has no receipts of blocks
   */
  blockReceipts(block: BlockToProve, atOnce?: boolean): Promise<BlockReceipts | null>;
  /**
   * Receipts on whose block and outcome, or absence, the endpoints agree, with the evidence of `make_final`; `unavailable` where they
   * do not. Where an endpoint has none by hash, the receipts of the block at that height count. In the given order. Costs a call per receipt at
   * every endpoint; with a single endpoint, a call per block.
   */
  agreedReceipts(known: readonly PlacedTx[]): Promise<ReceiptLookup[]>;
}

/** Accounts: their nonces, their transactions, their balances. */
export interface ChainAccounts extends OneChain {
  /** Next nonce of each account as of the tag, in the given order. */
  transactionCounts(accounts: readonly Address[], tag: BlockTag): Promise<Nonce[]>;
  /**
   * The lowest transaction count of all endpoints as of the tag, with the evidence of `raise_cursor`; null when it is not known. In
   * the given order. Costs a call per account and one more at every endpoint.
   */
  agreedCounts(accounts: readonly Address[], tag: BlockTag): Promise<(AgreedCount | null)[]>;
  /** The transaction count with pools that every endpoint tells, with the evidence of `release_hold`; null when one is silent, lags or tells another. In the given order. */
  equalCounts(accounts: readonly Address[]): Promise<(AgreedCount | null)[]>;
  /**
   * Whether each account used the nonces that we call used, with the evidence of `hold_signer`; in the given order. An endpoint whose head is
   * below the block in which the last of them was used does not count as an answer.
   */
  usedCounts(nonces: readonly UsedNonces[]): Promise<UsedCount[]>;
  /** Transaction counts of each account, from every endpoint; in the given order. */
  accountCounts(accounts: readonly Address[]): Promise<AccountCounts[]>;
  /** Transactions in the pools of all endpoints, in the given order. Only for rare cases: it costs several calls per account. */
  pooledOf(questions: readonly PooledQuestion[]): Promise<PooledTransactions[]>;
  /** Mined transactions of the accounts, in the given order. Only for rare cases: it may read thousands of blocks. */
  minedOf(questions: readonly MinedQuestion[]): Promise<MinedTransactions[]>;
  /** Transactions by their hashes, in the given order; null for one that no endpoint shows, or whose bytes do not have the hash. */
  transactions(hashes: readonly Hash[]): Promise<(SentTransaction | null)[]>;
  /** Whether nonces were used, and by which transaction; in the given order. Costs a call per slot and attempt at every endpoint. */
  nonceUses(slots: readonly NonceQuestion[]): Promise<NonceUse[]>;
  /** Wei, as of `latest`, in the given order. */
  balances(accounts: readonly Address[]): Promise<bigint[]>;
  /**
   * The next nonce of each owner at a contract that counts the nonces of its permits (`nonces(address)`), as of `latest`, in the given order; null
   * where nobody tells one.
   */
  permitNonces(questions: readonly PermitNonceQuestion[]): Promise<(bigint | null)[]>;
  /** The same, as the endpoints that do not lag agree on it, with the evidence of `judge_permit`. Costs a call per question at every endpoint. */
  agreedPermitNonces(questions: readonly PermitNonceQuestion[]): Promise<(Agreed<bigint> | null)[]>;
  /** Whether each account runs the code of a contract (EIP-7702), as of `latest`, in the given order. */
  delegated(accounts: readonly Address[]): Promise<boolean[]>;
}

/** What a transaction costs. */
export interface ChainFees extends OneChain {
  /** A call that one endpoint refuses is estimated by all endpoints: a refusal needs the evidence of `fail_payload`. */
  estimateGas(calls: readonly Call[]): Promise<GasEstimate[]>;
  feeQuote(): Promise<FeeQuote>;
  /**
   * The most that each call costs beside the price of its gas (data on the L1 of a rollup, its operator), in wei, in the given order; 0, without a
   * call, on other chains.
   */
  l1DataFees(calls: readonly DataOfCall[]): Promise<bigint[]>;
}

/**
 * One EVM chain. Every method takes many items and costs few round trips. It throws `RpcUnavailable` when no endpoint answered; where
 * each item has its own outcome (receipts, estimates, sends) the outcome is `unavailable` or `unknown` instead. It must not be called
 * inside a database transaction (docs/invariants.md, I11, asserted). Who only reads gets a part of it, and cannot send.
 */
export interface ChainConnector extends ChainBlocks, ChainReceipts, ChainAccounts, ChainFees {
  /**
   * Sends in the given order. Never throws for one transaction: each has its own outcome. Callers must treat the outcome `unknown` as
   * sent (docs/invariants.md, I6).
   */
  broadcast(transactions: readonly SignedBytes[]): Promise<BroadcastOutcome[]>;
}

/** The chains this process is configured for. */
export abstract class Chains {
  abstract ids(): readonly ChainId[];
  /** @throws Unprocessable `unknown_chain` */
  abstract get(chainId: ChainId): ChainConnector;
}
