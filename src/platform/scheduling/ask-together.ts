import { setImmediate as nextTurn } from 'node:timers/promises';
import { InvariantViolation } from '../../kernel/errors.js';

/** Items of one question. */
const MOST_ITEMS = 1_000;

/** Asks once for all that is wanted in one turn of the event loop, and while the question before is under way: a flood makes few questions. */
export class AskTogether<Item, Answer = boolean> {
  private open: Question<Item, Answer> | null = null;
  private last: Promise<unknown> = Promise.resolve();

  /** @param ask answers in the order of the items */
  constructor(private readonly ask: (items: readonly Item[]) => Promise<readonly Answer[]>) {}

  async of(item: Item): Promise<Answer> {
    if (this.open === null || this.open.items.length >= MOST_ITEMS) this.open = this.begin();
    const { items, answer } = this.open;
    const place = items.push(item) - 1;
    const answers = await answer;
    if (place >= answers.length) throw new InvariantViolation('a question had fewer answers than items');
    return answers[place] as Answer;
  }

  private begin(): Question<Item, Answer> {
    const items: Item[] = [];
    const answer = Promise.all([nextTurn(), this.last]).then(() => {
      if (this.open?.items === items) this.open = null;
      return this.ask(items);
    });
    // The next question is asked after a failure, too.
    this.last = answer.catch(() => null);
    return { items, answer };
  }
}

interface Question<Item, Answer> {
  readonly items: Item[];
  readonly answer: Promise<readonly Answer[]>;
}
