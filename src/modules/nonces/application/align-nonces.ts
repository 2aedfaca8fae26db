import { Injectable } from '@nestjs/common';
import { NonceConfig } from '../../../config/lockstep-config.js';
import { type Nonce, signerKey, type SignerId } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import { type ChainConnector, SecondObservations } from '../../chain/index.js';
import { type Lease, NonceLedger, type SlotRef } from '../../signers/index.js';
import { LaneMemory } from '../../ledger/index.js';
import { CommittedCursors } from '../../lost-commits/index.js';

/** The chain's nonces, compared with our cursors. */
export interface Alignment {
  /** The lowest value that each cursor may have. A value above our cursor is proven. */
  readonly nonces: readonly SlotRef[];
  /** Keys of signers that must not take a nonce now: the chain's nonce seems to be above their cursor, and that is not proven yet. */
  readonly held: ReadonlySet<string>;
}

interface KnownNonces {
  readonly signer: SignerId;
  /** 0 for a signer that has no cursor yet. */
  readonly cursor: Nonce;
  /** The transaction count that one endpoint reported. */
  readonly count: Nonce;
}

/** Who tells counts: the chain, or what it said before. */
type Counts = Pick<ChainConnector, 'transactionCounts' | 'agreedCounts'>;

/**
 * Reads the next nonce of signers from the chain, every `nonceStateTimeout`. A count that is not above the cursor changes nothing and needs
 * no proof. A wrong count above the cursor would leave a nonce gap, so such a count needs the evidence of `raise_cursor`: the lowest count
 * of all endpoints, and a second observation at a later block (docs/invariants.md, I13).
 */
@Injectable()
export class AlignNonces {
  constructor(
    private readonly ledger: NonceLedger,
    private readonly memory: LaneMemory,
    private readonly observations: SecondObservations,
    private readonly committed: CommittedCursors,
    private readonly config: NonceConfig,
    private readonly log: Log,
  ) {}

  async execute(chain: Counts, leases: readonly Lease[]): Promise<Alignment> {
    const due = leases.filter((lease) => this.memory.needsAlignment(lease, this.config.nonceStateTimeout));
    if (due.length === 0) return { nonces: [], held: new Set() };
    const signers = due.map(({ signer }) => signer);
    const cursors = await this.ledger.cursors(signers);
    // Compare before the cursor is raised to the chain's nonce: the raise would hide lost commits whose transactions were mined.
    this.committed.expect(signers, cursors);
    const counts = await this.counts(chain, signers);
    const known = due.map(({ signer }): KnownNonces => {
      const cursor = cursors.get(signerKey(signer)) ?? 0n;
      return { signer, cursor, count: counts.get(signerKey(signer)) ?? 0n };
    });
    const above = known.filter(({ cursor, count }) => count > cursor);
    const within = known.filter(({ cursor, count }) => count <= cursor);
    for (const { signer } of within) this.observations.forget(observationKey(signer));
    const settled = await this.raise(chain, above);
    const done = new Set(settled.map(({ signer }) => signerKey(signer)));
    return {
      // The ledger forgets released slots below this nonce, so pass the chain's count: the cursor may be above free slots.
      nonces: [...within.map(({ signer, count }) => ({ signer, nonce: count })), ...settled],
      held: new Set(above.map(({ signer }) => signerKey(signer)).filter((key) => !done.has(key))),
    };
  }

  private async counts(chain: Counts, signers: readonly SignerId[]): Promise<ReadonlyMap<string, Nonce>> {
    const counts = await chain.transactionCounts(
      signers.map(({ address }) => address),
      this.config.chainQuery.mode,
    );
    return new Map(signers.map((signer, index) => [signerKey(signer), counts[index] ?? 0n]));
  }

  /** @returns the signers whose count is proven: above the cursor, or not above it after all */
  private async raise(chain: Counts, above: readonly KnownNonces[]): Promise<SlotRef[]> {
    if (above.length === 0) return [];
    const agreed = await chain.agreedCounts(
      above.map(({ signer }) => signer.address),
      this.config.chainQuery.mode,
    );
    return above.flatMap(({ signer, cursor }, index): SlotRef[] => {
      const count = agreed[index];
      if (!count) {
        this.log.warn('failed to read nonce: too few endpoints answered', { signer: signerKey(signer), cursor });
        return [];
      }
      if (count.nonce <= cursor) {
        this.observations.forget(observationKey(signer));
        return [{ signer, nonce: count.nonce }];
      }
      const proven = this.observations.lower('raise_cursor', observationKey(signer), count.nonce, count.block);
      if (proven === null) return [];
      this.log.warn('nonce raised by foreign transactions', { signer: signerKey(signer), cursor, nonce: proven });
      return [{ signer, nonce: proven }];
    });
  }
}

function observationKey(signer: SignerId): string {
  return `count ${signerKey(signer)}`;
}
