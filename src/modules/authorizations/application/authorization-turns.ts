import { Injectable } from '@nestjs/common';
import { Clock } from '../../../kernel/clock.js';
import { signerKey, type SignerId } from '../../../kernel/signer-id.js';
import { LaneMemory } from '../../transactions/index.js';
import type { Grant } from '../domain/grant.js';

/** For so long an authority gives no nonces to its payloads, to get idle. Then its payloads go on, and it tries again later. */
const LONGEST_TURN_MS = 120_000;
/** For so long the payloads of an authority may get nonces after an authorization, before it signs the next one. */
const PAYLOADS_MS = 3_000;

/** Payloads and authorizations of a signer are never in flight together, so they take turns. In the memory of the owner. */
@Injectable()
export class AuthorizationTurns {
  /** Since when a wanted one has its turn, by its id. */
  private turns = new Map<string, number>();
  /** Until when payloads have their turn, by signer. */
  private readonly payloads = new Map<string, number>();
  /** Ids of those that were seen mined. */
  private mined = new Set<string>();

  constructor(
    private readonly memory: LaneMemory,
    private readonly clock: Clock,
  ) {}

  /** What is to be done of all that is there. Holds back the payloads of their authorities. */
  begin(all: readonly Grant[]): Grant[] {
    const now = this.clock.monotonicMs();
    for (const [key, until] of this.payloads) if (until <= now) this.payloads.delete(key);
    const due = all.filter((grant) => grant.stage !== 'wanted' || !this.payloads.has(signerKey(grant.signer)));
    const wanted = due.filter(({ stage }) => stage === 'wanted');
    this.turns = new Map(wanted.map(({ id }) => [id, this.turns.get(id) ?? now]));
    this.mined = new Set(all.filter(({ id }) => this.mined.has(id)).map(({ id }) => id));
    for (const { signer, stage } of due) if (stage === 'wanted' || stage === 'open') this.memory.holdBack(signer);
    return due.filter(({ stage }) => stage !== 'open');
  }

  /** A wanted one did not get its nonce for too long. */
  isOver({ id }: Grant): boolean {
    return this.clock.monotonicMs() - (this.turns.get(id) ?? Infinity) >= LONGEST_TURN_MS;
  }

  /** @returns whether this is the first time that it is seen mined */
  isFirstMined({ id, signer }: Grant): boolean {
    if (this.mined.has(id)) return false;
    this.mined.add(id);
    this.payloadsMayGo(signer);
    return true;
  }

  /** From now on its lane asks the database whether the authorization is still out. */
  signed(signer: SignerId): void {
    this.memory.kindsSeen(signer, this.memory.nextKind(signer), true);
  }

  /** The chain is asked before the next nonce is given out: one endpoint may have been behind. */
  payloadsMayGo(signer: SignerId): void {
    this.memory.letGo(signer);
    this.memory.distrustNonce(signer);
    this.payloads.set(signerKey(signer), this.clock.monotonicMs() + PAYLOADS_MS);
  }
}
