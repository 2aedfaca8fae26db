import { Injectable } from '@nestjs/common';
import { ExecutionConfig } from '../../../config/lockstep-config.js';
import { type Nonce, type SignerId, signerKey } from '../../../kernel/signer-id.js';
import { Log } from '../../../platform/logging/log.js';
import { type ChainConnector, Chains } from '../../chain/index.js';
import { type Lease, LeaseLost } from '../../signers/index.js';
import { Doorbell, LaneMemory, LeasedWork, TxQueue, WriteChanges } from '../../ledger/index.js';
import { AdoptSent } from './adopt-sent.js';
import { CommittedCursors } from './committed-cursors.js';
import { FindSent } from './find-sent.js';
import type { Findings } from './findings.js';
import { HeldSigners } from './held-signers.js';
import type { Hash } from '../../../kernel/hex.js';

/** About as often as a held signer is checked again. */
const CHECK_AGAIN_MS = 1_000;
const REASON = 'the database may have lost commits: the transactions that this signer has sent are not all known yet';

/** Adds unknown sent transactions to the database, signer by signer; holds signers whose sent transactions are not all known yet. */
@Injectable()
export class ReconcileLanes {
  constructor(
    private readonly find: FindSent,
    private readonly adopt: AdoptSent,
    private readonly held: HeldSigners,
    private readonly cursors: CommittedCursors,
    private readonly queue: TxQueue,
    private readonly write: WriteChanges,
    private readonly config: ExecutionConfig,
    private readonly log: Log,
  ) {}

  /**
   * @param anyway an operator vouches that the signers sent nothing else
   * @returns the findings of each signer that was searched
   */
  async execute(chain: ChainConnector, leases: readonly Lease[], anyway = false): Promise<Findings[]> {
    const found = await this.find.execute(
      chain,
      leases.map(({ signer }) => signer),
    );
    const bySigner = new Map(found.map((findings) => [signerKey(findings.outlook.signer), findings]));
    for (const lease of leases) {
      const findings = bySigner.get(signerKey(lease.signer));
      // Keeps the committed cursor of the signer, because it was not searched: `goOn` would forget it.
      if (findings === undefined) this.held.release(lease.signer);
      else await this.reconcile(lease, findings, anyway);
    }
    return found;
  }

  private async reconcile(lease: Lease, findings: Findings, anyway: boolean): Promise<void> {
    const wasHeld = this.held.has(lease.signer);
    if (anyway) this.held.vouch(findings);
    else if (!this.held.judge(findings)) {
      if (!wasHeld) await this.holdBack(lease, findings);
      return;
    }
    try {
      if (await this.adopt.execute(lease, findings, anyway)) this.goOn(lease.signer);
      else {
        this.held.keep(lease.signer);
        if (!wasHeld)
          this.log.warn('signer held: what it has sent is not stored yet', { signer: signerKey(lease.signer) });
      }
    } catch (error) {
      if (error instanceof LeaseLost) throw error;
      // A signer whose findings cannot be stored must not stop the others of its step.
      this.held.keep(lease.signer);
      this.log.error('failed to store sent transactions of a signer', { signer: signerKey(lease.signer), error });
    }
  }

  private goOn(signer: SignerId): void {
    this.held.release(signer);
    this.cursors.forget(signer);
  }

  /** Reports why a signer sends nothing: to operators in the log, to clients in the error of its first waiting txs. */
  private async holdBack(lease: Lease, { outlook, latest, hiddenBelow, unread }: Findings): Promise<void> {
    const { signer, cursor, suspect } = outlook;
    this.log.error('signer held: it may have sent transactions that the database does not know', {
      signer: signerKey(signer),
      cursor,
      chainNonce: latest,
      hiddenBelow,
      unread,
      suspect,
    });
    const pending = await this.queue.nextPending([{ signer, room: this.config.batchSize }]);
    if (pending.length === 0) return;
    const waiting = pending.map(({ tx }) => tx);
    await this.write.ofPending([lease], 'hold_back', waiting, (locked) => {
      const txs = waiting.filter(({ id }) => locked.has(id));
      for (const tx of txs) tx.postponed('NONCE_SYNC', CHECK_AGAIN_MS, REASON);
      return { txs };
    });
  }
}

/** The result of a reconciliation that an operator requested. */
export interface Reconciliation {
  /** The signer is still held: it may have sent transactions that are not known. */
  readonly held: boolean;
  /** Sent transactions that the database did not know before. */
  readonly found: readonly { readonly nonce: Nonce; readonly txHash: Hash }[];
}

/** On request of an operator: searches at once for sent transactions of a signer, and releases the signer when the operator vouches. */
@Injectable()
export class ReconcileSigner {
  constructor(
    private readonly chains: Chains,
    private readonly work: LeasedWork,
    private readonly memory: LaneMemory,
    private readonly held: HeldSigners,
    private readonly reconcile: ReconcileLanes,
    private readonly doorbell: Doorbell,
  ) {}

  /**
   * @param anyway the operator vouches that the signer sent nothing else, or accepts that a payload is executed twice
   * @throws NotLeader when another node acts for the signer
   */
  async execute(signer: SignerId, anyway: boolean): Promise<Reconciliation> {
    const found = await this.work.asOwner(signer, (lease) =>
      this.reconcile.execute(this.chains.get(signer.chainId), [lease], anyway),
    );
    this.memory.forget([signer]);
    this.doorbell.ring([signer]);
    return {
      held: this.held.has(signer),
      found: found.flatMap(({ unknown }) => unknown.map(({ nonce, hash }) => ({ nonce, txHash: hash }))),
    };
  }
}
