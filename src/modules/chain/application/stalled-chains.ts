import type { ChainId } from '../../../kernel/signer-id.js';
import type { Log, LogFields } from '../../../platform/logging/log.js';

/**
 * The head tracker waits for so many observations. Then it goes on without the blocks that no endpoint has (some nodes keep only the
 * newest blocks), or below the followed blocks when the head stays below them.
 */
const MAX_STALLED_OBSERVATIONS = 30;

/** Counts how many observations without an advance between them did not allow the head tracker to advance, per chain and reason. */
export class StalledChains {
  private readonly stalled = new Map<ChainId, { readonly reason: string; readonly observations: number }>();

  constructor(private readonly log: Log) {}

  /**
   * Counts one more observation; logs the reason on the first one.
   *
   * @returns whether the chain has been stalled for the longest time that the head tracker waits
   */
  isStalledTooLong(chainId: ChainId, reason: string, fields: LogFields): boolean {
    const before = this.stalled.get(chainId);
    const observations = before?.reason === reason ? before.observations : 0;
    if (observations === 0) this.log.warn(reason, { chainId, ...fields });
    this.stalled.set(chainId, { reason, observations: observations + 1 });
    return observations >= MAX_STALLED_OBSERVATIONS;
  }

  isStalled(chainId: ChainId): boolean {
    return this.stalled.has(chainId);
  }

  isStalledBy(chainId: ChainId, reason: string): boolean {
    return this.stalled.get(chainId)?.reason === reason;
  }

  /** The head tracker advances again. */
  clear(chainId: ChainId): void {
    this.stalled.delete(chainId);
  }
}
