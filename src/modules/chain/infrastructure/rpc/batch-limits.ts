/** One call as it goes over the wire. */
export interface EncodedCall {
  readonly id: number;
  readonly text: string;
}

export interface BatchSize {
  readonly calls: number;
  readonly bytes: number;
}

/** Full batches that were accepted before a lowered limit is doubled: limits change, and a proxy may refuse by mistake. */
const FULL_BATCHES_TO_GROW = 1_000;

/** The same for a limit that was lowered because a batch got no answer: the call that spoiled it may be gone. */
const FULL_BATCHES_AFTER_SILENCE = 32;

/** Of an endpoint that limits the rate, and not the size, a single call is as likely to be refused as a batch. */
const LIMITED_BATCHES = 3;
const SINGLES_MEANWHILE = 3;

/** What became of single calls of an endpoint, whatever their methods. */
export class SingleCalls {
  taken = 0;
  /** For their rate. */
  limited = 0;
}

/** The largest batch for one endpoint: as configured, or smaller after the endpoint refused a batch or did not answer it. */
export class BatchLimits {
  private calls: number;
  private bytes: number;
  private fullBatches = 0;
  private fullBatchesToGrow = FULL_BATCHES_TO_GROW;
  private turn = 0;
  /** Batches in a row that were refused for the rate, and what became of single calls before the first of them. */
  private limitedBatches = 0;
  private singlesBefore: Readonly<Pick<SingleCalls, 'taken' | 'limited'>> = new SingleCalls();

  constructor(
    private readonly most: BatchSize,
    private readonly singles = new SingleCalls(),
  ) {
    this.calls = Math.max(1, most.calls);
    this.bytes = most.bytes;
  }

  /**
   * A call that is larger than the limit is a slice of its own.
   * @param isInTurn another slice comes first each time: those at the front may use up the patience for all. Else in the given order
   */
  slices(calls: readonly EncodedCall[], isInTurn = false): EncodedCall[][] {
    const slices: EncodedCall[][] = [];
    let bytes = 0;
    for (const call of calls) {
      const slice = slices.at(-1);
      const isFull = slice === undefined || slice.length >= this.calls || bytes + call.text.length > this.bytes;
      if (isFull) slices.push([call]);
      else slice.push(call);
      bytes = call.text.length + (isFull ? 0 : bytes);
    }
    const first = isInTurn && this.isLowered ? this.turn++ % Math.max(1, slices.length) : 0;
    return [...slices.slice(first), ...slices.slice(0, first)];
  }

  /** Halves the limit. @param isForBytes the endpoint refused the batch for its bytes, not for its number of calls */
  refused(batch: readonly EncodedCall[], isForBytes: boolean): void {
    this.fullBatches = 0;
    this.fullBatchesToGrow = FULL_BATCHES_TO_GROW;
    if (isForBytes) this.bytes = Math.min(this.bytes, Math.ceil(bytesOf(batch) / 2));
    else this.calls = Math.min(this.calls, Math.ceil(batch.length / 2));
  }

  /** Halves the number of calls. */
  silent(batch: readonly EncodedCall[]): void {
    this.refused(batch, false);
    this.fullBatchesToGrow = FULL_BATCHES_AFTER_SILENCE;
  }

  /**
   * Refused for the rate: HTTP 429 or an error with this meaning. It is about the size only where single calls are taken meanwhile, each of them
   * (docs/invariants.md, K9): else smaller batches would be more requests, and more refusals.
   */
  limited(batch: readonly EncodedCall[]): void {
    if (batch.length === 1) {
      this.singles.limited += 1;
      return;
    }
    const { taken, limited } = this.singles;
    if (this.limitedBatches === 0 || limited !== this.singlesBefore.limited) {
      this.limitedBatches = 0;
      this.singlesBefore = { taken, limited };
    }
    this.limitedBatches += 1;
    if (this.limitedBatches < LIMITED_BATCHES || taken - this.singlesBefore.taken < SINGLES_MEANWHILE) return;
    this.limitedBatches = 0;
    this.refused(batch, false);
  }

  accepted(batch: readonly EncodedCall[]): void {
    if (batch.length === 1) this.singles.taken += 1;
    else this.limitedBatches = 0;
    const isFull = batch.length === this.calls || bytesOf(batch) > this.bytes / 2;
    if (!isFull || !this.isLowered || ++this.fullBatches < this.fullBatchesToGrow) return;
    this.fullBatches = 0;
    this.calls = Math.min(this.most.calls, this.calls * 2);
    this.bytes = Math.min(this.most.bytes, this.bytes * 2);
  }

  get takesSeveral(): boolean {
    return this.calls > 1;
  }

  get isLowered(): boolean {
    return this.calls < this.most.calls || this.bytes < this.most.bytes;
  }
}

function bytesOf(batch: readonly EncodedCall[]): number {
  return batch.reduce((sum, { text }) => sum + text.length, 0);
}
