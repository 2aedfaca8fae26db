import { Injectable } from '@nestjs/common';
import { type ChainId, signersOf } from '../../../kernel/signer-id.js';
import { Chains } from '../../chain/index.js';
import { BroadcastAttempts, SignAttempts } from '../../sending/index.js';
import { type Lease, NonceLedger, type SlotRef } from '../../signers/index.js';
import { LaneMemory } from '../../transactions/index.js';
import { CreateFills } from './create-fills.js';

/**
 * Fills nonce gaps. A nonce gap is a released slot that no payload took; it blocks every nonce above it. It gets a fill: a managed tx whose
 * payload is a no-op (docs/invariants.md, I7). A fill is then sent, confirmed and reorged like every managed tx.
 */
@Injectable()
export class FillNonceGaps {
  constructor(
    private readonly chains: Chains,
    private readonly ledger: NonceLedger,
    private readonly create: CreateFills,
    private readonly sign: SignAttempts,
    private readonly broadcast: BroadcastAttempts,
    private readonly memory: LaneMemory,
  ) {}

  /** Finds and fills the gaps of signers that may have some. */
  async execute(chainId: ChainId, all: readonly Lease[]): Promise<void> {
    const leases = all.filter((lease) => this.memory.mayHaveGaps(lease));
    const gaps = await this.ledger.gaps(leases.map((lease) => lease.signer));
    this.memory.gapsChecked(leases);
    await this.fill(chainId, leases, gaps);
  }

  /** @param slots of the leases' signers; no tx holds them */
  async fill(chainId: ChainId, leases: readonly Lease[], slots: readonly SlotRef[]): Promise<void> {
    if (slots.length === 0) return;
    const chain = this.chains.get(chainId);
    try {
      const fills = await this.create.execute(chain, leases, slots);
      const signed = await this.sign.execute(await chain.feeQuote(), leases, fills);
      await this.broadcast.execute(chain, leases, signed);
      // The others have bytes already, which the next step finds and sends.
      if (fills.length < slots.length) this.memory.forget(signersOf(slots));
    } catch (error) {
      // The next step starts from the database and finishes what is stored.
      this.memory.forget(signersOf(slots));
      throw error;
    }
  }
}
