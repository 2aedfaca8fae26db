import { Injectable } from '@nestjs/common';
import type { Hash } from '../../../kernel/hex.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import { Chains, type ReceiptLookup } from '../../chain/index.js';
import type { Attempt } from '../../transactions/index.js';

/** Reads the receipts of attempts by hash. */
@Injectable()
export class LookUpReceipts {
  constructor(
    private readonly chains: Chains,
    private readonly log: Log,
  ) {}

  /** @returns the answers; no entry where no endpoint answered, which does not mean "no receipt" */
  async execute(chainId: ChainId, attempts: readonly Attempt[]): Promise<ReadonlyMap<Hash, ReceiptLookup>> {
    try {
      const lookups = await this.chains.get(chainId).receipts(attempts.map(({ txHash }) => txHash));
      return new Map(
        attempts.flatMap(({ txHash }, index): [Hash, ReceiptLookup][] =>
          lookups[index] ? [[txHash, lookups[index]]] : [],
        ),
      );
    } catch (error) {
      this.log.warn('failed to fetch receipts', { chainId, error });
      return new Map();
    }
  }
}
