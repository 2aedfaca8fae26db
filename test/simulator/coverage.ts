import { type Item, TOO_SELDOM } from './coverage-list.js';

/** What was noted in all seeds together. */
export class Coverage {
  private readonly counts = new Map<string, number>();

  constructor(private readonly list: readonly Item[]) {}

  add(seen: readonly (readonly [string, number])[]): void {
    for (const [name, times] of seen) this.counts.set(name, this.timesOf(name) + times);
  }

  /** What must happen, and never did. */
  missing(): string[] {
    return this.list.flatMap(({ name, notSimulated }) =>
      notSimulated === null && this.timesOf(name) === 0 ? [name] : [],
    );
  }

  /** What the list excuses although it does happen: its reason is not true. */
  excusedInVain(): string[] {
    return this.list.flatMap(({ name, notSimulated }) =>
      notSimulated !== null && notSimulated !== TOO_SELDOM && this.timesOf(name) > 0 ? [name] : [],
    );
  }

  /** A line for each name: how often it happened, or why it cannot. What was noted and is not on the list comes last. */
  table(): string[] {
    const names = new Set(this.list.map(({ name }) => name));
    const rest = [...this.counts.keys()].filter((name) => !names.has(name)).sort();
    return [
      ...this.list.map(({ name, notSimulated }) => `${this.column(name)}  ${name}${why(notSimulated)}`),
      ...rest.map((name) => `${this.column(name)}  ${name} (not on the list)`),
    ];
  }

  private timesOf(name: string): number {
    return this.counts.get(name) ?? 0;
  }

  private column(name: string): string {
    return String(this.timesOf(name)).padStart(7);
  }
}

function why(notSimulated: string | null): string {
  return notSimulated === null ? '' : ` (not simulated: ${notSimulated})`;
}
