import { Injectable } from '@nestjs/common';
import { groupBy } from '../../../kernel/group-by.js';
import { signerKey, type SignerId } from '../../../kernel/signer-id.js';
import type { ChainConnector } from '../../chain/index.js';
import type { PendingTx } from '../../transactions/index.js';
import { KnownBalances } from './known-balances.js';
import { again, type PendingVerdict, type Simulated } from './pending-verdict.js';

const FIRST_FUNDS_RETRY_MS = 5_000;

/**
 * Takes the costs of waiting txs from the balance in the order of the queue: by priority, then age. The first tx that the balance does not
 * cover waits with a timer, and parks what is behind it: small payments that go on would keep the balance too low for a large one for ever.
 */
@Injectable()
export class CoverCosts {
  constructor(private readonly balances: KnownBalances) {}

  /** @returns a verdict for each tx, in the order given */
  async execute(
    chain: ChainConnector,
    pending: readonly PendingTx[],
    simulated: readonly Simulated[],
  ): Promise<PendingVerdict[]> {
    await this.balances.refresh(chain, costsOf(pending, simulated));
    const short = new Set<string>();
    const verdicts = new Map<string, PendingVerdict>();
    for (const { item, verdict } of inQueueOrder(pending, simulated))
      verdicts.set(item.tx.id, this.funded(item.tx.signer, verdict, short));
    return pending.map(({ tx }) => verdicts.get(tx.id) ?? { kind: 'parked' });
  }

  /** @param short keys of the signers with an earlier tx that the balance does not cover */
  private funded(signer: SignerId, verdict: Simulated, short: Set<string>): PendingVerdict {
    if (verdict.kind !== 'ready' && verdict.kind !== 'unfunded') return verdict;
    const key = signerKey(signer);
    if (short.has(key)) return { kind: 'parked' };
    if (verdict.kind === 'ready' && this.balances.take(signer, verdict.cost)) return verdict;
    short.add(key);
    const error = verdict.kind === 'unfunded' ? verdict.error : 'the balance does not cover value and gas';
    return again('INSUFFICIENT_FUNDS', FIRST_FUNDS_RETRY_MS, error);
  }
}

/** What the ready txs of each signer may take from its balance together. */
function costsOf(
  pending: readonly PendingTx[],
  simulated: readonly Simulated[],
): { readonly signer: SignerId; readonly wei: bigint }[] {
  const ready = pending.flatMap(({ tx }, index) => {
    const verdict = simulated[index];
    return verdict?.kind === 'ready' ? [{ signer: tx.signer, cost: verdict.cost }] : [];
  });
  return [...groupBy(ready, ({ signer }) => signerKey(signer)).values()].flatMap((items) => {
    const wei = items.reduce((sum, { cost }) => sum + cost, 0n);
    return items[0] ? [{ signer: items[0].signer, wei }] : [];
  });
}

/** Ids sort by age. */
function inQueueOrder(
  pending: readonly PendingTx[],
  simulated: readonly Simulated[],
): { readonly item: PendingTx; readonly verdict: Simulated }[] {
  const items = pending.flatMap((item, index) => {
    const verdict = simulated[index];
    return verdict ? [{ item, verdict }] : [];
  });
  return items.sort(
    ({ item: a }, { item: b }) => b.request.priority - a.request.priority || (a.tx.id < b.tx.id ? -1 : 1),
  );
}
