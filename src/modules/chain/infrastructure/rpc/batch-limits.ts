/** One call as it goes over the wire. */
export interface EncodedCall {
  readonly id: number;
  readonly text: string;
}

export interface BatchSize {
  readonly calls: number;
  readonly bytes: number;
}

/** Batches as large as the limit allows after which twice as much is tried again: limits change, and a proxy may err once. */
const TAKEN_TO_GROW = 1_000;

/** How much one endpoint takes in one request: what the config says, or less where the endpoint refused that. */
export class BatchLimits {
  private calls: number;
  private bytes: number;
  private taken = 0;

  constructor(private readonly most: BatchSize) {
    this.calls = Math.max(1, most.calls);
    this.bytes = most.bytes;
  }

  /** In their order. A call that is larger than the limit goes by itself. */
  slices(calls: readonly EncodedCall[]): EncodedCall[][] {
    const slices: EncodedCall[][] = [];
    let bytes = 0;
    for (const call of calls) {
      const slice = slices.at(-1);
      const isFull = slice === undefined || slice.length >= this.calls || bytes + call.text.length > this.bytes;
      if (isFull) slices.push([call]);
      else slice.push(call);
      bytes = call.text.length + (isFull ? 0 : bytes);
    }
    return slices;
  }

  /** Half of it goes next time. @param isForBytes what is too much is surely not the number of calls */
  refused(batch: readonly EncodedCall[], isForBytes: boolean): void {
    this.taken = 0;
    if (isForBytes) this.bytes = Math.min(this.bytes, Math.ceil(bytesOf(batch) / 2));
    else this.calls = Math.min(this.calls, Math.ceil(batch.length / 2));
  }

  accepted(batch: readonly EncodedCall[]): void {
    const isFull = batch.length === this.calls || bytesOf(batch) > this.bytes / 2;
    if (!isFull || !this.isLowered || ++this.taken < TAKEN_TO_GROW) return;
    this.taken = 0;
    this.calls = Math.min(this.most.calls, this.calls * 2);
    this.bytes = Math.min(this.most.bytes, this.bytes * 2);
  }

  private get isLowered(): boolean {
    return this.calls < this.most.calls || this.bytes < this.most.bytes;
  }
}

function bytesOf(batch: readonly EncodedCall[]): number {
  return batch.reduce((sum, { text }) => sum + text.length, 0);
}
