import { Injectable } from '@nestjs/common';
import { NonceConfig } from '../../../config/lockstep-config.js';
import { type Nonce, signerKey, type SignerId } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import { type BlockTag, type ChainConnector, SecondObservations } from '../../chain/index.js';
import { type Lease, NonceLedger, type SlotRef } from '../../signers/index.js';
import { LaneMemory } from '../../transactions/index.js';
import { CommittedCursors } from '../../lost-commits/index.js';

/** What the chain says of cursors. */
export interface Alignment {
  /** Where each cursor must be at least; nothing of these is beyond our own slots without evidence. */
  readonly nonces: readonly SlotRef[];
  /** Keys of signers that must not take a nonce now: the chain seems to be beyond their cursor, and that is not proven yet. */
  readonly held: ReadonlySet<string>;
}

interface Asked {
  readonly signer: SignerId;
  /** 0 for a signer that has none yet. */
  readonly cursor: Nonce;
  /** As one endpoint tells it; 0 where nobody was asked. */
  readonly count: Nonce;
}

/**
 * Asks the chain for the next nonce of signers, now and then. A count that is not above the cursor changes nothing and is believed at
 * once. One that is above would leave a gap if it were wrong, so it needs the evidence of `raise_cursor`: the lowest count of all
 * endpoints, and a second look at a later block (design, I13).
 */
@Injectable()
export class AlignNonces {
  constructor(
    private readonly ledger: NonceLedger,
    private readonly memory: LaneMemory,
    private readonly looks: SecondObservations,
    private readonly committed: CommittedCursors,
    private readonly config: NonceConfig,
    private readonly log: Log,
  ) {}

  async execute(chain: ChainConnector, leases: readonly Lease[]): Promise<Alignment> {
    const due = leases.filter((lease) => this.memory.needsAlignment(lease, this.config.nonceStateTimeout));
    if (due.length === 0) return { nonces: [], held: new Set() };
    const signers = due.map(({ signer }) => signer);
    const cursors = await this.ledger.cursors(signers);
    // Before what the chain says hides it: what was lost may have been mined.
    this.committed.expect(signers, cursors);
    // An account that was never used by us may have been used by others, whatever the config says of later questions.
    const { enabled, mode } = this.config.chainQuery;
    const asked = due.filter(({ signer }) => enabled || !cursors.has(signerKey(signer))).map(({ signer }) => signer);
    const counts = await this.counts(chain, asked, mode);
    const known = due.map(({ signer }): Asked => {
      const cursor = cursors.get(signerKey(signer)) ?? 0n;
      return { signer, cursor, count: counts.get(signerKey(signer)) ?? 0n };
    });
    const above = known.filter(({ cursor, count }) => count > cursor);
    const within = known.filter(({ cursor, count }) => count <= cursor);
    for (const { signer } of within) this.looks.forget(observationKey(signer));
    const settled = await this.raise(chain, above);
    const done = new Set(settled.map(({ signer }) => signerKey(signer)));
    return {
      // What is free below the count is forgotten, so the count it is, and not the cursor.
      nonces: [...within.map(({ signer, count }) => ({ signer, nonce: count })), ...settled],
      held: new Set(above.map(({ signer }) => signerKey(signer)).filter((key) => !done.has(key))),
    };
  }

  private async counts(
    chain: ChainConnector,
    signers: readonly SignerId[],
    tag: BlockTag,
  ): Promise<ReadonlyMap<string, Nonce>> {
    if (signers.length === 0) return new Map();
    const counts = await chain.transactionCounts(
      signers.map(({ address }) => address),
      tag,
    );
    return new Map(signers.map((signer, index) => [signerKey(signer), counts[index] ?? 0n]));
  }

  /** @returns of the signers, those whose cursor may be moved, or stays where it is with proof */
  private async raise(chain: ChainConnector, above: readonly Asked[]): Promise<SlotRef[]> {
    if (above.length === 0) return [];
    const agreed = await chain.agreedCounts(
      above.map(({ signer }) => signer.address),
      this.config.chainQuery.mode,
    );
    return above.flatMap(({ signer, cursor }, index): SlotRef[] => {
      const count = agreed[index];
      if (!count) {
        this.log.warn('too few endpoints tell the nonce of a signer', { signer: signerKey(signer), cursor });
        return [];
      }
      if (count.nonce <= cursor) {
        this.looks.forget(observationKey(signer));
        return [{ signer, nonce: count.nonce }];
      }
      const proven = this.looks.lower('raise_cursor', observationKey(signer), count.nonce, count.block);
      if (proven === null) return [];
      this.log.warn('the nonce of a signer was raised by others', { signer: signerKey(signer), cursor, nonce: proven });
      return [{ signer, nonce: proven }];
    });
  }
}

function observationKey(signer: SignerId): string {
  return `count ${signerKey(signer)}`;
}
