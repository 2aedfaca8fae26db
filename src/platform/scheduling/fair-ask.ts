import type { Clock } from '../../kernel/clock.js';
import { groupBy } from '../../kernel/group-by.js';
import { answeredWithin, type Pause } from './pause.js';

/** Whoever asks holds what others wait for (a worker, a round): it waits this long for an answer, */
const LONGEST_WAIT_MS = 2_000;
/** and this long for an actor that had no answer in time before. */
const SILENT_WAIT_MS = 250;
/** After a late answer the items of an actor share no batch with those of others. */
const APART_MS = 60_000;
/** A later answer is asked for again. */
const KEPT_MS = 120_000;

interface Items<Item> {
  /** Whose item it is. */
  readonly actorOf: (item: Item) => string;
  /** Names an item, also in a later call. */
  readonly keyOf: (item: Item) => string;
  readonly batches: (items: readonly Item[]) => readonly (readonly Item[])[];
}

/**
 * @param items in a batch
 * @returns answers in the order of the items
 */
type Ask<Item, Answer> = (items: readonly Item[]) => Promise<readonly Answer[]>;

/** What is known about one item. */
export type Told<Item, Answer> =
  /** `again`: it was asked before, and that question may still arrive. */
  | { readonly kind: 'answered'; readonly item: Item; readonly answer: Answer; readonly again: boolean }
  /** Asked, and nobody waits any more. */
  | { readonly kind: 'unanswered'; readonly item: Item }
  /** Not asked: an earlier item of the same actor has no answer yet. */
  | { readonly kind: 'held_back'; readonly item: Item };

/**
 * Asks about items of many actors so that no actor waits for the answers to another one's (docs/invariants.md, I15, F2 and F3). A batch
 * without an answer is asked again actor by actor. A later answer is kept, and stands for the next question about the same item. Until it
 * comes, nothing else is asked for its actor.
 */
export class FairAsk<Item, Answer> {
  /** What nobody waits for any more, by actor. */
  private readonly inAir = new Map<string, Promise<unknown>>();
  /** Until when; by actor. */
  private readonly apart = new Map<string, number>();
  private readonly late = new Map<string, { readonly answer: Answer; readonly atMs: number }>();

  constructor(
    private readonly items: Items<Item>,
    private readonly clock: Clock,
    private readonly pause: Pause,
  ) {}

  /** @throws what `ask` throws while somebody waits */
  async execute(items: readonly Item[], ask: Ask<Item, Answer>): Promise<Told<Item, Answer>[]> {
    this.forgetOld();
    const told: Told<Item, Answer>[] = [];
    const apart: Item[] = [];
    const together: Item[] = [];
    for (const item of items) {
      const actor = this.items.actorOf(item);
      const late = this.late.get(this.items.keyOf(item));
      if (late) told.push({ kind: 'answered', item, answer: late.answer, again: true });
      else if (this.inAir.has(actor)) told.push({ kind: 'held_back', item });
      else (this.apart.has(actor) ? apart : together).push(item);
    }
    for (const { item } of told) this.late.delete(this.items.keyOf(item));
    const asked = await Promise.all([
      ...this.items.batches(together).map((batch) => this.shared(batch, ask)),
      ...this.byActor(apart).map((own) => this.own(own, ask, SILENT_WAIT_MS)),
    ]);
    return [...told, ...asked.flat()];
  }

  private async shared(batch: readonly Item[], ask: Ask<Item, Answer>): Promise<Told<Item, Answer>[]> {
    const actors = this.byActor(batch);
    if (actors.length === 1) return this.own(batch, ask, LONGEST_WAIT_MS);
    const answers = await answeredWithin(this.pause, LONGEST_WAIT_MS, ask(batch));
    if (answers) return paired(batch, answers, false);
    return (await Promise.all(actors.map((own) => this.own(own, ask, LONGEST_WAIT_MS, true)))).flat();
  }

  /** @param own items of one actor */
  private async own(
    own: readonly Item[],
    ask: Ask<Item, Answer>,
    waitMs: number,
    again = false,
  ): Promise<Told<Item, Answer>[]> {
    const asked = ask(own);
    const answers = await answeredWithin(this.pause, waitMs, asked);
    if (answers) return paired(own, answers, again);
    this.keepLate(own, asked);
    return own.map((item) => ({ kind: 'unanswered', item }));
  }

  private keepLate(own: readonly Item[], answers: Promise<readonly Answer[]>): void {
    const kept = answers.then(
      (given) => {
        const atMs = this.clock.monotonicMs();
        for (const told of paired(own, given, true))
          if (told.kind === 'answered') this.late.set(this.items.keyOf(told.item), { answer: told.answer, atMs });
      },
      () => undefined,
    );
    for (const actor of new Set(own.map(this.items.actorOf))) {
      this.apart.set(actor, this.clock.monotonicMs() + APART_MS);
      const all = Promise.all([this.inAir.get(actor), kept]);
      this.inAir.set(actor, all);
      void all.then(() => {
        if (this.inAir.get(actor) === all) this.inAir.delete(actor);
      });
    }
  }

  private byActor(items: readonly Item[]): Item[][] {
    return [...groupBy(items, this.items.actorOf).values()];
  }

  private forgetOld(): void {
    const nowMs = this.clock.monotonicMs();
    for (const [actor, untilMs] of this.apart) if (untilMs <= nowMs) this.apart.delete(actor);
    for (const [key, { atMs }] of this.late) if (nowMs - atMs > KEPT_MS) this.late.delete(key);
  }
}

/** Without the items that have no answer. */
function paired<Item, Answer>(
  items: readonly Item[],
  answers: readonly Answer[],
  again: boolean,
): Told<Item, Answer>[] {
  return items.flatMap((item, i) => {
    const answer = answers[i];
    return answer === undefined ? [] : [{ kind: 'answered', item, answer, again }];
  });
}
