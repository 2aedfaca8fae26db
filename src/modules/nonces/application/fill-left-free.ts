import { Injectable } from '@nestjs/common';
import { backoffMs } from '../../../kernel/backoff.js';
import { Clock } from '../../../kernel/clock.js';
import { type ChainId, signerKey, type SignerId } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import { Custody, NotLeader } from '../../signers/index.js';
import { HoldBehind } from '../../lost-commits/index.js';
import { SyncSigner } from './sync-signer.js';

/** Each costs a no-op. */
const MOST_AT_ONCE = 64;
/** Between two tries for a signer, also when one did it: on a chain where no-ops fail, too, each would leave its nonce free. */
const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 600_000;
/** After so long without a try a signer starts with the first pause. */
const FORGOTTEN_AFTER_MS = 2 * LONGEST_PAUSE_MS;

interface Tried {
  readonly times: number;
  /** Monotonic milliseconds. */
  readonly atMs: number;
}

/** Fills the nonces that failed transactions left free (docs/invariants.md, K8) without a request of an operator, where Lockstep has the key. */
@Injectable()
export class FillLeftFree {
  private readonly tried = new Map<string, Tried>();

  constructor(
    private readonly behind: HoldBehind,
    private readonly sync: SyncSigner,
    private readonly custody: Custody,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  async execute(chainId: ChainId): Promise<void> {
    const now = this.clock.monotonicMs();
    for (const [key, { atMs }] of this.tried) if (now - atMs > FORGOTTEN_AFTER_MS) this.tried.delete(key);
    const held = this.behind.lower(chainId).filter((signer) => !this.custody.isExternal(signer));
    for (const signer of held) if (this.isDue(signer, now)) await this.fill(signer, now);
  }

  private isDue(signer: SignerId, now: number): boolean {
    const tried = this.tried.get(signerKey(signer));
    return tried === undefined || now - tried.atMs >= backoffMs(FIRST_PAUSE_MS, tried.times - 1, LONGEST_PAUSE_MS);
  }

  private async fill(signer: SignerId, now: number): Promise<void> {
    const key = signerKey(signer);
    this.tried.set(key, { times: (this.tried.get(key)?.times ?? 0) + 1, atMs: now });
    try {
      await this.sync.execute(signer, MOST_AT_ONCE);
    } catch (error) {
      if (error instanceof NotLeader) return;
      this.log.warn('nonces of a held signer are not filled', { signer: key, error });
    }
  }
}
