import { minOf } from '../../../kernel/quantities.js';
import type { ChainId } from '../../../kernel/signer-id.js';

/** After this time the limit of a node is tried again, because its operator may raise it. */
const VALID_MS = 600_000;

/** The most that the nodes of each chain allow a transaction to cost, in wei, as read from their refusals. Times are monotonic ms. */
export class NodeTxFeeLimits {
  private readonly limits = new Map<ChainId, { readonly wei: bigint; readonly untilMs: number }>();

  /** Of several limits the lowest counts. */
  learn(chainId: ChainId, limit: bigint, nowMs: number): void {
    const known = this.of(chainId, nowMs);
    this.limits.set(chainId, { wei: known === null ? limit : minOf(known, limit), untilMs: nowMs + VALID_MS });
  }

  /** Null when no node named a limit lately. */
  of(chainId: ChainId, nowMs: number): bigint | null {
    const known = this.limits.get(chainId);
    return known !== undefined && nowMs < known.untilMs ? known.wei : null;
  }
}
