import { Injectable } from '@nestjs/common';
import { NonceConfig } from '../../../config/lockstep-config.js';
import { type Nonce, signerKey, type SignerId } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import type { ChainConnector } from '../../chain/index.js';
import { type Lease, NonceLedger, type SlotRef } from '../../signers/index.js';
import { LaneMemory } from './lane-memory.js';
import { SecondLooks } from './second-looks.js';

/** What the chain says of cursors. */
export interface Alignment {
  /** Where each cursor must be at least; nothing of these is beyond our own slots without evidence. */
  readonly nonces: readonly SlotRef[];
  /** Keys of signers that must not take a nonce now: the chain seems to be beyond their cursor, and that is not proven yet. */
  readonly held: ReadonlySet<string>;
}

interface Asked {
  readonly signer: SignerId;
  readonly cursor: Nonce | undefined;
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
    private readonly looks: SecondLooks,
    private readonly config: NonceConfig,
    private readonly log: Log,
  ) {}

  async execute(chain: ChainConnector, leases: readonly Lease[]): Promise<Alignment> {
    const due = leases.filter((lease) => this.memory.needsAlignment(lease, this.config.nonceStateTimeout));
    if (due.length === 0) return { nonces: [], held: new Set() };
    const cursors = await this.ledger.cursors(due.map(({ signer }) => signer));
    const known = due.map(({ signer }): Asked => ({ signer, cursor: cursors.get(signerKey(signer)) }));
    // An account that was never used by us may have been used by others, whatever the config says of later questions.
    const { enabled, mode } = this.config.chainQuery;
    const asked = known.filter(({ cursor }) => enabled || cursor === undefined);
    const trusted = known.flatMap(({ signer, cursor }): SlotRef[] =>
      enabled || cursor === undefined ? [] : [{ signer, nonce: cursor }],
    );
    if (asked.length === 0) return { nonces: trusted, held: new Set() };
    const counts = await chain.transactionCounts(
      asked.map(({ signer }) => signer.address),
      mode,
    );
    const isAbove = (item: Asked, index: number): boolean => (counts[index] ?? 0n) > (item.cursor ?? 0n);
    const within = asked.filter((item, index) => !isAbove(item, index));
    for (const { signer } of within) this.looks.forget(lookKey(signer));
    const raised = await this.raise(chain, asked.filter(isAbove));
    const settled = new Set(raised.map(({ signer }) => signerKey(signer)));
    return {
      nonces: [...trusted, ...within.map(({ signer, cursor = 0n }) => ({ signer, nonce: cursor })), ...raised],
      held: new Set(
        asked
          .filter(isAbove)
          .map(({ signer }) => signerKey(signer))
          .filter((key) => !settled.has(key)),
      ),
    };
  }

  /** @returns of the signers, those whose cursor may be moved, or stays where it is with proof */
  private async raise(chain: ChainConnector, above: readonly Asked[]): Promise<SlotRef[]> {
    if (above.length === 0) return [];
    const agreed = await chain.agreedCounts(
      above.map(({ signer }) => signer.address),
      this.config.chainQuery.mode,
    );
    return above.flatMap(({ signer, cursor = 0n }, index): SlotRef[] => {
      const count = agreed[index];
      if (!count) {
        this.log.warn('too few endpoints tell the nonce of a signer', { signer: signerKey(signer), cursor });
        return [];
      }
      if (count.nonce <= cursor) {
        this.looks.forget(lookKey(signer));
        return [{ signer, nonce: cursor }];
      }
      const proven = this.looks.lower(lookKey(signer), count.nonce, count.block.number);
      if (proven === null) return [];
      this.log.warn('the nonce of a signer was raised by others', { signer: signerKey(signer), cursor, nonce: proven });
      return [{ signer, nonce: proven }];
    });
  }
}

function lookKey(signer: SignerId): string {
  return `count ${signerKey(signer)}`;
}
