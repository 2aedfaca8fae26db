import type { Address, Hash, Hex } from '../../../kernel/hex.js';
import type { ChainId, Nonce } from '../../../kernel/signer-id.js';
import type { AgreedCount } from './agreed-count.js';
import type { Agreed } from './evidence.js';
import type { Block, BlockHeader, BlockReceipts, BlockToProve, Receipt, ReceiptLookup } from './block.js';
import type { BroadcastOutcome } from './broadcast-outcome.js';
import type { FeeQuote } from './fee-quote.js';
import type { Call, GasEstimate } from './gas-estimate.js';
import type {
  AccountCounts,
  MinedQuestion,
  MinedTransactions,
  PooledQuestion,
  PooledTransactions,
} from './sent-transaction.js';
import type { NonceUse, NonceQuestion } from './nonce-use.js';

/** Bytes ready for the network, with the hash we computed for them. */
export interface SignedBytes {
  readonly hash: Hash;
  readonly raw: Hex;
}

export type BlockTag = 'latest' | 'pending';

/** What a chain says of its own blocks: not expected to go, or never to go. */
export type FinalityTag = 'safe' | 'finalized';

/** A transaction, and the block that is said to have it. */
export type PlacedTx = Pick<Receipt, 'txHash' | 'blockHash'>;

/**
 * One EVM chain, whatever is behind it. Every method may be called with many items and costs few round trips.
 * Throws `RpcUnavailable` when no endpoint answered; where an item has its own outcome (receipts, estimates, sends) it
 * says so instead. Never to be called from inside a database transaction (I11, asserted).
 */
export abstract class ChainConnector {
  abstract readonly chainId: ChainId;

  abstract head(): Promise<BlockHeader>;
  /** Newest block under the tag; null when the node has none (yet). Nodes that do not know the tag mostly throw. */
  abstract taggedHead(tag: FinalityTag): Promise<BlockHeader | null>;
  /** Answers in the order asked; null for a block the node does not have. */
  abstract blocks(numbers: readonly number[]): Promise<(Block | null)[]>;
  /** Answers in the order asked. */
  abstract receipts(hashes: readonly Hash[]): Promise<ReceiptLookup[]>;
  /** All receipts of one block by its hash; null when the node does not have (or no longer has) that block. */
  abstract blockReceipts(block: BlockToProve): Promise<BlockReceipts | null>;
  /** Next nonce of each account as of the tag, in the order asked. */
  abstract transactionCounts(accounts: readonly Address[], tag: BlockTag): Promise<Nonce[]>;
  /**
   * The lowest count that any endpoint tells as of the tag, by the evidence of `raise_cursor`; null when it is not known. In the
   * order asked. Costs a call per account and one more at every endpoint.
   */
  abstract agreedCounts(accounts: readonly Address[], tag: BlockTag): Promise<(AgreedCount | null)[]>;
  /**
   * Hash of the canonical block at each height, by the evidence of `make_final` and `reopen_final`; null when it is not known, or
   * when two endpoints tell different ones. An endpoint without the block is silent about it; what one tells alone needs a second
   * look. In the order asked. Costs a call per height at every endpoint.
   */
  abstract agreedBlocks(numbers: readonly number[]): Promise<(Agreed<Hash> | null)[]>;
  /**
   * Receipts of which the endpoints agree on block and outcome, or that there is none, by the evidence of `make_final`; `unavailable`
   * where they do not. In the order asked. Costs a call per receipt at every endpoint; of one endpoint, a call per block.
   */
  abstract agreedReceipts(known: readonly PlacedTx[]): Promise<ReceiptLookup[]>;
  /** Counts of each account, of every endpoint; in the order asked. */
  abstract accountCounts(accounts: readonly Address[]): Promise<AccountCounts[]>;
  /** What is in the pools of all endpoints, in the order asked. For the exception: it costs several calls per account. */
  abstract pooledOf(questions: readonly PooledQuestion[]): Promise<PooledTransactions[]>;
  /** What the accounts had mined, in the order asked. For the exception: it may read thousands of blocks. */
  abstract minedOf(questions: readonly MinedQuestion[]): Promise<MinedTransactions[]>;
  /** Whether nonces were used, and by whom; in the order asked. Costs a call per slot and attempt at every endpoint. */
  abstract nonceUses(slots: readonly NonceQuestion[]): Promise<NonceUse[]>;
  /** Wei, as of `latest`, in the order asked. */
  abstract balances(accounts: readonly Address[]): Promise<bigint[]>;
  /** What one endpoint refuses is asked of all: a refusal is told only by the evidence of `fail_payload`. */
  abstract estimateGas(calls: readonly Call[]): Promise<GasEstimate[]>;
  abstract feeQuote(): Promise<FeeQuote>;
  /**
   * Sends in the order given. Never throws for one transaction: each has its own outcome, and what is not known
   * is `unknown`, which callers must treat as sent (I6).
   */
  abstract broadcast(transactions: readonly SignedBytes[]): Promise<BroadcastOutcome[]>;
}

/** The chains this process is configured for. */
export abstract class Chains {
  abstract ids(): readonly ChainId[];
  /** @throws Unprocessable `unknown_chain` */
  abstract get(chainId: ChainId): ChainConnector;
}
