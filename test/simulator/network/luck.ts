import { Random } from '../random.js';

/**
 * Chance that depends on what is asked and how often, and not on what happens beside it: nodes that ask at once change nothing
 * for each other.
 */
export class Luck {
  private readonly asked = new Map<string, number>();

  constructor(private readonly seed: number) {}

  about(question: string): Random {
    const times = (this.asked.get(question) ?? 0) + 1;
    this.asked.set(question, times);
    let mixed = this.seed;
    for (const character of `${question} ${times}`) mixed = (Math.imul(mixed, 31) + character.charCodeAt(0)) | 0;
    return new Random(mixed);
  }
}
