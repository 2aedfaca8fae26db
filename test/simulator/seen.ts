/** How often each feature of the simulated world was really exercised. */
export class Seen {
  private readonly counts = new Map<string, number>();

  note(name: string): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
  }

  /** Sorted by name. */
  entries(): [string, number][] {
    return [...this.counts].sort(([one], [other]) => (one < other ? -1 : 1));
  }
}
