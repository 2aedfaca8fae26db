import { Injectable } from '@nestjs/common';
import type { Hash } from '../../../kernel/hex.js';
import { groupBy } from '../../../kernel/group-by.js';
import { type ChainId, distinctSigners, type SignerId, signersOf } from '../../../kernel/signer-id.js';
import { Metrics } from '../../../platform/metrics/metrics.js';
import { Turns } from '../../../platform/scheduling/turns.js';
import type { ReceiptLookup } from '../../chain/index.js';
import { ReassignNonces } from '../../nonces/index.js';
import { LeaseManager, slotKey } from '../../signers/index.js';
import {
  type Attempt,
  AttemptRepository,
  LeasedWork,
  ManagedTx,
  ManagedTxRepository,
  PostponeDue,
  TxsInFlight,
  WriteChanges,
} from '../../ledger/index.js';
import { LookUpReceipts } from './look-up-receipts.js';
import { type MinedAttempt, RecordMined } from './record-mined.js';
import { ConfirmationsConfig } from '../../../config/lockstep-config.js';

/** Pause after an RPC error, which does not mean "no receipt", and while a nonce is in doubt. */
const CHECK_AGAIN_MS = 2_000;

/**
 * A tx without a receipt. `answered`: true when the node answered that no attempt has one; false when a call failed. `unclear`: what is wrong
 * with an answer that decides nothing.
 */
export interface MissingReceipt {
  readonly signer: SignerId;
  readonly tx: ManagedTx;
  readonly answered: boolean;
  readonly unclear?: string | null;
}

/** Sets the next check of receipts that were not found, or not recorded. */
@Injectable()
export class PostponeReceiptChecks {
  constructor(
    private readonly work: LeasedWork,
    private readonly repository: ManagedTxRepository,
    private readonly write: WriteChanges,
    private readonly postpone: PostponeDue,
    private readonly config: ConfirmationsConfig,
  ) {}

  /** @param found txs with a receipt: those that could not be MINED now are due later, too */
  async execute(chainId: ChainId, missing: readonly MissingReceipt[], found: readonly ManagedTx[]): Promise<void> {
    const left = new Map(missing.map(({ tx }) => [tx.id, tx]));
    try {
      await this.work.run(chainId, missing, async (leases, share) => {
        const told = new Map(share.map((item) => [item.tx.id, item]));
        const read = await this.repository.byIds(share.map(({ tx }) => tx.id));
        const txs = read.filter((tx) => tx.state === 'IN_MEMPOOL');
        for (const tx of txs) {
          const { answered = false, unclear = null } = told.get(tx.id) ?? {};
          tx.receiptMissing(answered && !tx.isInDoubt ? this.config.staleReceiptTimeout : CHECK_AGAIN_MS, unclear);
        }
        await this.write.execute(leases, 'receipt_missing', { txs });
        for (const { tx } of share) left.delete(tx.id);
      });
    } finally {
      await this.postpone.execute('receiptCheck', [...left.values(), ...found]);
    }
  }
}

/** Few statements, and a few batches of each endpoint. */
const TXS_AT_ONCE = 500;

/** A tx whose receipt check is due, with its attempts, and with those of the txs that compete for its slot. */
export interface DueTx {
  readonly signer: SignerId;
  readonly tx: ManagedTx;
  readonly attempts: readonly Attempt[];
  /** Of a fill whose nonce a failed tx left free: those of that tx, which may be executed all the same. */
  readonly before: readonly Attempt[];
}

/** Requests receipts by hash of txs that were not found in a block for too long, of all their attempts: blocks can be missed. */
@Injectable()
export class CheckReceipts {
  private readonly receiptTurns = new Turns<ManagedTx>(TXS_AT_ONCE, ({ signer }) => signer.address);

  constructor(
    private readonly leases: LeaseManager,
    private readonly inFlight: TxsInFlight,
    private readonly attempts: AttemptRepository,
    private readonly lookUp: LookUpReceipts,
    private readonly recordMined: RecordMined,
    private readonly postpone: PostponeReceiptChecks,
    private readonly reassign: ReassignNonces,
    private readonly metrics: Metrics,
  ) {}

  /** @returns signers with a tx that is not mined, by the word of an endpoint: their nonce on the chain may stand still */
  async execute(chainId: ChainId): Promise<SignerId[]> {
    const due = await this.due(chainId);
    if (due.length === 0) return [];
    // Txs that compete for one slot have the same attempts.
    const all = due.flatMap((item) => [...item.attempts, ...item.before]);
    const attempts = [...new Map(all.map((one) => [one.txHash, one])).values()];
    const lookups = await this.lookUp.execute(chainId, attempts);
    const found = attempts.flatMap((attempt): MinedAttempt[] => {
      const lookup = lookups.get(attempt.txHash);
      return lookup?.kind === 'found' ? [{ signer: attempt.signer, attempt, receipt: lookup.receipt }] : [];
    });
    const mined = new Map(found.map(({ attempt }) => [attempt.txHash, attempt.txId]));
    const missing = due
      .filter((item) => !item.attempts.some(({ txHash }) => mined.has(txHash)))
      .map((item) => ({
        ...item,
        answered:
          item.attempts.every(({ txHash }) => lookups.get(txHash)?.kind === 'none') &&
          item.before.every(({ txHash }) => ['none', 'found'].includes(lookups.get(txHash)?.kind ?? '')),
        unclear: firstUnclear(item.attempts.map(({ txHash }) => lookups.get(txHash))) ?? this.whyInDoubt(item.tx),
      }));
    this.metrics.count('receipt_check_total', found.length, { result: 'found' });
    this.metrics.count('receipt_check_total', missing.filter(({ answered }) => answered).length, { result: 'none' });
    this.metrics.count('receipt_check_total', missing.filter(({ answered }) => !answered).length, { result: 'error' });
    // A tx that rests while a rival is mined stays as it is, and would be due again at once.
    const resting = due.filter(({ tx, attempts: own }) => tx.isResting && hasMinedRival(tx, own, mined));
    const others = due.filter((item) => !missing.some(({ tx }) => tx.id === item.tx.id) && !resting.includes(item));
    try {
      await this.recordMined.execute(chainId, found);
    } finally {
      await this.postpone.execute(
        chainId,
        [...missing, ...resting.map((item) => ({ ...item, answered: true }))],
        others.map(({ tx }) => tx),
      );
    }
    const unmined = missing.filter(({ answered }) => answered);
    const doubts = unmined.filter(({ tx }) => tx.isInDoubt);
    await this.reassign.execute(chainId, doubts);
    await this.recordListed(chainId, doubts);
    return distinctSigners(signersOf(unmined));
  }

  /** A node may know nothing by hash of what it lists in a block (docs/public-cases.md): then the receipts of this block have it. */
  private async recordListed(chainId: ChainId, doubts: readonly DueTx[]): Promise<void> {
    const blocks = doubts.flatMap(({ tx }) => this.reassign.ownBlock(tx) ?? []);
    if (blocks.length === 0) return;
    const known = new Map(doubts.flatMap(({ attempts }) => attempts.map((attempt) => [attempt.txHash, attempt])));
    const mined = (await this.lookUp.inBlocks(chainId, blocks)).flatMap((receipt): MinedAttempt[] => {
      const attempt = known.get(receipt.txHash);
      return attempt ? [{ signer: attempt.signer, attempt, receipt }] : [];
    });
    if (mined.length > 0) await this.recordMined.execute(chainId, mined);
  }

  private whyInDoubt(tx: ManagedTx): string | null {
    if (!tx.isInDoubt) return null;
    const block = this.reassign.ownBlock(tx);
    if (block === null) return this.reassign.searchStop(tx);
    return `block ${block.number} has the transaction, and no endpoint tells its receipt`;
  }

  /** Of this node's signers, in turn. */
  private async due(chainId: ChainId): Promise<DueTx[]> {
    const signers = this.leases.heldOn(chainId).map(({ signer }) => signer.address);
    const txs = await this.receiptTurns.take(chainId, signers, (some, perSigner) =>
      this.inFlight.dueForReceiptCheck(chainId, some, perSigner),
    );
    if (txs.length === 0) return [];
    const attempts = await this.attempts.ofSlots(txs.map((tx) => ({ signer: tx.signer, nonce: tx.nonce })));
    const bySlot = groupBy(attempts, slotKey);
    return txs.map((tx) => {
      const ofSlot = bySlot.get(slotKey(tx)) ?? [];
      const before = tx.kind === 'fill' && tx.mayHaveRivals ? ofSlot.filter(({ txId }) => txId !== tx.id) : [];
      return { signer: tx.signer, tx, attempts: tx.attemptsAmong(ofSlot), before };
    });
  }
}

function firstUnclear(lookups: readonly (ReceiptLookup | undefined)[]): string | null {
  return lookups.flatMap((lookup) => (lookup?.kind === 'unclear' ? [lookup.message] : []))[0] ?? null;
}

function hasMinedRival(tx: ManagedTx, attempts: readonly Attempt[], mined: ReadonlyMap<Hash, string | null>): boolean {
  return attempts.some(({ txHash }) => mined.has(txHash) && mined.get(txHash) !== tx.id);
}
