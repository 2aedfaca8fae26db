import { Injectable } from '@nestjs/common';
import { NonceConfig } from '../../../config/lockstep-config.js';
import { Clock } from '../../../kernel/clock.js';
import { maxOf } from '../../../kernel/quantities.js';
import { type Nonce, signerKey, type SignerId } from '../../../kernel/signer-id.js';
import type { Findings } from './findings.js';

/** Asking more often than a poll finds work would be of no use. */
const LOOK_AGAIN_MS = 500;

interface Held {
  readonly signer: SignerId;
  /** Pools that are not shown had something below it. */
  readonly upTo: Nonce;
  /** Since when no pool has anything that we do not know; null while one has. Monotonic milliseconds. */
  readonly quietSince: number | null;
  readonly lookAgainAt: number;
}

/** Signers for which nothing new may be sent, because it is not known what is out. In memory: whoever acts next finds out anew. */
@Injectable()
export class HeldSigners {
  private readonly held = new Map<string, Held>();
  /** What pools hide below these nonces a person has vouched for. */
  private readonly vouched = new Map<string, Nonce>();

  constructor(
    private readonly config: NonceConfig,
    private readonly clock: Clock,
  ) {}

  has(signer: SignerId): boolean {
    return this.held.has(signerKey(signer));
  }

  get count(): number {
    return this.held.size;
  }

  isDue(signer: SignerId): boolean {
    const known = this.held.get(signerKey(signer));
    return known === undefined || this.clock.monotonicMs() >= known.lookAgainAt;
  }

  /**
   * What a pool hides can only be waited for: until it is mined, and found in a block, or until no pool has had it for long enough.
   *
   * @returns whether everything is known that can be, and the signer may go on
   */
  judge(findings: Findings): boolean {
    const { signer, suspect, known: hasActed } = findings.outlook;
    // What is out of its key was not sent from here, so no payload can run twice.
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
    else this.held.set(signerKey(signer), { signer, upTo, quietSince, lookAgainAt: now + LOOK_AGAIN_MS });
    return isQuiet;
  }

  /** A person says that nothing of ours is hidden, or that it may be executed twice. */
  vouch({ outlook, hiddenBelow }: Findings): void {
    this.vouched.set(signerKey(outlook.signer), hiddenBelow);
    this.release(outlook.signer);
  }

  /** Not yet: what was found could not be written down. */
  keep(signer: SignerId): void {
    const lookAgainAt = this.clock.monotonicMs() + LOOK_AGAIN_MS;
    this.held.set(signerKey(signer), { signer, upTo: 0n, quietSince: null, lookAgainAt });
  }

  /** @param isOurs whether this node acts for a signer; of the others it knows nothing any more */
  keepOnly(isOurs: (signer: SignerId) => boolean): void {
    for (const [key, { signer }] of this.held) if (!isOurs(signer)) this.held.delete(key);
  }

  release(signer: SignerId): void {
    this.held.delete(signerKey(signer));
  }
}
