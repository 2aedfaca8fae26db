export { BlockStore } from './domain/block-store.js';
export { type ChainUpdate, FollowChain } from './application/follow-chain.js';
export { STRIDE, toldBlocks } from './application/told-blocks.js';
export { type AgreedCount } from './domain/agreed-count.js';
export {
  type Block,
  type BlockHeader,
  type BlockRef,
  type BlockReceipts,
  type BlockToProve,
  type Receipt,
  type ReceiptLookup,
  WHOLE_BLOCK_FROM,
} from './domain/block.js';
export { type BroadcastOutcome } from './domain/broadcast-outcome.js';
export {
  type BlockTag,
  ChainConnector,
  Chains,
  type FinalityTag,
  type PlacedTx,
  type SignedBytes,
} from './domain/chain-connector.js';
export { type EndpointStatus, RpcHealth } from './domain/endpoint-status.js';
export { type Agreed, type Decision, isSecondLook, looksNeeded } from './domain/evidence.js';
export { type FeeQuote, type Speed, SPEEDS } from './domain/fee-quote.js';
export { type AccessList, type Call, type GasEstimate } from './domain/gas-estimate.js';
export { ACTION, actionOf, type NodeErrorAction, type NodeErrorResponse } from './domain/node-error-action.js';
export { NODE_ERROR_CLASSES, type NodeErrorClass } from '../../kernel/node-error-class.js';
export { nodeTxFeeCap } from './domain/node-tx-fee-cap.js';
export { RpcUnavailable, type RpcUnavailableCode } from './domain/rpc-unavailable.js';
export {
  type AccountCounts,
  type MinedQuestion,
  type MinedTransactions,
  type PooledQuestion,
  type PooledTransactions,
  type SentTransaction,
} from './domain/sent-transaction.js';
export { type NonceUser, type SlotFate, type SlotQuestion } from './domain/slot-fate.js';
export { ChainScheduler } from './infrastructure/chain-scheduler.js';
export { NewHeads } from './infrastructure/new-heads.js';
