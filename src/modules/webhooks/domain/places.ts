/** How many posts this node makes to each endpoint now, and which endpoints have asked it to wait. */
export class Places {
  private readonly busy = new Map<string, number>();
  private readonly resting = new Map<string, number>();

  constructor(private readonly most: number) {}

  /** Of all endpoints together. */
  get total(): number {
    let sum = 0;
    for (const count of this.busy.values()) sum += count;
    return sum;
  }

  take(endpointId: string): void {
    this.busy.set(endpointId, (this.busy.get(endpointId) ?? 0) + 1);
  }

  leave(endpointId: string): void {
    const left = (this.busy.get(endpointId) ?? 0) - 1;
    if (left > 0) this.busy.set(endpointId, left);
    else this.busy.delete(endpointId);
  }

  /** Until then the endpoint has no free place. Milliseconds of any clock that does not go back. */
  rest(endpointId: string, untilMs: number): void {
    this.resting.set(endpointId, Math.max(untilMs, this.resting.get(endpointId) ?? 0));
  }

  /** By endpoint; of one that rests, all. */
  taken(nowMs: number): ReadonlyMap<string, number> {
    const taken = new Map(this.busy);
    for (const [endpointId, untilMs] of this.resting) {
      if (untilMs > nowMs) taken.set(endpointId, this.most);
      else this.resting.delete(endpointId);
    }
    return taken;
  }
}
