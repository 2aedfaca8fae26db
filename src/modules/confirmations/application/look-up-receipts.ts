import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import type { Hash } from '../../../kernel/hex.js';
import { inSlices } from '../../../kernel/in-slices.js';
import { type ChainId, signerKey } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import { FairAsk } from '../../../platform/scheduling/fair-ask.js';
import { Pauses } from '../../../platform/scheduling/pause.js';
import { Turns } from '../../../platform/scheduling/turns.js';
import { type BlockRef, Chains, type Receipt, type ReceiptLookup, RpcUnavailable } from '../../chain/index.js';
import type { Attempt } from '../../ledger/index.js';

const MAX_RECEIPTS_PER_CALL = 50;
/** Blocks whose receipts are read in one look. */
const BLOCKS_AT_ONCE = 4;
/** Until the receipts of a block are read again. */
const READ_AGAIN_MS = 30_000;

/** Reads the receipts of attempts by hash. No signer waits for the receipts of another one. */
@Injectable()
export class LookUpReceipts {
  private readonly lookups: FairAsk<Attempt, ReceiptLookup>;
  private readonly blocks: FairAsk<BlockRef, readonly Receipt[]>;
  private readonly turns = new Turns<BlockRef>(BLOCKS_AT_ONCE, ({ hash }) => hash);
  /** When the receipts of a block were read last, in monotonic milliseconds. */
  private readonly readAt = new Map<Hash, number>();

  constructor(
    private readonly chains: Chains,
    private readonly log: Log,
    private readonly clock: Clock,
    { pause }: Pauses,
  ) {
    const batches = (attempts: readonly Attempt[]) => inSlices(attempts, MAX_RECEIPTS_PER_CALL);
    const actorOf = ({ signer }: Attempt): string => signerKey(signer);
    this.lookups = new FairAsk({ actorOf, keyOf: ({ txHash }) => txHash, batches }, clock, pause);
    const hashOf = ({ hash }: BlockRef): string => hash;
    this.blocks = new FairAsk({ actorOf: hashOf, keyOf: hashOf, batches: (some) => inSlices(some, 1) }, clock, pause);
  }

  /** @returns the answers; no entry where no endpoint has answered yet, which does not mean "no receipt" */
  async execute(chainId: ChainId, attempts: readonly Attempt[]): Promise<ReadonlyMap<Hash, ReceiptLookup>> {
    const told = await this.lookups.execute(attempts, (some) => this.ask(chainId, some));
    return new Map(
      told.flatMap((one): [Hash, ReceiptLookup][] => (one.kind === 'answered' ? [[one.item.txHash, one.answer]] : [])),
    );
  }

  /**
   * Receipts of all transactions of blocks, of which each may be many megabytes.
   * @returns none of those that cannot be read, or have no turn yet
   */
  async inBlocks(chainId: ChainId, blocks: readonly BlockRef[]): Promise<Receipt[]> {
    const nowMs = this.clock.monotonicMs();
    for (const [hash, atMs] of this.readAt) if (nowMs - atMs >= READ_AGAIN_MS) this.readAt.delete(hash);
    const due = new Map(
      blocks.filter(({ hash }) => !this.readAt.has(hash)).map((block) => [block.hash as string, block]),
    );
    const now = await this.turns.take(chainId, [...due.keys()], async (hashes) =>
      hashes.flatMap((hash) => due.get(hash) ?? []),
    );
    for (const { hash } of now) this.readAt.set(hash, nowMs);
    const told = await this.blocks.execute(now, (some) =>
      Promise.all(some.map((block) => this.ofBlock(chainId, block))),
    );
    return told.flatMap((one) => (one.kind === 'answered' ? one.answer : []));
  }

  private async ofBlock(chainId: ChainId, { hash }: BlockRef): Promise<readonly Receipt[]> {
    try {
      const asked = { hash, receiptsRoot: null, transactionHashes: [] };
      return (await this.chains.get(chainId).blockReceipts(asked, true))?.receipts ?? [];
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
