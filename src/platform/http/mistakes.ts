import type { Violation } from './problem-details.js';

/** A body can have a million mistakes, and clients do not need more than a page of them. */
export const MAX_MISTAKES = 50;
const MAX_ECHO_CHARS = 80;
const MAX_MESSAGE_CHARS = 300;

/** The first mistakes of a request. Who finds them stops when it is full: after the first one also when none may be told. */
export class Mistakes {
  readonly told: Violation[] = [];
  found = 0;

  constructor(private readonly most = MAX_MISTAKES) {}

  get isFull(): boolean {
    return this.found >= Math.max(1, this.most);
  }

  add(path: string, code: string, message: string): void {
    this.found += 1;
    if (this.told.length < this.most) this.told.push({ path, code, message: shorten(message, MAX_MESSAGE_CHARS) });
  }
}

/** A name of the client's, as an answer may repeat it. */
export function echo(name: string): string {
  return shorten(name, MAX_ECHO_CHARS);
}

function shorten(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max - 1)}…` : text;
}
