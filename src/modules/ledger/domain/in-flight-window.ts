/** What a block, or several, took of what was in flight when the first of them was recorded. */
interface Round {
  readonly startedAtMs: number;
  readonly inFlight: number;
  lastBlock: number;
  taken: number;
  /** By the last block. */
  left: number;
  grew: boolean;
}

/** Txs of a signer that were mined in one block. */
export interface MinedOfSigner {
  readonly block: number;
  readonly count: number;
  /** How many of the signer were in flight before; null when nobody has counted. */
  readonly inFlight: number | null;
  /** How many of the signer the block left although a pool had them in time ({@link OfferedNonces}). */
  readonly left: number;
}

/** Of what was in flight: so much must be mined for the window to grow, and under so much it shrinks. */
const GROWS_FROM = 0.9;
const SHRINKS_BELOW = 0.5;
/** A round is at least so long, or until all is mined: with blocks of 250 ms a tx is mined some blocks after it was sent. */
const ROUND_MS = 1_000;
/** Of what was in flight. While blocks leave no more, the rest was not sent in time for them: a slow node says nothing about the chain. */
const LEFT_UNTAKEN = 0.1;
/** After so many rounds in a row that only added one, it doubles again: what was refused or dropped is long ago. */
const CALM_ROUNDS = 16;

/**
 * How many txs of one signer may be in flight, learnt as TCP learns its congestion window (RFC 5681): it doubles with each round while the chain
 * takes nearly all, and halves when the chain takes little or a pool drops some. After a refusal it is what the pool had, and from there it grows
 * by one with each round.
 */
export class InFlightWindow {
  private size: number;
  private threshold = Infinity;
  private round: Round | null = null;
  private calmRounds = 0;
  /** Txs that must be mined before another drop counts: they were sent before the window shrank. */
  private settling = 0;
  private minedAtMs: number | null = null;

  /** @param start in transactions. A block that takes little shrinks it no further */
  constructor(private readonly start: number) {
    this.size = start;
  }

  get limit(): number {
    return this.size;
  }

  /** Whether it is above its start. */
  get isGrown(): boolean {
    return this.size > this.start;
  }

  /** Monotonic ms of the last record of a block with txs of the signer; null before the first. */
  get lastMinedAtMs(): number | null {
    return this.minedAtMs;
  }

  /** @param atMost the most that it may grow to now */
  mined({ block, count, inFlight, left }: MinedOfSigner, atMs: number, atMost: number): void {
    this.minedAtMs = atMs;
    this.settling = Math.max(0, this.settling - count);
    // What is beyond the window waits for a pool.
    const round = this.roundOf(block, Math.min(inFlight ?? 0, this.size), atMs);
    round.taken += count;
    round.left = left;
    const isFull = round.inFlight >= GROWS_FROM * this.size;
    if (round.grew || !isFull || round.taken < GROWS_FROM * round.inFlight) return;
    round.grew = true;
    this.grow(atMost);
  }

  /** A pool refused more than so many of the signer. */
  refusedAbove(inPool: number): void {
    this.shrinkTo(inPool);
  }

  /** A pool took a tx again that it had taken before: it had dropped it without a word. */
  dropped(): void {
    if (this.settling > 0) return;
    this.settling = this.size;
    this.shrinkTo(Math.floor(this.size / 2));
  }

  private roundOf(block: number, inFlight: number, atMs: number): Round {
    const { round } = this;
    if (round && (block <= round.lastBlock || !isOver(round, atMs))) {
      round.lastBlock = Math.max(round.lastBlock, block);
      return round;
    }
    if (round) this.end(round);
    this.round = { startedAtMs: atMs, inFlight, lastBlock: block, taken: 0, left: 0, grew: false };
    return this.round;
  }

  /** A window that was not in use says nothing about what the chain takes. */
  private end({ taken, inFlight }: Round): void {
    const half = Math.floor(this.size / 2);
    if (inFlight >= half && taken < SHRINKS_BELOW * inFlight && this.isGrown) this.shrinkTo(Math.max(this.start, half));
  }

  private grow(atMost: number): void {
    if (this.size >= this.threshold) this.calmRounds += 1;
    if (this.calmRounds >= CALM_ROUNDS) this.threshold = Infinity;
    const next = this.size >= this.threshold ? this.size + 1 : Math.min(this.size * 2, this.threshold);
    this.size = Math.max(this.size, Math.min(next, atMost));
  }

  private shrinkTo(size: number): void {
    this.size = Math.max(1, size);
    this.threshold = this.size;
    this.calmRounds = 0;
  }
}

function isOver({ startedAtMs, inFlight, taken, left, grew }: Round, atMs: number): boolean {
  return taken >= inFlight || (atMs - startedAtMs >= ROUND_MS && (grew || left > LEFT_UNTAKEN * inFlight));
}
