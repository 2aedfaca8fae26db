import { Injectable } from '@nestjs/common';
import { NonceConfig } from '../../../config/lockstep-config.js';
import { Clock } from '../../../kernel/clock.js';
import { maxOf } from '../../../kernel/quantities.js';
import { type Nonce, signerKey, type SignerId } from '../../../kernel/signer-id.js';
import { DatabaseWatch } from '../../../platform/database/database-watch.js';
import type { Findings } from './findings.js';

/** Pause before a held signer is checked again. Polls find its work about as often. */
const CHECK_AGAIN_MS = 500;

interface Held {
  readonly signer: SignerId;
  /** Pools that hide their content had transactions below this nonce. */
  readonly upTo: Nonce;
  /** Since when no pool has had an unknown transaction; null while one has. Monotonic milliseconds. */
  readonly quietSince: number | null;
  readonly checkAgainAt: number;
}

/** Signers that may send nothing new, because their sent transactions are not all known. In memory: the next owner searches again. */
@Injectable()
export class HeldSigners {
  private readonly held = new Map<string, Held>();
  /** An operator vouched for hidden transactions below these nonces. */
  private readonly vouched = new Map<string, Nonce>();

  constructor(
    private readonly config: NonceConfig,
    private readonly clock: Clock,
    watch: DatabaseWatch,
  ) {
    // Nobody vouched for what was sent since, and no pool was quiet about it.
    watch.onNewEpoch(() => {
      this.vouched.clear();
      this.held.clear();
    });
  }

  has(signer: SignerId): boolean {
    return this.held.has(signerKey(signer));
  }

  get count(): number {
    return this.held.size;
  }

  isDue(signer: SignerId): boolean {
    const known = this.held.get(signerKey(signer));
    return known === undefined || this.clock.monotonicMs() >= known.checkAgainAt;
  }

  /**
   * A signer with hidden transactions in a pool waits until they are mined and found in a block, or until no pool has had them for
   * `poolQuietTime`.
   *
   * @returns whether the signer may go on
   */
  judge(findings: Findings): boolean {
    const { signer, suspect, known: hasActed } = findings.outlook;
    // No node ever acted for this signer, so none of its sent transactions has a payload of ours.
    if (!hasActed) return true;
    const known = this.held.get(signerKey(signer));
    const now = this.clock.monotonicMs();
    const vouched = this.vouched.get(signerKey(signer)) ?? 0n;
    const isHidden = findings.hiddenBelow > vouched && findings.lacksBelow(findings.hiddenBelow);
    const upTo = maxOf(known?.upTo ?? 0n, isHidden ? findings.hiddenBelow : 0n);
    const isUnclear = isHidden || (suspect && findings.unread);
    const quietSince = isUnclear ? null : (known?.quietSince ?? now);
    const needsQuiet = findings.lacksBelow(upTo) || (suspect && !findings.shown);
    const isQuiet = quietSince !== null && (!needsQuiet || now - quietSince >= this.config.poolQuietTime);
    if (isQuiet) this.held.delete(signerKey(signer));
    else this.held.set(signerKey(signer), { signer, upTo, quietSince, checkAgainAt: now + CHECK_AGAIN_MS });
    return isQuiet;
  }

  /** An operator confirms that no pool hides a transaction of ours, or accepts that a payload is executed twice. */
  vouch({ outlook, hiddenBelow }: Findings): void {
    this.vouched.set(signerKey(outlook.signer), hiddenBelow);
    this.release(outlook.signer);
  }

  /** Holds the signer, because its findings could not be stored. */
  keep(signer: SignerId): void {
    const checkAgainAt = this.clock.monotonicMs() + CHECK_AGAIN_MS;
    this.held.set(signerKey(signer), { signer, upTo: 0n, quietSince: null, checkAgainAt });
  }

  /** Forgets signers that belong to other nodes now. @param isOurs whether this node acts for a signer */
  keepOnly(isOurs: (signer: SignerId) => boolean): void {
    for (const [key, { signer }] of this.held) if (!isOurs(signer)) this.held.delete(key);
  }

  release(signer: SignerId): void {
    this.held.delete(signerKey(signer));
  }
}
