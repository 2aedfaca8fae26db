import { Injectable } from '@nestjs/common';
import { Log } from '../../../platform/logging/log.js';
import { Metrics } from '../../../platform/metrics/metrics.js';
import type { ChainConnector, FeeQuote } from '../../chain/index.js';
import { type Fence, type Lease, leasesFor } from '../../signers/index.js';
import { type Attempt, ManagedTx, WriteChanges } from '../../ledger/index.js';
import type { BumpResult } from '../domain/bump-decision.js';
import { AttemptSigner } from './attempt-signer.js';
import { BroadcastAttempts } from './broadcast-attempts.js';
import { type PricedBump, PriceBumps, type WantedBump } from './price-bumps.js';
import type { Sending } from './send.js';

/** After a crash between the commit of new bytes and their send, the next owner sends them after this time. */
export const SEND_WITHIN_MS = 5_000;

/** What a command adds to the bumps that it asks for. */
export interface OnRequest {
  /** Read before the signer's worker was entered. */
  readonly quote: FeeQuote;
  /** Writes what must be true if, and only if, the new bytes of the txs with these ids are stored. */
  readonly inSameCommit: (fence: Fence, bumped: readonly string[]) => Promise<void>;
}

/**
 * Signs the payload or no-op of txs that are in a pool again, at a higher price and with the same nonce, commits the bytes, and sends them. What
 * was signed at this price before is sent again.
 * All attempts stay watched: each of them may be mined, and only one can be (docs/invariants.md, I8).
 */
@Injectable()
export class BumpAttempts {
  constructor(
    private readonly prices: PriceBumps,
    private readonly signer: AttemptSigner,
    private readonly write: WriteChanges,
    private readonly broadcast: BroadcastAttempts,
    private readonly metrics: Metrics,
    private readonly log: Log,
  ) {}

  /** @returns what became of each tx, by its id */
  async execute(
    chain: ChainConnector,
    leases: readonly Lease[],
    wanted: readonly WantedBump[],
    asked?: OnRequest,
  ): Promise<ReadonlyMap<string, BumpResult>> {
    if (wanted.length === 0) return new Map();
    const priced = await this.prices.execute(asked?.quote ?? (await chain.feeQuote()), leases, wanted);
    const refused = priced.flatMap((bump) => ('result' in bump ? [bump] : []));
    const signed = await this.sign(priced);
    // A timer sends it at each look, which is told no more. For a client it is a bump like any other.
    const again = priced.flatMap((bump): Sending[] => {
      if (!('stored' in bump)) return [];
      const { tx, stored: attempt } = bump;
      return [{ tx: asked ? withBump(tx, attempt) : tx, attempt }];
    });
    const noted = refused.flatMap((bump) => marked(bump, bump.result) ?? []);
    await this.store(leases, signed, asked ? again : [], noted, asked);
    this.report(signed, noted);
    const asNoted = new Map(noted.map((tx) => [tx.id, tx]));
    const unchanged = refused.flatMap(({ tx, again: attempt }): Sending[] =>
      attempt ? [{ tx: asNoted.get(tx.id) ?? tx, attempt }] : [],
    );
    this.metrics.count('resubmit_total', unchanged.length, { kind: 'same_bytes' });
    await this.broadcast.execute(chain, leases, [...signed, ...again, ...unchanged]);
    return new Map<string, BumpResult>([
      ...refused.map(({ tx, result }) => [tx.id, result] as const),
      ...[...signed, ...again].map(({ tx }) => [tx.id, 'bumped'] as const),
    ]);
  }

  private async store(
    leases: readonly Lease[],
    signed: readonly Sending[],
    again: readonly Sending[],
    noted: readonly ManagedTx[],
    asked?: OnRequest,
  ): Promise<void> {
    const bumped = [...signed, ...again].map(({ tx }) => tx);
    const txs = [...bumped, ...noted];
    if (txs.length === 0) return;
    const covered = leasesFor(
      leases,
      txs.map(({ signer }) => signer),
    );
    const [inserted, resent] = [signed.map(({ attempt }) => attempt), again.map(({ attempt }) => attempt)];
    await this.write.underFence(covered, 'bump', async (fence) => {
      if (asked && bumped.length > 0)
        await asked.inSameCommit(
          fence,
          bumped.map(({ id }) => id),
        );
      return { attempts: { inserted, resent }, txs };
    });
  }

  private async sign(priced: readonly PricedBump[]): Promise<Sending[]> {
    const drafts = priced.flatMap((bump) => ('draft' in bump ? [bump] : []));
    const attempts = await this.signer.sign(drafts.map(({ draft }) => draft));
    return drafts.flatMap(({ tx }, index): Sending[] => {
      const attempt = attempts[index];
      return attempt ? [{ tx: withBump(tx, attempt), attempt }] : [];
    });
  }

  private report(signed: readonly Sending[], noted: readonly ManagedTx[]): void {
    this.metrics.count('resubmit_total', signed.length, { kind: 'bump' });
    for (const { tx, attempt } of signed)
      this.log.info('bump signed', { txId: tx.id, nonce: tx.nonce, txHash: attempt.txHash, ...attempt.fees });
    const capped = noted.filter(({ progress }) => progress.subState === 'FEE_CAPPED');
    if (capped.length > 0) this.metrics.count('tx_fee_capped_total', capped.length);
    for (const tx of capped)
      this.log.warn('bump not signed: its price is above the fee caps', { txId: tx.id, nonce: tx.nonce });
  }
}

function withBump(tx: ManagedTx, attempt: Attempt): ManagedTx {
  const copy = ManagedTx.rehydrate(tx.progress);
  copy.bumped(attempt, SEND_WITHIN_MS);
  return copy;
}

const ABOVE_CAPS = 'a higher price would be above the fee caps';

/** A copy that says why the tx waits; null when the tx says so already, or when a client wanted the bump. */
function marked({ tx, force }: PricedBump, result: BumpResult): ManagedTx | null {
  const { lastError, subState } = tx.progress;
  const isMarked = subState === 'FEE_CAPPED' && (lastError === null || lastError === ABOVE_CAPS);
  const copy = ManagedTx.rehydrate(tx.progress);
  if (force || tx.isClosing) return null;
  // A tx that nodes refuse keeps the count of its refusals.
  if (result === 'capped' && lastError === null && !isMarked) copy.feeCapped(ABOVE_CAPS);
  else if (result === 'above_market' && isMarked) copy.feeSuffices();
  else return null;
  return copy;
}
