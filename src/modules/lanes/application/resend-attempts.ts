import type { ChainId } from '../../../kernel/signer-id.js';
import { actionOf, Chains } from '../../chain/index.js';
import { Injectable } from '@nestjs/common';
import { groupBy } from '../../../kernel/group-by.js';
import { BroadcastAttempts, RepricePayloads, type Sending, SignNoOps } from '../../sending/index.js';
import { type Lease, slotKey } from '../../signers/index.js';
import { asFound, type Attempt, AttemptRepository, type ManagedTx, TxMetrics } from '../../transactions/index.js';

/** A tx with its attempts, oldest first, and with all attempts of its slot. */
interface SentTx {
  readonly tx: ManagedTx;
  readonly attempts: readonly Attempt[];
  readonly ofSlot: readonly Attempt[];
  readonly last: Attempt;
}

/** After so many refusals of one fill another price is not accepted either; its last attempt is resent as it is. */
const MAX_FILL_ATTEMPTS = 16;

/** Resends the last attempt of each tx with the same bytes; signs new bytes when the last attempt was refused for its price or content. */
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
      .map(({ tx, last }): Sending => ({ tx, attempt: last }));
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
  if (last.kind === 'fill' && attempts.length >= MAX_FILL_ATTEMPTS) return false;
  if (last.kind === 'payload' || last.errorClass === null) return false;
  const { response } = actionOf(last.errorClass);
  return response === 'fail_payload' || response === 'reprice' || last.errorClass === 'replacement_underpriced';
}
