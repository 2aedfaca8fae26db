import { setImmediate as nextTurn } from 'node:timers/promises';

/** Asks once for all that is wanted in one turn of the event loop, and while the question before is under way: a flood makes few questions. */
export class AskTogether<Item> {
  private open: Question<Item> | null = null;
  private last: Promise<unknown> = Promise.resolve();

  /** @param ask answers in the order of the items */
  constructor(private readonly ask: (items: readonly Item[]) => Promise<readonly boolean[]>) {}

  async of(item: Item): Promise<boolean> {
    const { items, answer } = (this.open ??= this.begin());
    const place = items.push(item) - 1;
    return (await answer)[place] === true;
  }

  private begin(): Question<Item> {
    const items: Item[] = [];
    const answer = Promise.all([nextTurn(), this.last]).then(() => {
      this.open = null;
      return this.ask(items);
    });
    // The next question is asked after a failure, too.
    this.last = answer.catch(() => null);
    return { items, answer };
  }
}

interface Question<Item> {
  readonly items: Item[];
  readonly answer: Promise<readonly boolean[]>;
}
