import { Injectable } from '@nestjs/common';
import { type ChainId, signerKey, signersOf } from '../../../kernel/signer-id.js';
import { type ChainConnector, Chains } from '../../chain/index.js';
import { BroadcastAttempts, GasRules, SignAttempts } from '../../sending/index.js';
import { Custody, type Lease, NonceLedger, type SlotRef } from '../../signers/index.js';
import { LaneMemory, type ManagedTx, NewFills, type RequestedTx, WriteChanges } from '../../ledger/index.js';
import { Log } from '../../../platform/logging/log.js';

/** A slot that no tx holds, or whose holder has ended and left its nonce free. */
export interface FreeSlot extends SlotRef {
  /** A fresh copy of that holder. */
  readonly leftBy?: ManagedTx;
}

/** Stores fills on slots that no tx holds, in the commit that takes the slots. */
@Injectable()
export class CreateFills {
  constructor(
    private readonly fills: NewFills,
    private readonly gas: GasRules,
    private readonly write: WriteChanges,
    private readonly log: Log,
  ) {}

  /** @returns the fills, which are not signed yet, in no order */
  async execute(chain: ChainConnector, leases: readonly Lease[], slots: readonly FreeSlot[]): Promise<RequestedTx[]> {
    const gas = await this.gas.ofNoOps(chain, slots);
    const made = slots.flatMap((slot, index) => {
      const gasLimit = gas[index];
      if (gasLimit === undefined) return [];
      const fill = this.fills.at(slot, gasLimit, slot.leftBy?.id);
      slot.leftBy?.leftNonceFree(fill.tx.id);
      return [{ fill, leftBy: slot.leftBy }];
    });
    const fills = made.map(({ fill }) => fill);
    const ended = made.flatMap(({ leftBy }) => leftBy ?? []);
    await this.write.execute(leases, 'fill', {
      fills,
      txs: ended,
      slots: {
        filled: made.flatMap(({ fill: { tx }, leftBy }) =>
          leftBy ? [] : [{ signer: tx.signer, nonce: tx.nonce, txId: tx.id }],
        ),
        reopened: made.flatMap(({ fill: { tx }, leftBy }) =>
          leftBy ? [{ signer: tx.signer, nonce: tx.nonce, holder: tx.id }] : [],
        ),
      },
      // After a reorg freed the nonce, attempts that were sent with it before may be mined again.
      attempts: { reopened: slots },
    });
    for (const { tx } of fills)
      this.log.warn('fill created for nonce gap', { signer: signerKey(tx.signer), nonce: tx.nonce, txId: tx.id });
    return fills;
  }

  /** Of signers whose keys outside senders have: what is free again on the chain is given to the next of them. */
  async giveBack(leases: readonly Lease[], slots: readonly FreeSlot[]): Promise<void> {
    const free = slots.map(({ signer, nonce }) => ({ signer, nonce }));
    await this.write.execute(leases, 'give_back', {
      slots: { reopened: free, released: free },
      // After a reorg freed the nonce, attempts that were sent with it before may be mined again.
      attempts: { reopened: free },
    });
  }
}

/**
 * Fills nonce gaps, where Lockstep has the key; else they stay, and {@link WatchGaps} tells of them. A nonce gap is a released slot that no payload took; it blocks every nonce above it. It gets a fill: a managed tx whose
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
    private readonly custody: Custody,
  ) {}

  /** Finds and fills the gaps of signers that may have some. */
  async execute(chainId: ChainId, all: readonly Lease[]): Promise<void> {
    const leases = all.filter((lease) => this.memory.mayHaveGaps(lease));
    const signers = leases.map((lease) => lease.signer);
    const gaps = await this.ledger.gaps(signers.filter((signer) => !this.custody.isExternal(signer)));
    this.memory.gapsChecked(leases);
    await this.fill(chainId, leases, gaps);
  }

  /** Fills also what no payload gets, because the next nonce of the signer on the chain is wanted. */
  async fillAll(chainId: ChainId, lease: Lease): Promise<void> {
    await this.fill(chainId, [lease], await this.ledger.gaps([lease.signer], true));
  }

  /** @param found slots of the leases' signers */
  async fill(chainId: ChainId, leases: readonly Lease[], found: readonly FreeSlot[]): Promise<void> {
    const slots = found.filter(({ signer }) => !this.custody.isExternal(signer));
    const given = found.filter(({ signer }) => this.custody.isExternal(signer));
    await this.create.giveBack(leases, given);
    // One answer said that they are free: the chain is asked again before one of them is given.
    for (const { signer } of given) this.memory.alignAgain(signer);
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
