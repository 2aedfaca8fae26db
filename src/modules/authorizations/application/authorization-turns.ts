import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import { signerKey, type SignerId } from '../../../kernel/signer-id.js';
import { Doorbell, type Grant, InFlightLimits, LaneMemory } from '../../ledger/index.js';

/** For so long an authority gives no nonces to its payloads, to get idle. Then its payloads go on, and it tries again later. */
const LONGEST_TURN_MS = 120_000;
/** For so long the payloads of an authority may get nonces after an authorization, before it signs the next one. */
const PAYLOADS_MS = 3_000;

/** Payloads and authorizations of a signer are never in flight together, so they take turns. In the memory of the owner. */
@Injectable()
export class AuthorizationTurns {
  /** Since when a wanted one has its turn, by its id. */
  private turns = new Map<string, number>();
  /** Since when the payloads of an authority are held back, by signer. */
  private readonly heldSince = new Map<string, number>();
  /** Until when payloads have their turn, by signer. */
  private readonly payloads = new Map<string, number>();
  /** Ids of those that were seen mined. */
  private mined = new Set<string>();

  constructor(
    private readonly memory: LaneMemory,
    private readonly clock: Clock,
    private readonly limits: InFlightLimits,
    private readonly doorbell: Doorbell,
  ) {}

  /** What is to be done of all that is there. Holds back the payloads of their authorities. */
  begin(all: readonly Grant[]): Grant[] {
    const now = this.clock.monotonicMs();
    for (const [key, until] of this.payloads) if (until <= now) this.payloads.delete(key);
    const due = all.filter((grant) => grant.stage !== 'wanted' || !this.payloads.has(signerKey(grant.signer)));
    const wanted = due.filter(({ stage }) => stage === 'wanted');
    this.turns = new Map(wanted.map(({ id }) => [id, this.turns.get(id) ?? now]));
    this.mined = new Set(all.filter(({ id }) => this.mined.has(id)).map(({ id }) => id));
    const unused = due.filter(({ stage }) => stage !== 'mined' && stage !== 'ended');
    const holding = new Set(unused.map(({ signer }) => signerKey(signer)));
    for (const key of this.heldSince.keys()) if (!holding.has(key)) this.heldSince.delete(key);
    for (const key of holding) this.heldSince.set(key, this.heldSince.get(key) ?? now);
    for (const { signer, stage } of unused) if (stage !== 'overdue') this.memory.holdBack(signer);
    return due.filter(({ stage }) => stage !== 'open');
  }

  /** A wanted one did not get its nonce for too long. */
  isOver({ id }: Grant): boolean {
    return this.clock.monotonicMs() - (this.turns.get(id) ?? Infinity) >= LONGEST_TURN_MS;
  }

  /** Its payload goes on. From now on the lane of the authority asks the database whether the authorization is still out. */
  signed({ signer, sender }: Grant): void {
    this.memory.kindsSeen(signer, this.memory.nextKind(signer), true);
    this.doorbell.ring([sender]);
  }

  /** The account may run other code from now on. Does nothing when it was seen mined before. */
  wasMined({ id, signer }: Grant): void {
    if (this.mined.has(id)) return;
    this.mined.add(id);
    this.payloadsMayGo(signer);
    this.goOn(signer);
  }

  /** It has ended, or was taken back from a tx that waits for too long. */
  ended({ signer, stage }: Grant): void {
    if (stage === 'overdue') this.gaveUp(signer);
    else this.payloadsMayGo(signer);
    this.goOn(signer);
  }

  /** They were held back in vain, and have a turn that is as long: the txs of others take half of the time of an authority at most. */
  gaveUp(signer: SignerId): void {
    const now = this.clock.monotonicMs();
    const heldMs = now - (this.heldSince.get(signerKey(signer)) ?? now);
    this.payloadsMayGo(signer, Math.max(PAYLOADS_MS, heldMs));
  }

  /** The chain is asked before the next nonce is given out: one endpoint may have been behind. */
  private payloadsMayGo(signer: SignerId, forMs = PAYLOADS_MS): void {
    this.memory.letGo(signer);
    this.memory.distrustNonce(signer);
    this.heldSince.delete(signerKey(signer));
    this.payloads.set(signerKey(signer), this.clock.monotonicMs() + forMs);
  }

  private goOn(signer: SignerId): void {
    this.limits.mayHaveDelegated(signer);
    this.doorbell.ring([signer]);
  }
}
