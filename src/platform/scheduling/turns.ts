/** Actors in one statement: a list of thousands is walked in slices, so that each statement is bounded. */
const ACTORS_AT_ONCE = 500;

/** Reads at most `perActor` due items of each actor, the longest due first. */
export type ReadDue<Item> = (actors: readonly string[], perActor: number) => Promise<readonly Item[]>;

/**
 * Takes due work of many actors (signers, endpoints, accounts) in turn (docs/invariants.md, I15). Each actor gets an equal share of a page; what
 * some leave of theirs goes to the others. A page that has no room for all ends where the next one begins, so no actor waits for more pages
 * than there are actors per page.
 */
export class Turns<Item> {
  /** The actor at which the last page ended, by list. */
  private readonly endedAt = new Map<unknown, string>();

  /** @param page the most items of one call of {@link take} */
  constructor(
    private readonly page: number,
    private readonly actorOf: (item: Item) => string,
  ) {}

  /**
   * @param list what has turns of its own, such as a chain
   * @returns the first item of each actor, then the second of each, and so on
   */
  async take(list: unknown, actors: readonly string[], read: ReadDue<Item>): Promise<Item[]> {
    const shares: (readonly Item[])[] = [];
    const waiting = this.fromTurn(list, actors);
    for (let room = this.page; room > 0 && waiting.length > 0;) {
      const some = await this.share(waiting.splice(0, ACTORS_AT_ONCE), room, read);
      shares.push(...some);
      room -= some.reduce((sum, items) => sum + items.length, 0);
    }
    const taken = interleaved(shares).slice(0, this.page);
    // While others wait unread, all that were read have had their turn; else the next page gives what is left of it to others than this one.
    const last = waiting.length > 0 ? taken[Math.min(shares.length, taken.length) - 1] : taken.at(-1);
    if (last !== undefined) this.endedAt.set(list, this.actorOf(last));
    return taken;
  }

  /** All actors, beginning behind the one at which the last page ended. */
  private fromTurn(list: unknown, actors: readonly string[]): string[] {
    const sorted = [...actors].sort();
    const last = this.endedAt.get(list);
    const next = last === undefined ? 0 : sorted.findIndex((actor) => actor > last);
    return next <= 0 ? sorted : [...sorted.slice(next), ...sorted.slice(0, next)];
  }

  /** Up to `room` items in equal shares; with more actors than room, one of each. Without the actors that have none. */
  private async share(actors: readonly string[], room: number, read: ReadDue<Item>): Promise<Item[][]> {
    const shares = new Map<string, Item[]>(actors.map((actor) => [actor, []]));
    let hungry = actors;
    let perActor = 0;
    for (let left = room; left > 0 && hungry.length > 0;) {
      perActor += Math.max(1, Math.floor(left / hungry.length));
      for (const actor of hungry) shares.set(actor, []);
      for (const item of await read(hungry, perActor)) shares.get(this.actorOf(item))?.push(item);
      hungry = hungry.filter((actor) => (shares.get(actor)?.length ?? 0) >= perActor);
      left = room - [...shares.values()].reduce((sum, items) => sum + items.length, 0);
    }
    return [...shares.values()].filter((items) => items.length > 0);
  }
}

function interleaved<Item>(shares: readonly (readonly Item[])[]): Item[] {
  const longest = Math.max(0, ...shares.map((items) => items.length));
  return Array.from({ length: longest }, (_, turn) => shares.flatMap((items) => items.slice(turn, turn + 1))).flat();
}
