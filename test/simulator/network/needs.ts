/** Payloads whose call reverts until another one is mined, as a swap does before its approval; and those that always revert. */
export class Needs {
  private readonly needed = new Map<string, string | null>();

  /** @param first calldata that must be mined before; null: nothing helps */
  add(data: string, first: string | null): void {
    this.needed.set(data, first);
  }

  of(data: string): string | null | undefined {
    return this.needed.get(data);
  }

  reverts(data: string, isMined: (needed: string) => boolean): boolean {
    const needed = this.needed.get(data);
    return needed !== undefined && (needed === null || !isMined(needed));
  }
}
