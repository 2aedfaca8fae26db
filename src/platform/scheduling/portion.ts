/**
 * How many items one statement takes (docs/invariants.md, I15). After a failure the next one takes half as many: what is too slow as a whole is
 * not repeated as a whole. After each success it takes twice as many, up to `most`.
 */
export class Portion {
  private now: number;

  constructor(private readonly most: number) {
    this.now = most;
  }

  get size(): number {
    return this.now;
  }

  async take<T>(work: (size: number) => Promise<T>): Promise<T> {
    const size = this.now;
    try {
      const result = await work(size);
      this.now = Math.min(this.most, size * 2);
      return result;
    } catch (error) {
      this.now = Math.max(1, Math.floor(size / 2));
      throw error;
    }
  }
}
