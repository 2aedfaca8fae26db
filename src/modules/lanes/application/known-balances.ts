import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import { signerKey, type SignerId } from '../../../kernel/signer-id.js';
import type { ChainConnector } from '../../chain/index.js';
import { ManagedTxRepository } from '../../transactions/index.js';

interface Known {
  left: bigint;
  readonly readAtMs: number;
}

/** Transactions of other senders show at the next read; until then the node refuses transactions that cannot be paid. */
const MAX_AGE_MS = 10_000;

/**
 * The rest of each signer's balance. Read from the chain at most every few seconds, because a read for every batch would be a call for
 * every few transactions. Between reads, the cost of each sent tx is subtracted; at a read, the cost of all txs in flight.
 */
@Injectable()
export class KnownBalances {
  private readonly known = new Map<string, Known>();

  constructor(
    private readonly repository: ManagedTxRepository,
    private readonly clock: Clock,
  ) {}

  /** Reads balances that are unknown, old, or lower than what is needed now. @param needed wei by signer */
  async refresh(
    chain: Pick<ChainConnector, 'balances'>,
    needed: readonly { readonly signer: SignerId; readonly wei: bigint }[],
  ): Promise<void> {
    const now = this.clock.monotonicMs();
    const asked = needed.filter(({ signer, wei }) => {
      const known = this.known.get(signerKey(signer));
      return known === undefined || now - known.readAtMs > MAX_AGE_MS || known.left < wei;
    });
    if (asked.length === 0) return;
    // Before the balances: a tx that is mined between the two reads is subtracted twice until the next read, and not left out.
    const committed = await this.repository.committedWei(asked.map(({ signer }) => signer));
    const balances = await chain.balances(asked.map(({ signer }) => signer.address));
    asked.forEach(({ signer }, index) =>
      this.known.set(signerKey(signer), { left: (balances[index] ?? 0n) - (committed[index] ?? 0n), readAtMs: now }),
    );
  }

  /** @returns whether the balance covers it */
  take(signer: SignerId, wei: bigint): boolean {
    const known = this.known.get(signerKey(signer));
    if (!known || known.left < wei) return false;
    known.left -= wei;
    return true;
  }
}
