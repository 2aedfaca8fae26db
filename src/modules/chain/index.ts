export { ProtocolRules } from './application/protocol-rules.js';
export { isTooLittleGas } from './domain/too-little-gas.js';
export { type DemandedFee, demandedFee, nodeTxFeeCap } from './domain/demanded-fee.js';
export { ChainRules } from './application/chain-rules.js';
export { FinalityRule } from './application/finality-rule.js';
export { HeadTracker } from './application/head-tracker.js';
export { SecondObservations } from './application/second-observations.js';
export { VerifiedReceipts } from './application/verified-receipts.js';
export { BLOB_BYTES, type BlobSidecar, CELLS_PER_BLOB } from './domain/blob-sidecar.js';
export { BlockStore } from './domain/block-store.js';
export type {
  Block,
  BlockHeader,
  BlockReceipts,
  BlockRef,
  BlockToProve,
  Receipt,
  ReceiptLookup,
} from './domain/block.js';
export type { BroadcastOutcome } from './domain/broadcast-outcome.js';
export {
  type BlockTag,
  type ChainAccounts,
  type ChainBlocks,
  type ChainConnector,
  type ChainFees,
  type ChainReceipts,
  Chains,
  type FinalityTag,
  type PermitNonceQuestion,
  type PlacedTx,
  type SignedBytes,
} from './domain/chain-connector.js';
export type { ChainUpdate } from './domain/chain-update.js';
export { ENDPOINT_STATES, type EndpointStatus, RpcHealth } from './domain/endpoint-status.js';
export type { Agreed, AgreedCount } from './domain/evidence.js';
export { type FeeCaps, type FeeQuote, isFree, SPEEDS, type Speed } from './domain/fee-quote.js';
export type { FinalHeights } from './domain/final-heights.js';
export type { AccessList, Call, GasEstimate } from './domain/gas-estimate.js';
export type { DataOfCall } from './domain/l1-data-fees.js';
export { ACTION, actionOf } from './domain/node-error-action.js';
export type { NonceUser, NonceUse, NonceQuestion } from './domain/nonce-use.js';
export type { UsedCount, UsedNonces } from './domain/used-nonces.js';
export { RpcUnavailable } from './domain/rpc-unavailable.js';
export type {
  AccountCounts,
  MinedQuestion,
  MinedTransactions,
  PooledQuestion,
  PooledTransactions,
  SentTransaction,
} from './domain/sent-transaction.js';
export { ChainProbes } from './infrastructure/chain-probes.js';
export { ConfiguredChains } from './infrastructure/configured-chains.js';
export { ChainScheduler } from './infrastructure/chain-scheduler.js';
export { NewHeads } from './infrastructure/new-heads.js';
export { agreedHashes, BLOCKS_PER_CALL, readBlocks } from './application/read-blocks.js';
