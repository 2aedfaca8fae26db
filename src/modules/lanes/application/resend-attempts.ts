import type { ChainId } from '../../../kernel/signer-id.js';
import { actionOf, Chains } from '../../chain/index.js';
import { Injectable } from '@nestjs/common';
import { groupBy } from '../../../kernel/group-by.js';
import { BroadcastAttempts, RepricePayloads, type Sending, SignNoOps } from '../../sending/index.js';
import { type Lease, slotKey } from '../../signers/index.js';
import {
  asFound,
  type Attempt,
  AttemptRepository,
  type ManagedTx,
  refusedForPrice,
  TxMetrics,
} from '../../transactions/index.js';
import { attemptToResend } from '../domain/attempt-to-resend.js';

/** A tx with its attempts, oldest first, and with all attempts of its slot; `last` is the newest of its own. */
interface SentTx {
  readonly tx: ManagedTx;
  readonly attempts: readonly Attempt[];
  readonly ofSlot: readonly Attempt[];
  readonly last: Attempt;
}

/** After so many attempts of one fill, other gas is not accepted either; it is resent as it is. Another price may be. */
const MAX_FILL_ATTEMPTS = 16;

/**
 * Resends an attempt of each tx with the same bytes: the one with the highest price that may be out. Signs new bytes when the last attempt
 * was refused for its price or content.
 */
@Injectable()
export class ResendAttempts {
  constructor(
    private readonly chains: Chains,
    private readonly attempts: AttemptRepository,
    private readonly noOps: SignNoOps,
    private readonly reprice: RepricePayloads,
    private readonly broadcast: BroadcastAttempts,
    private readonly metrics: TxMetrics,
  ) {}

  async execute(chainId: ChainId, leases: readonly Lease[], txs: readonly ManagedTx[]): Promise<void> {
    const chain = this.chains.get(chainId);
    const due = await this.withAttempts(txs);
    const noOps = await this.noOps.execute(
      chain,
      leases,
      due.filter(needsNoOp).map(({ tx, ofSlot }) => ({ tx, attempts: ofSlot })),
    );
    const repriced = await this.reprice.execute(chain, leases, due);
    const fresh = [...noOps, ...repriced];
    const isFresh = new Set(fresh.map(({ tx }) => tx.id));
    const sameBytes = due
      .filter(({ tx }) => !isFresh.has(tx.id))
      .map(({ tx, attempts, last }): Sending => ({ tx, attempt: attemptToResend(tx, attempts) ?? last }));
    await this.broadcast.execute(chain, leases, [...sameBytes, ...fresh]);
    this.metrics.resubmitted('same_bytes', sameBytes.length);
  }

  private async withAttempts(txs: readonly ManagedTx[]): Promise<SentTx[]> {
    const all = await this.attempts.ofSlots(txs.map((tx) => ({ signer: tx.signer, nonce: tx.nonce })));
    const bySlot = groupBy(all.map(asFound), slotKey);
    return txs.flatMap((tx) => {
      const ofSlot = bySlot.get(slotKey(tx)) ?? [];
      const attempts = ofSlot.filter(({ txId }) => txId === tx.id);
      const last = attempts.at(-1);
      return last ? [{ tx, attempts, ofSlot, last }] : [];
    });
  }
}

/** The slot is closing and has no no-op yet; or its last no-op was refused, and with other gas or another price it may be accepted. */
function needsNoOp({ tx, attempts, last }: SentTx): boolean {
  if (tx.isClosing && last.kind === 'payload') return true;
  if (last.kind === 'payload' || last.errorClass === null) return false;
  if (refusedForPrice(last)) return true;
  if (last.kind === 'fill' && attempts.length >= MAX_FILL_ATTEMPTS) return false;
  return actionOf(last.errorClass).response === 'fail_payload';
}
