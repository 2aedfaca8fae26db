import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import type { Hash } from '../../../kernel/hex.js';
import { inSlices } from '../../../kernel/in-slices.js';
import { type ChainId, signerKey } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import { FairAsk } from '../../../platform/scheduling/fair-ask.js';
import { Pauses } from '../../../platform/scheduling/pause.js';
import { type BlockRef, Chains, type Receipt, type ReceiptLookup, RpcUnavailable } from '../../chain/index.js';
import type { Attempt } from '../../ledger/index.js';

const MAX_RECEIPTS_PER_CALL = 50;

/** Reads the receipts of attempts by hash. No signer waits for the receipts of another one. */
@Injectable()
export class LookUpReceipts {
  private readonly lookups: FairAsk<Attempt, ReceiptLookup>;

  constructor(
    private readonly chains: Chains,
    private readonly log: Log,
    clock: Clock,
    { pause }: Pauses,
  ) {
    const batches = (attempts: readonly Attempt[]) => inSlices(attempts, MAX_RECEIPTS_PER_CALL);
    const actorOf = ({ signer }: Attempt): string => signerKey(signer);
    this.lookups = new FairAsk({ actorOf, keyOf: ({ txHash }) => txHash, batches }, clock, pause);
  }

  /** @returns the answers; no entry where no endpoint has answered yet, which does not mean "no receipt" */
  async execute(chainId: ChainId, attempts: readonly Attempt[]): Promise<ReadonlyMap<Hash, ReceiptLookup>> {
    const told = await this.lookups.execute(attempts, (some) => this.ask(chainId, some));
    return new Map(
      told.flatMap((one): [Hash, ReceiptLookup][] => (one.kind === 'answered' ? [[one.item.txHash, one.answer]] : [])),
    );
  }

  /** Receipts of all transactions of a block; none where they cannot be read. */
  async inBlock(chainId: ChainId, { hash }: BlockRef): Promise<readonly Receipt[]> {
    try {
      const block = { hash, receiptsRoot: null, transactionHashes: [] };
      return (await this.chains.get(chainId).blockReceipts(block))?.receipts ?? [];
    } catch (error) {
      if (!(error instanceof RpcUnavailable)) throw error;
      this.log.warn('failed to fetch block receipts', { chainId, block: hash, error });
      return [];
    }
  }

  private async ask(chainId: ChainId, attempts: readonly Attempt[]): Promise<ReceiptLookup[]> {
    try {
      return await this.chains.get(chainId).receipts(attempts.map(({ txHash }) => txHash));
    } catch (error) {
      this.log.warn('failed to fetch receipts', { chainId, error });
      return [];
    }
  }
}
