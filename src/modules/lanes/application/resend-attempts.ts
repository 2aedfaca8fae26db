import { Injectable } from '@nestjs/common';
import { groupBy } from '../../../kernel/group-by.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { Metrics } from '../../../platform/metrics/metrics.js';
import { actionOf, Chains } from '../../chain/index.js';
import {
  asFound,
  BroadcastAttempts,
  refusedForFunds,
  refusedForPrice,
  RepricePayloads,
  type Sending,
  SignNoOps,
} from '../../sending/index.js';
import { Custody, type Lease, slotKey } from '../../signers/index.js';
import {
  type Attempt,
  AttemptRepository,
  type ManagedTx,
  ManagedTxRepository,
  mayBeInPool,
} from '../../ledger/index.js';

/** A tx with its attempts, oldest first, and with all attempts of its slot; `last` is the newest of its own: null of a hold that is closed, and of which nothing was seen. */
interface SentTx {
  readonly tx: ManagedTx;
  readonly attempts: readonly Attempt[];
  readonly ofSlot: readonly Attempt[];
  readonly last: Attempt | null;
}

/** After so many attempts of one fill, other gas is not accepted either; it is resent as it is. Another price may be. */
const MAX_FILL_ATTEMPTS = 16;

export interface Resent {
  readonly sent: readonly ManagedTx[];
  /** What needs new bytes: the last ones were refused for their price or content, or the slot is to be closed. */
  readonly toRenew: readonly ManagedTx[];
}

/** Sends txs again. What is signed goes first, and waits for nothing; then what needs new bytes, which may wait for a price. */
@Injectable()
export class ResendAttempts {
  constructor(
    private readonly chains: Chains,
    private readonly repository: ManagedTxRepository,
    private readonly attempts: AttemptRepository,
    private readonly noOps: SignNoOps,
    private readonly reprice: RepricePayloads,
    private readonly broadcast: BroadcastAttempts,
    private readonly metrics: Metrics,
    private readonly custody: Custody,
  ) {}

  /**
   * Resends an attempt of each tx with the same bytes: the one with the highest price that may be out. Asks the chain nothing before, so a chain
   * without a price holds up nothing that is signed.
   */
  async resend(chainId: ChainId, leases: readonly Lease[], txs: readonly ManagedTx[]): Promise<Resent> {
    const due = await this.inFlight(txs);
    const renewed = due.filter((item) => this.isSigned(item) && (needsNoOp(item) || this.reprice.isDue(item)));
    const again = sameBytes(due.filter((item) => !renewed.includes(item)));
    await this.broadcast.execute(this.chains.get(chainId), leases, again);
    this.metrics.count('resubmit_total', again.length, { kind: 'same_bytes' });
    return { sent: again.map(({ tx }) => tx), toRenew: renewed.map(({ tx }) => tx) };
  }

  /**
   * Signs new bytes for txs whose last ones were refused for their price or content, and for slots that are to be closed; and sends them. Where
   * there is no other price to try, the same bytes go again.
   */
  async renew(chainId: ChainId, leases: readonly Lease[], txs: readonly ManagedTx[]): Promise<void> {
    const chain = this.chains.get(chainId);
    const due = (await this.inFlight(txs)).filter((item) => this.isSigned(item));
    const closing = due.filter(needsNoOp).map(({ tx, ofSlot }) => ({ tx, attempts: ofSlot }));
    const noOps = await this.noOps.execute(chain, leases, closing);
    const fresh = [...noOps, ...(await this.reprice.execute(chain, leases, due))];
    const isFresh = new Set(fresh.map(({ tx }) => tx.id));
    const again = sameBytes(due.filter(({ tx }) => !isFresh.has(tx.id)));
    await this.broadcast.execute(chain, leases, [...again, ...fresh]);
    this.metrics.count('resubmit_total', again.length, { kind: 'same_bytes' });
  }

  /** Else what an outside sender sent is sent again as it is. */
  private isSigned({ tx }: SentTx): boolean {
    return !this.custody.isExternal(tx.signer);
  }

  /** Reads the txs again, because the worker of their signer may have changed them. Leaves out those that are not in flight, those without an attempt, and holds, unless they are closed. */
  protected async inFlight(found: readonly ManagedTx[]): Promise<SentTx[]> {
    const txs = (await this.repository.byIds(found.map(({ id }) => id))).filter(
      (tx) => (tx.state === 'IN_MEMPOOL' || tx.state === 'ALLOCATED') && !tx.isResting && (!tx.isHold || tx.isClosing),
    );
    const all = await this.attempts.ofSlots(txs.map((tx) => ({ signer: tx.signer, nonce: tx.nonce })));
    const bySlot = groupBy(all.map(asFound), slotKey);
    return txs.flatMap((tx) => {
      const ofSlot = bySlot.get(slotKey(tx)) ?? [];
      const attempts = ofSlot.filter(({ txId }) => txId === tx.id);
      const last = attempts.at(-1) ?? null;
      return last !== null || tx.isHold ? [{ tx, attempts, ofSlot, last }] : [];
    });
  }
}

/** The slot is closing and has no no-op yet; or its last no-op was refused, and with other gas or another price it may be accepted, or paid. */
function needsNoOp({ tx, attempts, last }: SentTx): boolean {
  if (last === null || (tx.isClosing && last.kind === 'payload')) return true;
  if (last.kind === 'payload' || last.errorClass === null) return false;
  if (refusedForPrice(last)) return true;
  if (last.kind === 'fill' && attempts.length >= MAX_FILL_ATTEMPTS) return false;
  if (refusedForFunds(last)) return last.fees.maxFeePerGas > 0n;
  return actionOf(last.errorClass).response === 'fail_payload';
}

/** The bytes of each that are sent once more; none of a slot that is to be closed as long as it has only its payload. */
function sameBytes(due: readonly SentTx[]): Sending[] {
  return due.flatMap(({ tx, attempts }): Sending[] => {
    const attempt = attemptToResend(tx, attempts);
    return attempt ? [{ tx, attempt }] : [];
  });
}

/**
 * The attempt whose bytes are sent again: of those that a pool may have, or that are newer and never left this node, the one with the highest price. A node
 * that restarted with an empty pool then gets the price that has the best chance, and a pool that has a cheaper one replaces it. A newer
 * attempt that every node refused would be refused again. When all were refused, the newest. In a slot that is being
 * closed, the payload is never sent again, also when there is no no-op yet.
 * @param attempts of this tx, oldest first
 */
export function attemptToResend(tx: ManagedTx, attempts: readonly Attempt[]): Attempt | undefined {
  const wanted = tx.isClosing ? attempts.filter(({ kind }) => kind === 'cancel') : attempts;
  const newestOut = wanted.findLastIndex(mayBeInPool);
  // A node that refuses gives a reason. Without one, a bump was held back or found no connection, and still has to be sent; unless a newer one was,
  // after the market had fallen.
  const unrefused = wanted.filter(
    (attempt, place) => mayBeInPool(attempt) || (attempt.errorClass === null && place > newestOut),
  );
  return unrefused.length === 0
    ? wanted.at(-1)
    : unrefused.reduce((best, next) => (isCheaper(next, best) ? best : next));
}

function isCheaper({ fees }: Attempt, other: Attempt): boolean {
  if (fees.maxFeePerGas !== other.fees.maxFeePerGas) return fees.maxFeePerGas < other.fees.maxFeePerGas;
  return fees.maxPriorityFeePerGas < other.fees.maxPriorityFeePerGas;
}
