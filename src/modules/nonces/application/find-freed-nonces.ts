import { Injectable } from '@nestjs/common';
import type { ChainId } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import { Chains, RpcUnavailable } from '../../chain/index.js';
import type { ConsumedSlot } from '../../transactions/index.js';
import { ForeignNonces } from './foreign-nonces.js';

/** Foreign nonces after a reorg. A slot that is in neither list is not decided yet. */
export interface FreedNonces {
  readonly freed: readonly ConsumedSlot[];
  /** A foreign transaction used them for good. */
  readonly used: readonly ConsumedSlot[];
}

/**
 * Finds out which foreign nonces a reorg freed. A nonce is free when the chain's next nonce is not above it. That it is still used needs
 * two observations, as when the slot was consumed: the first answer may be from before the reorg.
 */
@Injectable()
export class FindFreedNonces {
  constructor(
    private readonly chains: Chains,
    private readonly foreign: ForeignNonces,
    private readonly log: Log,
  ) {}

  async execute(chainId: ChainId, slots: readonly ConsumedSlot[]): Promise<FreedNonces> {
    if (slots.length === 0) return { freed: [], used: [] };
    try {
      const accounts = slots.map(({ signer }) => signer.address);
      const counts = await this.chains.get(chainId).transactionCounts(accounts, 'latest');
      const isFree = ({ nonce }: ConsumedSlot, index: number): boolean => nonce >= (counts[index] ?? nonce + 1n);
      const inDoubt = slots.filter((slot, index) => !isFree(slot, index)).map((slot) => ({ slot, hashes: [] }));
      const used = await this.foreign.execute(chainId, inDoubt);
      return { freed: slots.filter(isFree), used: used.map(({ slot }) => slot) };
    } catch (error) {
      if (!(error instanceof RpcUnavailable)) throw error;
      this.log.warn('failed to check foreign nonces after a reorg', { chainId, error });
      return { freed: [], used: [] };
    }
  }
}
