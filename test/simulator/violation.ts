/** An invariant (docs/invariants.md) that did not hold. */
export class Violation extends Error {
  constructor(
    readonly invariant: string,
    words: string,
  ) {
    super(`${invariant}: ${words}`);
    this.name = 'Violation';
  }
}
