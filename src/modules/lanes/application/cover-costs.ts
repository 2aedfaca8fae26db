import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import { groupBy } from '../../../kernel/group-by.js';
import { maxOf } from '../../../kernel/quantities.js';
import { signerKey, type SignerId } from '../../../kernel/signer-id.js';
import type { ChainConnector } from '../../chain/index.js';
import { FundsRepository, type ManagedTx, type PendingTx, type TxSubState } from '../../ledger/index.js';
import { backoffMs } from '../../../kernel/backoff.js';
import { AskBalances } from '../../sending/index.js';
import { DailyRoom } from './daily-room.js';

const FIRST_FUNDS_RETRY_MS = 5_000;
const FIRST_BALANCE_RETRY_MS = 2_000;
/** It is made due when something comes back. */
const FIRST_ROOM_RETRY_MS = 5_000;

interface Known {
  left: bigint;
  readonly readAtMs: number;
}

/** Transactions of other senders show at the next read; until then the node refuses transactions that cannot be paid. */
const MAX_AGE_MS = 10_000;

/**
 * The rest of each signer's balance. Read from the chain at most every few seconds, because a read for every batch would be a call for
 * every few transactions. Between reads, the cost of each sent tx is subtracted; at a read, the cost of all txs in flight.
 */
@Injectable()
export class KnownBalances {
  private readonly known = new Map<string, Known>();
  /** The most wei that was in flight since a question without an answer: one that comes late may be of before any of it was mined. */
  private readonly unanswered = new Map<string, bigint>();

  constructor(
    private readonly funds: FundsRepository,
    private readonly balances: AskBalances,
    private readonly clock: Clock,
  ) {}

  /** Reads balances that are unknown, old, or lower than what is needed now. One without an answer in time is unknown. @param needed wei by signer */
  async refresh(
    chain: Pick<ChainConnector, 'balances'>,
    needed: readonly { readonly signer: SignerId; readonly wei: bigint }[],
  ): Promise<void> {
    const now = this.clock.monotonicMs();
    const asked = needed.filter(({ signer, wei }) => {
      const known = this.known.get(signerKey(signer));
      return known === undefined || now - known.readAtMs > MAX_AGE_MS || known.left < wei;
    });
    if (asked.length === 0) return;
    // Before the balances: a tx that is mined between the two reads is subtracted twice until the next read, and not left out.
    const signers = asked.map(({ signer }) => signer);
    const committed = await this.funds.committedWei(signers);
    const balances = await this.balances.execute(chain, signers);
    signers.forEach((signer, index) => {
      const key = signerKey(signer);
      const balance = balances.get(key);
      const inFlight = maxOf(committed[index] ?? 0n, this.unanswered.get(key) ?? 0n);
      if (balance === undefined) {
        this.known.delete(key);
        this.unanswered.set(key, inFlight);
      } else {
        this.unanswered.delete(key);
        this.known.set(key, { left: balance - inFlight, readAtMs: now });
      }
    });
  }

  has(signer: SignerId): boolean {
    return this.known.has(signerKey(signer));
  }

  /** The same as `take`, without taking it. */
  covers(signer: SignerId, wei: bigint): boolean {
    return (this.known.get(signerKey(signer))?.left ?? -1n) >= wei;
  }

  /** @returns whether the balance covers it */
  take(signer: SignerId, wei: bigint): boolean {
    const known = this.known.get(signerKey(signer));
    if (!known || known.left < wei) return false;
    known.left -= wei;
    return true;
  }
}

/**
 * Takes the costs of waiting txs from the balance in the order of the queue: by priority, then age. The first tx that the balance does not
 * cover waits with a timer, and parks what is behind it: small payments that go on would keep the balance too low for a large one for ever.
 */
@Injectable()
export class CoverCosts {
  constructor(
    private readonly balances: KnownBalances,
    private readonly room: DailyRoom,
  ) {}

  /** @returns a verdict for each tx, in the order given */
  async execute(
    chain: ChainConnector,
    pending: readonly PendingTx[],
    simulated: readonly Simulated[],
  ): Promise<PendingVerdict[]> {
    await this.balances.refresh(chain, costsOf(pending, simulated));
    const lacking = await this.room.lacking(
      pending.flatMap(({ tx, request }, index) => {
        const verdict = simulated[index];
        return verdict?.kind === 'awaits' ? [{ tx, request, cost: verdict.cost }] : [];
      }),
    );
    const short = new Set<string>();
    const verdicts = new Map<string, PendingVerdict>();
    for (const { item, verdict } of inQueueOrder(pending, simulated))
      verdicts.set(item.tx.id, held(lacking.get(item.tx.id)) ?? this.funded(item.tx.signer, verdict, short));
    return pending.map(({ tx }) => verdicts.get(tx.id) ?? { kind: 'parked' });
  }

  /** @param short keys of the signers with an earlier tx that the balance does not cover */
  private funded(signer: SignerId, verdict: Simulated, short: Set<string>): PendingVerdict {
    if (verdict.kind === 'not_now' || verdict.kind === 'parked') return verdict;
    const key = signerKey(signer);
    if (short.has(key)) return { kind: 'parked' };
    if (verdict.kind === 'ready' && this.balances.take(signer, verdict.cost)) return verdict;
    if (verdict.kind === 'awaits' && this.balances.covers(signer, verdict.cost)) return verdict.verdict;
    short.add(key);
    if (verdict.kind !== 'unfunded' && !this.balances.has(signer))
      return again('NODE_UNAVAILABLE', FIRST_BALANCE_RETRY_MS, 'no endpoint has answered how much its signer has yet');
    const error = verdict.kind === 'unfunded' ? verdict.error : 'the balance does not cover value and gas';
    return again('INSUFFICIENT_FUNDS', FIRST_FUNDS_RETRY_MS, error);
  }
}

function held(reason: string | undefined): PendingVerdict | null {
  return reason === undefined ? null : again('POLICY_HELD', FIRST_ROOM_RETRY_MS, reason);
}

/** What the ready txs of each signer, and those that wait for authorizations, may take from its balance together. */
function costsOf(
  pending: readonly PendingTx[],
  simulated: readonly Simulated[],
): { readonly signer: SignerId; readonly wei: bigint }[] {
  const ready = pending.flatMap(({ tx }, index) => {
    const verdict = simulated[index];
    return verdict?.kind === 'ready' || verdict?.kind === 'awaits' ? [{ signer: tx.signer, cost: verdict.cost }] : [];
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

/** The result of simulating a waiting tx: it may get a nonce, or `apply` changes its state instead. */
export type PendingVerdict =
  /** `cost`: the most wei that it can take from the balance. */
  | { readonly kind: 'ready'; readonly gasLimit: bigint; readonly cost: bigint }
  | { readonly kind: 'not_now'; readonly apply: (tx: ManagedTx) => void }
  /** Waits in the queue, unchanged, behind a tx that the balance does not cover. */
  | { readonly kind: 'parked' };

/**
 * A verdict before the balance is checked. `unfunded`: its node says that the balance is too low. `awaits`: it waits for others, and takes nothing
 * from the balance yet; but others shall not wait for what cannot pay at least `cost`.
 */
export type Simulated =
  | PendingVerdict
  | { readonly kind: 'unfunded'; readonly error: string }
  | { readonly kind: 'awaits'; readonly cost: bigint; readonly verdict: PendingVerdict };

/** Postpones the tx with a timer, so that the txs behind it are processed meanwhile. */
export function again(subState: TxSubState, firstMs: number, error: string): PendingVerdict {
  return {
    kind: 'not_now',
    apply: (tx) => tx.postponed(subState, backoffMs(firstMs, tx.equalTries(subState)), error),
  };
}
