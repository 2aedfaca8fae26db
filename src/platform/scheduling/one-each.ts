/** Runs one task of each actor at a time, and at most so many in all. Whoever comes meanwhile is told so, and does not wait. */
export class OneEach {
  private readonly running = new Set<string>();

  constructor(private readonly most: number) {}

  isRunning(actor: string): boolean {
    return this.running.has(actor);
  }

  /** @returns null when a task of the actor runs, or too many of others do */
  run<T>(actor: string, task: () => Promise<T>): Promise<T> | null {
    if (this.running.has(actor) || this.running.size >= this.most) return null;
    this.running.add(actor);
    return task().finally(() => this.running.delete(actor));
  }
}
