import { Injectable } from '@nestjs/common';
import { ResubmitConfig } from '../../../config/lockstep-config.js';
import { Clock } from '../../../kernel/clock.js';
import { type Nonce, signerKey } from '../../../kernel/signer-id.js';
import type { SlotRef } from '../../signers/index.js';

/** Intervals without an observation after which the earlier observation does not count any more. */
const STALE_INTERVALS = 3;

/** The chain's next nonce of a signer, with the monotonic milliseconds of its first and its last observation. */
interface Observation {
  readonly nonce: Nonce;
  readonly first: number;
  readonly last: number;
}

/** Finds signers whose next nonce on the chain stands still. One observation is not enough: the endpoint may lag. */
@Injectable()
export class StalledNonces {
  private readonly observations = new Map<string, Observation>();

  constructor(
    private readonly config: ResubmitConfig,
    private readonly clock: Clock,
  ) {}

  /** @returns true when the nonce has not changed for `resubmit.interval` */
  observe({ signer, nonce }: SlotRef): boolean {
    const { interval } = this.config;
    const now = this.clock.monotonicMs();
    const known = this.observations.get(signerKey(signer));
    const goesOn = known?.nonce === nonce && now - known.last <= STALE_INTERVALS * interval;
    const first = goesOn ? known.first : now;
    this.observations.set(signerKey(signer), { nonce, first, last: now });
    return now - first >= interval;
  }
}
