import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import { type ChainId, signerKey, type SignerId } from '../../../kernel/signer-id.js';
import { Doorbell, type Grant, InFlightLimits, LaneMemory } from '../../ledger/index.js';

/** For so long an authority gives no nonces to its payloads, to get idle. Then its payloads go on, and it tries again later. */
const LONGEST_TURN_MS = 120_000;
/** For so long a look holds back. Longer than looks take, so that a slow one lets nothing through. */
const HELD_BACK_MS = 30_000;
/** For so long the payloads of an authority may get nonces after an authorization, before it signs the next one. */
const PAYLOADS_MS = 3_000;

/** Payloads and authorizations of a signer are never in flight together, so they take turns. In the memory of the owner. */
@Injectable()
export class AuthorizationTurns {
  /** Since when a wanted one has its turn. */
  private readonly turns = new Map<string, number>();
  /** Since when, and until when, the payloads of an authority are held back, by signer. */
  private readonly held = new Map<string, { readonly since: number; readonly until: number }>();
  /** Until when payloads have their turn, by signer. */
  private readonly payloads = new Map<string, number>();
  /** Those that were seen mined. */
  private readonly mined = new Set<string>();

  constructor(
    private readonly memory: LaneMemory,
    private readonly clock: Clock,
    private readonly limits: InFlightLimits,
    private readonly doorbell: Doorbell,
  ) {}

  /** What is to be done of all that is there of a chain. Holds back the payloads of their authorities. */
  begin(chainId: ChainId, all: readonly Grant[]): Grant[] {
    const now = this.clock.monotonicMs();
    for (const [key, until] of this.payloads) if (until <= now) this.payloads.delete(key);
    const due = all.filter((grant) => grant.stage !== 'wanted' || !this.payloads.has(signerKey(grant.signer)));
    const wanted = due.filter(({ stage }) => stage === 'wanted');
    const unused = due.filter(({ stage }) => stage !== 'mined' && stage !== 'ended');
    keepOf(chainId, this.mined, all.map(keyOf));
    keepOf(chainId, this.turns, wanted.map(keyOf));
    for (const key of wanted.map(keyOf)) this.turns.set(key, this.turns.get(key) ?? now);
    const holding = unused.map(({ signer }) => signerKey(signer));
    keepOf(chainId, this.held, holding);
    for (const key of holding)
      this.held.set(key, { since: this.held.get(key)?.since ?? now, until: now + HELD_BACK_MS });
    return due.filter(({ stage }) => stage !== 'open');
  }

  /** Nothing of the signer gets a nonce but its authorizations. */
  isHeldBack(signer: SignerId): boolean {
    return this.clock.monotonicMs() < (this.held.get(signerKey(signer))?.until ?? 0);
  }

  /** A wanted one did not get its nonce for too long. */
  isOver(grant: Grant): boolean {
    return this.clock.monotonicMs() - (this.turns.get(keyOf(grant)) ?? Infinity) >= LONGEST_TURN_MS;
  }

  /** Its payload goes on. From now on the lane of the authority asks the database whether the authorization is still out. */
  signed({ signer, sender }: Grant): void {
    this.memory.kindsSeen(signer, this.memory.nextKind(signer), true);
    this.doorbell.ring([sender]);
  }

  /** The account may run other code from now on. Does nothing when it was seen mined before. */
  wasMined(grant: Grant): void {
    if (this.mined.has(keyOf(grant))) return;
    this.mined.add(keyOf(grant));
    this.payloadsMayGo(grant.signer);
    this.goOn(grant.signer);
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
    const heldMs = now - (this.held.get(signerKey(signer))?.since ?? now);
    this.payloadsMayGo(signer, Math.max(PAYLOADS_MS, heldMs));
  }

  /** The chain is asked before the next nonce is given out: one endpoint may have been behind. */
  private payloadsMayGo(signer: SignerId, forMs = PAYLOADS_MS): void {
    this.memory.distrustNonce(signer);
    this.held.delete(signerKey(signer));
    this.payloads.set(signerKey(signer), this.clock.monotonicMs() + forMs);
  }

  private goOn(signer: SignerId): void {
    this.limits.mayHaveDelegated(signer);
    this.doorbell.ring([signer]);
  }
}

/** The looks at other chains leave what this one finds. */
function keepOf(
  chainId: ChainId,
  of: { keys(): Iterable<string>; delete(key: string): boolean },
  present: readonly string[],
): void {
  const kept = new Set(present);
  for (const key of of.keys()) if (key.startsWith(`${chainId}:`) && !kept.has(key)) of.delete(key);
}

function keyOf({ id, signer }: Grant): string {
  return `${signerKey(signer)} ${id}`;
}
