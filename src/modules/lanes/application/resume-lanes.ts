import { Injectable } from '@nestjs/common';
import { groupBy } from '../../../kernel/group-by.js';
import { inSlices } from '../../../kernel/in-slices.js';
import { type ChainId, signerKey } from '../../../kernel/signer-id.js';
import type { ChainConnector } from '../../chain/index.js';
import { AdmitLanes, HoldBehind } from '../../lost-commits/index.js';
import type { Lease } from '../../signers/index.js';
import {
  AttemptRepository,
  InFlightLimits,
  isUnopposed,
  LaneMemory,
  type ManagedTx,
  type RequestedTx,
  TxsInFlight,
  type UnminedTx,
  WriteChanges,
} from '../../ledger/index.js';
import { LookForDelegations } from './look-for-delegations.js';
import { ResendAttempts } from './resend-attempts.js';
import { Log } from '../../../platform/logging/log.js';
import { asFound, BroadcastAttempts, ReservedFees, type Sending, SignAttempts } from '../../sending/index.js';

/** Txs that are read, sent and recorded at once when a pool dropped them. */
const MOST_AT_ONCE = 500;

/**
 * Finishes what a crash or the previous owner left (docs/architecture.md, Lane step). A slot without a signed attempt gets one. An attempt
 * that was signed, and may have been sent, is resent with the same bytes: nothing new is signed to find out what happened
 * (docs/invariants.md, I5).
 */
@Injectable()
export class RecoverLane {
  constructor(
    private readonly inFlight: TxsInFlight,
    private readonly attempts: AttemptRepository,
    private readonly write: WriteChanges,
    private readonly reserved: ReservedFees,
    private readonly sign: SignAttempts,
    private readonly broadcast: BroadcastAttempts,
    private readonly log: Log,
  ) {}

  async execute(chain: ChainConnector, leases: readonly Lease[]): Promise<void> {
    const signers = leases.map((lease) => lease.signer);
    await this.write.receiptsDue(leases, 'recover');
    const left = (await this.inFlight.allocated(signers)).filter(({ tx }) => !tx.isResting && !tx.isHold);
    if (left.length === 0) return;
    const known = await this.attempts.ofSlots(left.map(({ tx }) => ({ signer: tx.signer, nonce: tx.nonce })));
    const latest = new Map(known.map((attempt) => [attempt.txId, attempt]));
    const unsigned: RequestedTx[] = [];
    const signed: Sending[] = [];
    for (const item of left) {
      const attempt = latest.get(item.tx.id);
      if (attempt) signed.push({ tx: item.tx, attempt: asFound(attempt) });
      else unsigned.push(item);
    }
    this.log.info('lane recovered', {
      signers: signers.map(signerKey),
      unsigned: unsigned.length,
      resent: signed.length,
    });
    // What is signed does not wait for a price.
    await this.broadcast.execute(chain, leases, signed);
    if (unsigned.length === 0) return;
    const reserved = await this.reserved.of(
      leases,
      unsigned.filter(({ tx }) => tx.kind === 'payload'),
    );
    const fresh = await this.sign.execute(await chain.feeQuote(), leases, unsigned, reserved);
    await this.broadcast.execute(chain, leases, fresh);
  }
}

/**
 * What a lane does with its txs that hold a nonce, before others get one: it makes sure that the database knows all of them, then recovery, then
 * sends that wait for room in a pool. And what it does with those that were refused.
 */
@Injectable()
export class ResumeLanes {
  constructor(
    private readonly behind: HoldBehind,
    private readonly admit: AdmitLanes,
    private readonly recover: RecoverLane,
    private readonly delegations: LookForDelegations,
    private readonly limits: InFlightLimits,
    private readonly memory: LaneMemory,
    private readonly inFlight: TxsInFlight,
    private readonly resends: ResendAttempts,
  ) {}

  /** @returns the leases whose lanes go on */
  async execute(chain: ChainConnector, held: readonly Lease[]): Promise<readonly Lease[]> {
    const even = await this.behind.admit(chain.chainId, held);
    const admitted = await this.admit.execute(chain, even);
    // Not those that have to be admitted again, because a new epoch began since they were.
    const leases = admitted.filter((lease) => this.memory.isAdmitted(lease));
    const toRecover = leases.filter((lease) => this.memory.needsRecovery(lease));
    // Before the recovery: when a part of it fails, that part marks its lane for recovery again.
    this.memory.recovered(toRecover);
    if (toRecover.length > 0) await this.recover.execute(chain, toRecover);
    const toLook = new Set([...toRecover, ...leases.filter(({ signer }) => this.limits.mustLook(signer))]);
    await this.delegations.execute(
      chain,
      [...toLook].map(({ signer }) => signer),
    );
    await this.resendDropped(chain.chainId, leases);
    await this.resendLimited(chain.chainId, leases);
    return leases;
  }

  /**
   * Sends no-ops for the nonces of payloads that the nodes have just refused. Not when their timers run out: nothing behind these nonces can be
   * mined before.
   */
  async close(chainId: ChainId, leases: readonly Lease[], refused: readonly ManagedTx[]): Promise<void> {
    if (refused.length > 0) await this.resends.renew(chainId, leases, refused);
  }

  /**
   * Sends everything of a signer again, the lowest nonces first and as many as the learnt limit allows, when a pool had dropped one without a word:
   * geth drops whole accounts when much comes at once, and behind the gap keeps 64; a node restarts with an empty pool.
   */
  private async resendDropped(chainId: ChainId, leases: readonly Lease[]): Promise<void> {
    const room = new Map(
      leases
        .filter((lease) => this.limits.mayResendDropped(lease))
        .map((lease) => [signerKey(lease.signer), { lease, limit: this.limits.ofLease(lease) }]),
    );
    if (room.size === 0) return;
    const of = [...room.values()];
    // Before the work: a lane whose step fails for it goes on without it until the pause is over.
    for (const { lease } of of) this.limits.resendingDropped(lease);
    const unmined = await this.inFlight.lowestUnmined(
      of.map(({ lease }) => lease.signer),
      Math.max(...of.map(({ limit }) => limit)),
    );
    const lost = [...groupBy(unmined, ({ tx }) => signerKey(tx.signer))].flatMap(([key, own]) =>
      own.slice(0, room.get(key)?.limit).flatMap((unminedTx) => (isInPool(unminedTx) ? [unminedTx.tx] : [])),
    );
    for (const some of inSlices(lost, MOST_AT_ONCE)) await this.resends.resend(chainId, leases, some);
    for (const { lease } of of) this.limits.resentDropped(lease);
  }

  /**
   * Sends txs again that a pool refused for one of its limits, as soon as it may have room: txs of their signer were mined, or it took one
   * that it had refused. Lowest nonces first, and as many as the learnt limit allows.
   */
  private async resendLimited(chainId: ChainId, leases: readonly Lease[]): Promise<void> {
    const due = leases.filter((lease) => this.limits.mayResend(lease));
    if (due.length === 0) return;
    const waiting = await this.inFlight.waitingForPool(
      due.map((lease) => ({ signer: lease.signer, room: this.limits.ofLease(lease) })),
    );
    const bySigner = groupBy(waiting, ({ signer }) => signerKey(signer));
    for (const lease of due) this.limits.resending(lease, bySigner.has(signerKey(lease.signer)));
    const fitting = await this.fitting(due, [...bySigner.values()]);
    if (fitting.length === 0) return;
    const { toRenew } = await this.resends.resend(chainId, leases, fitting);
    if (toRenew.length > 0) await this.resends.renew(chainId, leases, toRenew);
  }

  /** What is left of the limit of each signer above the txs that its pool has. */
  private async fitting(leases: readonly Lease[], waiting: readonly (readonly ManagedTx[])[]): Promise<ManagedTx[]> {
    const lowest = waiting.flatMap(([first]) => (first ? [first] : []));
    if (lowest.length === 0) return [];
    const around = await this.inFlight.inFlightAround(lowest);
    const limitOf = new Map(leases.map((lease) => [signerKey(lease.signer), this.limits.ofLease(lease)]));
    return waiting.flatMap((own, index) => {
      const limit = own[0] ? (limitOf.get(signerKey(own[0].signer)) ?? 0) : 0;
      return own.slice(0, Math.max(0, limit - (around[index]?.below ?? limit)));
    });
  }
}

/** It was sent, and no node refused it since: what is refused is sent again after its own pauses. */
function isInPool({ tx, newest, isHeld }: UnminedTx): boolean {
  return !isHeld && tx.state === 'IN_MEMPOOL' && (newest === null || isUnopposed(newest));
}
