import { Injectable } from '@nestjs/common';
import type { Nonce, SignerId } from '../../../kernel/signer-id.js';
import { NonceStanding, type SequenceView } from './nonce-standing.js';
import { type SlotFilter, SlotQueries, type SlotView, type SlotViewer } from './slot-queries.js';

export interface NonceList extends SequenceView {
  readonly items: readonly SlotView[];
  readonly nextBelow: Nonce | null;
}

/** The nonces of a signer, as our books and its chain have them, in one picture. Writes nothing; any node can do it. */
@Injectable()
export class ListNonces {
  constructor(
    private readonly slots: SlotQueries,
    private readonly standing: NonceStanding,
  ) {}

  /** @throws NotFound `unknown_signer` */
  async execute(signer: SignerId, filter: SlotFilter, viewer: SlotViewer): Promise<NonceList> {
    const sequence = await this.standing.of(signer);
    return { ...sequence, ...(await this.slots.list(signer, filter, viewer)) };
  }
}
