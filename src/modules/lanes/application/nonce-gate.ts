import { Injectable } from '@nestjs/common';
import { backoffMs, chanceOf, jittered } from '../../../kernel/backoff.js';
import { signerKey, type SignerId, signersOf } from '../../../kernel/signer-id.js';
import { ManagedTx, ownerOf, TxQueue, typeOfPermit } from '../../ledger/index.js';
import {
  type Held,
  type PolicySet,
  type Refused,
  SignerPolicies,
  type Spending,
  outside,
  plus,
  verdict,
} from '../../policies/index.js';
import { FeeRules } from '../../sending/index.js';
import { Custody, ExternalSigner, type Fence } from '../../signers/index.js';
import { DailySums } from './daily-sums.js';
import { HoldShares } from './hold-shares.js';
import type { ReadyTx } from './prepare-pending.js';

/**
 * Before the first other try of a tx for which the daily amounts have no room; doubles up to the longest. {@link WriteChanges} makes it due before that,
 * when something comes back. The first of its signer is due when the oldest of what is spent is a day old, and when it gets a nonce then, others are due:
 * something may be a day old each minute, and a long queue would be judged each time.
 */
const FIRST_HELD_MS = 5_000;
const LONGEST_HELD_MS = 600_000;
/** Before the first other try of a hold for which there is no room; doubles up to the longest. Nobody makes it due before that. */
const FIRST_SHARE_MS = 1_000;
const LONGEST_SHARE_MS = 10_000;

/** Before the next try of a tx whose permit its owner may not sign any more. Nobody makes it due when the owner may again. */
const FIRST_PERMIT_MS = 5_000;
const LONGEST_PERMIT_MS = 60_000;

/** Which waiting txs may get a nonce now. */
export interface Admission {
  readonly admitted: readonly ReadyTx[];
  /** Changed copies of those that the policy refuses for good, or holds, of payloads that nobody signs, of those with a permit that its owner may not sign any more, and of holds for which there is no room ({@link HoldShares}). */
  readonly turnedAway: readonly ManagedTx[];
  /** Signers for which there is room that there was not before. */
  readonly roomCame: readonly SignerId[];
  /** What the admitted need of the daily amounts of their signers, by their ids; without a tx whose signer has none. */
  readonly needs: ReadonlyMap<string, Spending>;
}

/**
 * Locks waiting txs in the transaction that gives them nonces, and judges them by the policies of their signers: what a policy refuses fails, and what
 * the daily amounts have no room for waits, so that neither blocks what is behind it. The policies are those that hold in this transaction: the
 * statement that locks says whether they changed. For signers without a policy it costs no statement, but for holds.
 */
@Injectable()
export class NonceGate {
  constructor(
    private readonly queue: TxQueue,
    private readonly policies: SignerPolicies,
    private readonly sums: DailySums,
    private readonly fees: FeeRules,
    private readonly shares: HoldShares,
    private readonly custody: Custody,
  ) {}

  /** @param ready in the order in which they get nonces */
  async admit(fence: Fence, ready: readonly ReadyTx[]): Promise<Admission> {
    const locked = await this.queue.lockForNonce(
      fence,
      ready.map(({ tx }) => tx),
    );
    const waiting = ready.filter(({ tx }) => locked.ids.has(tx.id));
    if (locked.policyMark === null) return { admitted: [], turnedAway: [], roomCame: [], needs: new Map() };
    const policies = await this.policies.at(locked.policyMark, fence.tx);
    const needed = this.needed(policies, waiting);
    const spent = new Map(
      await this.sums.spent(
        fence,
        policies,
        [...needed].map(([{ tx }, needs]) => ({ signer: tx.signer, ...needs })),
      ),
    );
    const holds = waiting.filter(({ tx }) => tx.isHold).map(({ tx }) => tx);
    const withRoom = await this.shares.admitted(fence, holds);
    const admitted: ReadyTx[] = [];
    const turnedAway: ManagedTx[] = [];
    const needs = new Map<string, Spending>();
    const firstHeld = new Set<string>();
    for (const item of waiting) {
      const key = signerKey(item.tx.signer);
      // It came by a node that does not have the signer in its config, or before its key was taken from here.
      if (!item.tx.isHold && this.custody.isExternal(item.tx.signer)) {
        turnedAway.push(unsigned(item.tx));
        continue;
      }
      const owner = refusingOwner(policies, item);
      if (owner) {
        turnedAway.push(waitsForOwner(item.tx, owner));
        continue;
      }
      const before = spent.get(key);
      const need = needed.get(item);
      const against = this.against(policies, item, before && need ? { spent: before, needs: need } : null);
      if (against !== null) {
        turnedAway.push(turnAway(item.tx, against, firstHeld.has(key) ? null : (before?.nextInMs ?? null)));
        if (against.kind === 'held') firstHeld.add(key);
        continue;
      }
      if (item.tx.isHold && !withRoom.has(item.tx.id)) {
        turnedAway.push(waitsForRoom(item.tx));
        continue;
      }
      admitted.push(item);
      if (!before || !need) continue;
      needs.set(item.tx.id, need);
      spent.set(key, { ...before, ...plus(before, need) });
    }
    const hadNoRoom = admitted.filter(({ tx }) => tx.progress.subState === 'POLICY_HELD');
    return { admitted, turnedAway, roomCame: signersOf(hadNoRoom.map(({ tx }) => tx)), needs };
  }

  /** Of those whose signers have daily amounts. */
  private needed(policies: PolicySet, waiting: readonly ReadyTx[]): Map<ReadyTx, Spending> {
    const limited = new Set(policies.withDailyLimit(signersOf(waiting.map(({ tx }) => tx))).map(signerKey));
    const own = waiting.filter(({ tx }) => limited.has(signerKey(tx.signer)));
    return new Map(
      own.map((item) => {
        const { tx, request, gasLimit } = item;
        return [item, { value: request.payload.value, fees: this.fees.most(tx.signer, request, gasLimit) }];
      }),
    );
  }

  private against(
    policies: PolicySet,
    { tx, request }: ReadyTx,
    daily: Parameters<typeof verdict>[2],
  ): Refused | Held | null {
    const judged = policies.judge(tx.signer, (policy) => (tx.isHold ? outside() : verdict(policy, request, daily)));
    return this.policies.enforced(judged, 'nonce');
  }
}

/** @param nextInMs until room comes back by time */
function turnAway(tx: ManagedTx, { kind, rule, reason }: Refused | Held, nextInMs: number | null): ManagedTx {
  const copy = ManagedTx.rehydrate(tx.progress);
  if (kind === 'refused') {
    const refusal = `policy_refused: ${rule}: ${reason}`;
    if (copy.isHold) copy.dropped(refusal);
    else copy.failed(refusal);
  } else {
    const pauseMs = backoffMs(FIRST_HELD_MS, tx.equalTries('POLICY_HELD'), LONGEST_HELD_MS);
    copy.postponed('POLICY_HELD', Math.min(jittered(pauseMs, chanceOf(tx.id)), nextInMs ?? Infinity), reason);
  }
  return copy;
}

/** The owner of a permit of the tx whose policy does not allow it now. Where a node knows no policy of the owner, its own node has judged. */
function refusingOwner(policies: PolicySet, { tx, request: { payload } }: ReadyTx): SignerId | undefined {
  const refused = (payload.permits ?? []).find((permit) => {
    const owner = ownerOf(permit, tx);
    const { config, stored } = policies.find(owner);
    if (config === null && stored === null) return false;
    return policies.ofTypedData(owner, typeOfPermit(permit)).some((judged) => judged.verdict.kind !== 'allowed');
  });
  return refused && ownerOf(refused, tx);
}

function waitsForOwner(tx: ManagedTx, { address }: SignerId): ManagedTx {
  return waits(tx, FIRST_PERMIT_MS, LONGEST_PERMIT_MS, `the policy of ${address} does not allow its permit any more`);
}

function waitsForRoom(tx: ManagedTx): ManagedTx {
  const reason = 'outside senders have as many nonces of its signer as they may';
  return waits(tx, FIRST_SHARE_MS, LONGEST_SHARE_MS, reason);
}

function waits(tx: ManagedTx, firstMs: number, longestMs: number, reason: string): ManagedTx {
  const copy = ManagedTx.rehydrate(tx.progress);
  const pauseMs = backoffMs(firstMs, tx.equalTries(null), longestMs);
  copy.postponed(null, jittered(pauseMs, chanceOf(tx.id)), reason);
  return copy;
}

function unsigned(tx: ManagedTx): ManagedTx {
  const copy = ManagedTx.rehydrate(tx.progress);
  const { code, message } = new ExternalSigner(tx.signer);
  copy.failed(`${code}: ${message}`);
  return copy;
}
