import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import { signerKey, type SignerId } from '../../../kernel/signer-id.js';
import type { ChainConnector } from '../../chain/index.js';
import { ManagedTxRepository } from '../../transactions/index.js';

interface Known {
  left: bigint;
  readonly readAtMs: number;
}

/** What an outside sender takes meanwhile shows at the next reading; until then the node refuses what cannot be paid. */
const MAX_AGE_MS = 10_000;

/**
 * What is left of each signer's balance: read now and then, and kept by us between, by taking off what we send. A reading for
 * every batch would be a call for every few transactions. What is in flight is not in the balance yet, and is taken off, too.
 */
@Injectable()
export class KnownBalances {
  private readonly known = new Map<string, Known>();

  constructor(
    private readonly repository: ManagedTxRepository,
    private readonly clock: Clock,
  ) {}

  /** Reads the balances that are unknown, old, or less than what is needed now. @param needed wei, by signer */
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
    // First: what is mined between the two counts twice and not never, until the next reading.
    const committed = await this.repository.committedWei(asked.map(({ signer }) => signer));
    const balances = await chain.balances(asked.map(({ signer }) => signer.address));
    asked.forEach(({ signer }, index) =>
      this.known.set(signerKey(signer), { left: (balances[index] ?? 0n) - (committed[index] ?? 0n), readAtMs: now }),
    );
  }

  /** @returns whether it was there to be taken */
  take(signer: SignerId, wei: bigint): boolean {
    const known = this.known.get(signerKey(signer));
    if (!known || known.left < wei) return false;
    known.left -= wei;
    return true;
  }
}
