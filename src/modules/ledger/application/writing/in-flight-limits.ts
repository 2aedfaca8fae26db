import { Injectable } from '@nestjs/common';
import { ExecutionConfig } from '../../../../config/lockstep-config.js';
import { backoffMs } from '../../../../kernel/backoff.js';
import { Clock } from '../../../../kernel/clock.js';
import { type ChainId, type Nonce, signerKey, type SignerId } from '../../../../kernel/signer-id.js';
import { ChainRules, HeadTracker } from '../../../chain/index.js';
import type { Lease } from '../../../signers/index.js';
import { InFlightWindow, type MinedOfSigner } from '../../domain/in-flight-window.js';
import { OfferedNonces } from '../../domain/offered-nonces.js';

/** That a pool had dropped some of a signer without a word. */
interface Dropped {
  /** Others of it were not sent again since. */
  others: boolean;
  /** Monotonic ms. */
  readonly resendAtMs: number;
  /** Of all of the signer, since something of it was mined. */
  resends: number;
}

interface Learnt {
  /** The token of the lease under which it was learnt; null until a lane step reads it. */
  token: bigint | null;
  window: InFlightWindow;
  readonly offered: OfferedNonces;
  /** Some txs of the signer were refused for a limit of the pool, and were not taken since. */
  someWait: boolean;
  /** There may be room since the last refusal. */
  mayHaveRoom: boolean;
  dropped: Dropped;
  /** A pool refused the lowest tx of the signer, and not because of how many it has of it. */
  lowestIsRefused: boolean;
}

/** What a pool takes at once of an account that delegates to a contract (EIP-7702): the contract may spend what pays for the others. */
const OF_DELEGATED = 1;

/**
 * Only another tx shows whether a pool that refuses the lowest one is full, or has something against it. Where one may be in flight, one that is
 * refused for ever would keep all others from being tried. Pools take no second one of an account that delegates.
 */
const BESIDE_REFUSED = 2;

/** Between the first two times that all of a signer is sent again; it grows until something is mined: some nodes take what they have as new each time. */
const FIRST_PAUSE_MS = 5_000;

/** A window above the start of which no block took anything for so long begins anew. */
const IDLE_MS = 60_000;

/**
 * How many txs of a signer may be in flight: as many as blocks and pools take ({@link InFlightWindow}), and one while its account delegates. Only in
 * the memory of the node that holds the lease, and only until the lease goes: the next owner learns it anew.
 */
@Injectable()
export class InFlightLimits {
  private readonly signers = new Map<string, Learnt>();
  /** Keys of signers whose accounts delegate. */
  private readonly delegated = new Set<string>();
  /** Keys of signers with a tx in flight that may begin or end a delegation; true when it left flight, and nobody looked since. */
  private readonly delegating = new Map<string, boolean>();
  /** Of each chain, the keys of signers whose windows are above the start. */
  private readonly grown = new Map<ChainId, Set<string>>();

  constructor(
    private readonly config: ExecutionConfig,
    private readonly rules: ChainRules,
    private readonly heads: HeadTracker,
    private readonly clock: Clock,
  ) {}

  /** The most txs that may be in flight. */
  ofLease({ signer, token }: Lease): number {
    const known = this.signers.get(signerKey(signer));
    if (known) known.token ??= token;
    if (known && known.token !== token) this.signers.delete(signerKey(signer));
    else if (known && this.isIdle(known)) known.window = new InFlightWindow(this.startOf(signer.chainId));
    return this.of(signer);
  }

  /** The same, for those who have no lease at hand. */
  of(signer: SignerId): number {
    if (this.isDelegated(signer)) return OF_DELEGATED;
    const known = this.signers.get(signerKey(signer));
    const learnt = Math.min(known?.window.limit ?? this.startOf(signer.chainId), this.shareOf(signer.chainId));
    return known?.lowestIsRefused === true
      ? Math.max(learnt, Math.min(BESIDE_REFUSED, this.config.maxInFlight))
      : learnt;
  }

  isDelegated(signer: SignerId): boolean {
    return this.delegated.has(signerKey(signer));
  }

  /** The code of its account was read. */
  seen(signer: SignerId, isDelegated: boolean): void {
    const key = signerKey(signer);
    if (isDelegated) this.delegated.add(key);
    else this.delegated.delete(key);
    if (this.mustLook(signer)) this.delegating.delete(key);
  }

  /** A tx that may begin or end a delegation of its signer gets a nonce. */
  delegates(signer: SignerId): void {
    this.delegating.set(signerKey(signer), false);
  }

  /** A tx with an authorization of the signer was mined. */
  mayHaveDelegated(signer: SignerId): void {
    this.delegating.set(signerKey(signer), true);
  }

  /** Whether the code of the account may have changed since it was read. */
  mustLook(signer: SignerId): boolean {
    return this.delegating.get(signerKey(signer)) === true;
  }

  /**
   * A pool refused a tx for one of its limits.
   * @param inPool txs of the signer that the pool has: those below the refused one. Null when this is not why it refused
   */
  refused(signer: SignerId, inPool: number | null): void {
    const known = this.known(signer);
    if (inPool !== null) known.window.refusedAbove(inPool);
    Object.assign(known, { token: null, someWait: true, mayHaveRoom: false, lowestIsRefused: inPool === null });
    this.note(signer, known);
  }

  /** A pool took a tx of the signer that it had taken before, and had dropped. */
  dropped(signer: SignerId): void {
    const known = this.known(signer);
    known.window.dropped();
    known.dropped.others = true;
    this.note(signer, known);
  }

  /** Whether a pool had dropped some, and what else it had of the signer, which is probably gone, too, may be sent again now. */
  mayResendDropped({ signer }: Lease): boolean {
    const dropped = this.signers.get(signerKey(signer))?.dropped;
    return dropped?.others === true && this.clock.monotonicMs() >= dropped.resendAtMs;
  }

  /** It is being sent again. */
  resendingDropped({ signer }: Lease): void {
    const known = this.signers.get(signerKey(signer));
    if (!known) return;
    const { resends } = known.dropped;
    const resendAtMs = this.clock.monotonicMs() + backoffMs(FIRST_PAUSE_MS, resends);
    known.dropped = { others: true, resendAtMs, resends: resends + 1 };
  }

  /** It was, and that a pool took it as new says nothing more. */
  resentDropped({ signer }: Lease): void {
    const known = this.signers.get(signerKey(signer));
    if (known) known.dropped.others = false;
  }

  /** A pool took txs of the signer, and refused none. @returns whether others wait for room */
  taken(signer: SignerId): boolean {
    const known = this.signers.get(signerKey(signer));
    if (known?.someWait) Object.assign(known, { mayHaveRoom: true, lowestIsRefused: false });
    return known?.someWait === true;
  }

  /** A pool took a tx of the signer, or may have. */
  sent(signer: SignerId, nonce: Nonce): void {
    this.signers.get(signerKey(signer))?.offered.sent(nonce, this.clock.monotonicMs());
  }

  /** Txs of the signer were mined. @param highest nonce of them */
  mined(signer: SignerId, highest: Nonce, what: Omit<MinedOfSigner, 'left'>): void {
    const known = this.known(signer);
    const left = known.offered.leftBy(what.block, highest, this.heads.lastWithout(signer.chainId, what.block));
    const atMost = Math.min(this.config.maxInFlight, this.shareWith(signer));
    known.dropped.resends = 0;
    known.window.mined({ ...what, left }, this.clock.monotonicMs(), atMost);
    this.note(signer, known);
  }

  /** Txs of these signers were mined, or gave up their nonces. One entry per signer. */
  madeRoom(signers: readonly SignerId[]): void {
    for (const signer of signers) {
      if (this.delegating.has(signerKey(signer))) this.delegating.set(signerKey(signer), true);
      const known = this.signers.get(signerKey(signer));
      if (known) known.mayHaveRoom = known.someWait;
    }
  }

  /** Nobody knows whether there is room. */
  mayHaveRoom(signers: readonly SignerId[]): void {
    for (const signer of signers) {
      const known = this.signers.get(signerKey(signer));
      if (known) Object.assign(known, { someWait: true, mayHaveRoom: true });
    }
  }

  /** Whether txs that a pool refused should be sent again now. */
  mayResend({ signer }: Lease): boolean {
    return this.signers.get(signerKey(signer))?.mayHaveRoom === true;
  }

  /** They are being sent again. @param someWait whether there were any */
  resending({ signer }: Lease, someWait: boolean): void {
    const known = this.signers.get(signerKey(signer));
    if (!known) return;
    Object.assign(known, { mayHaveRoom: false, someWait, lowestIsRefused: someWait && known.lowestIsRefused });
  }

  private startOf(chainId: ChainId): number {
    return Math.min(this.rules.inFlightStart(chainId), this.config.maxInFlight);
  }

  private known(signer: SignerId): Learnt {
    const key = signerKey(signer);
    const known = this.signers.get(key) ?? {
      token: null,
      window: new InFlightWindow(this.startOf(signer.chainId)),
      offered: new OfferedNonces(),
      someWait: false,
      mayHaveRoom: false,
      dropped: { others: false, resendAtMs: -Infinity, resends: 0 },
      lowestIsRefused: false,
    };
    this.signers.set(key, known);
    return known;
  }

  /** What a refusal taught stays. */
  private isIdle({ window }: Learnt): boolean {
    const { isGrown, lastMinedAtMs } = window;
    return isGrown && lastMinedAtMs !== null && this.clock.monotonicMs() - lastMinedAtMs > IDLE_MS;
  }

  private note({ chainId, address }: SignerId, { window }: Learnt): void {
    const key = signerKey({ chainId, address });
    const grown = this.grown.get(chainId) ?? new Set();
    if (window.isGrown) this.grown.set(chainId, grown.add(key));
    else grown.delete(key);
  }

  /** What the signer may grow to beside the others of its chain. Those that are idle give their shares back. */
  private shareWith(signer: SignerId): number {
    for (const key of this.grown.get(signer.chainId) ?? []) {
      const known = this.signers.get(key);
      if (!known || this.isIdle(known)) this.grown.get(signer.chainId)?.delete(key);
    }
    const isNew = !this.grown.get(signer.chainId)?.has(signerKey(signer));
    return this.shareOf(signer.chainId, isNew ? 1 : 0);
  }

  /** What a chain takes in equal parts, and never less than every signer begins with. */
  private shareOf(chainId: ChainId, more = 0): number {
    const signers = (this.grown.get(chainId)?.size ?? 0) + more;
    const ofChain = Math.max(this.config.maxInFlightOfChain, this.config.maxInFlight);
    return Math.max(this.startOf(chainId), Math.floor(ofChain / Math.max(1, signers)));
  }
}
