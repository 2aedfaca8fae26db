import type { Address, Hash } from '../../src/kernel/hex.js';
import type { Nonce } from '../../src/kernel/signer-id.js';
import {
  type AgreedCount,
  type Block,
  type BlockHeader,
  type BlockReceipts,
  type BlockTag,
  type BlockToProve,
  type BroadcastOutcome,
  type Call,
  ChainConnector,
  type FeeQuote,
  type FinalityTag,
  type GasEstimate,
  type ReceiptLookup,
  RpcUnavailable,
  type SignedBytes,
  type SlotFate,
  type SlotQuestion,
} from '../../src/modules/chain/index.js';
import type { Gate } from './gate.js';
import type { SentLog } from './sent-log.js';
import type { SimChain } from './sim-chain.js';

/** The way of one node to the chain, with its gate before every question and after every answer. */
export class NodeRpc extends ChainConnector {
  readonly chainId: number;
  /** Blocks by which this node's endpoint is behind the best head. */
  lag = 0;

  constructor(
    private readonly chain: SimChain,
    private readonly gate: Gate,
    private readonly log: SentLog,
  ) {
    super();
    this.chainId = chain.chainId;
  }

  head(): Promise<BlockHeader> {
    return this.ask('head', () => this.chain.headBehind(this.lag));
  }

  taggedHead(tag: FinalityTag): Promise<BlockHeader | null> {
    return this.ask('tagged head', () => this.chain.taggedHead(tag));
  }

  blocks(numbers: readonly number[]): Promise<(Block | null)[]> {
    return this.ask('blocks', () => this.chain.blocks(numbers));
  }

  receipts(hashes: readonly Hash[]): Promise<ReceiptLookup[]> {
    return this.ask('receipts', () => this.chain.receipts(hashes));
  }

  blockReceipts(block: BlockToProve): Promise<BlockReceipts | null> {
    return this.ask('block receipts', () => this.chain.blockReceipts(block));
  }

  transactionCounts(accounts: readonly Address[], tag: BlockTag): Promise<Nonce[]> {
    return this.ask('transaction counts', () => this.chain.transactionCounts(accounts, tag));
  }

  agreedCounts(accounts: readonly Address[], tag: BlockTag): Promise<(AgreedCount | null)[]> {
    return this.ask('agreed counts', () => this.chain.agreedCounts(accounts, tag));
  }

  agreedBlocks(numbers: readonly number[]): Promise<(Hash | null)[]> {
    return this.ask('agreed blocks', () => this.chain.agreedBlocks(numbers));
  }

  slotFates(slots: readonly SlotQuestion[]): Promise<SlotFate[]> {
    return this.ask('slot fates', () => this.chain.slotFates(slots));
  }

  balances(accounts: readonly Address[]): Promise<bigint[]> {
    return this.ask('balances', () => this.chain.balances(accounts));
  }

  estimateGas(calls: readonly Call[]): Promise<GasEstimate[]> {
    return this.ask('estimates', () => this.chain.estimateGas(calls));
  }

  feeQuote(): Promise<FeeQuote> {
    return this.ask('fee quote', () => this.chain.feeQuote());
  }

  async broadcast(transactions: readonly SignedBytes[]): Promise<BroadcastOutcome[]> {
    const outcomes: BroadcastOutcome[] = [];
    for (const transaction of transactions) {
      const outcome = await this.send(transaction);
      this.log.answered(transaction.hash, outcome.kind);
      outcomes.push(outcome);
    }
    return outcomes;
  }

  /** Never throws for a transaction: what is not known is an outcome, too. */
  private async send(transaction: SignedBytes): Promise<BroadcastOutcome> {
    const lost = { kind: 'unknown', errorClass: 'transient', message: 'the connection broke' } as const;
    try {
      await this.pass('before a broadcast');
      const [outcome = lost] = await this.gate.during(async () => {
        await this.log.aboutToSend(transaction.hash);
        return this.chain.broadcast([transaction]);
      });
      await this.pass('after a broadcast');
      return outcome;
    } catch (error) {
      if (error instanceof RpcUnavailable) return lost;
      throw error;
    }
  }

  private async ask<T>(question: string, answer: () => Promise<T>): Promise<T> {
    await this.pass(`before ${question}`);
    const result = await this.gate.during(answer);
    await this.pass(`after ${question}`);
    return result;
  }

  private pass(place: string): Promise<void> {
    return this.gate.pass(
      place,
      false,
      () => new RpcUnavailable('rpc_unavailable', { chainId: this.chainId, method: place }, 'the connection broke'),
    );
  }
}
