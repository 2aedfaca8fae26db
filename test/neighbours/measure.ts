import { messageOf } from '../../src/kernel/errors.js';
import type { SimDatabase } from '../simulator/sim-database.js';
import { actors, dueMs } from './items.js';
import { Neighbourhood } from './neighbourhood.js';
import type { Poison } from './poisoned-wire.js';
import type { Entry } from './register.js';

/** What the items of others cost until all are done. */
export interface Figures {
  readonly rounds: number;
  /** Round trips to the chain, or posts, that one of them was part of. */
  readonly calls: number;
  /** From the moment at which each was due to its end, all together. Seconds of virtual time. */
  readonly waitedS: number;
}

const MOST_ROUNDS = 200;

/** @param poison of the first actor, which has no items without it */
export async function measure(database: SimDatabase, entry: Entry, poison: Poison | null): Promise<Figures> {
  const lab = new Neighbourhood(database);
  lab.custody.isRemote = entry.of === 'custody';
  await lab.time.until(lab.open());
  if (!entry.begins) lab.begin();
  await entry.store(lab, actors(poison !== null));
  if (poison !== null && entry.of === 'database') lab.breakWrites(poison);
  if (poison !== null) await lab.poisonedWith(poison);
  return new Measurement(lab, entry).figures();
}

class Measurement {
  private readonly startMs: number;
  private readonly runs: Promise<void>[] = [];
  private waitedMs = 0;
  private done: Figures | null = null;

  constructor(
    private readonly lab: Neighbourhood,
    private readonly entry: Entry,
  ) {
    this.startMs = lab.time.monotonicMs();
    lab.passing = (ms) => this.passing(ms);
  }

  /** @throws when some items of others are never done */
  async figures(): Promise<Figures> {
    const { lab, entry } = this;
    await lab.time.until(this.work());
    lab.stop();
    await lab.time.until(Promise.all([...this.runs, lab.idle()]));
    if (this.done) return this.done;
    throw new Error(`${(await entry.left(lab)).length} items of others are left after ${MOST_ROUNDS} rounds`);
  }

  private async work(): Promise<void> {
    const { lab, entry } = this;
    while (this.done === null && this.runs.length < MOST_ROUNDS) {
      const failed = (error: unknown): void => lab.log.error('a round failed', { error: messageOf(error) });
      const run = entry.round(lab).catch(failed);
      this.runs.push(run);
      if (!entry.overlaps) await run;
      await lab.time.sleep(entry.everyMs);
    }
  }

  private async passing(ms: number): Promise<void> {
    if (this.done) return;
    const { lab, entry } = this;
    const left = await entry.left(lab);
    const thenMs = lab.time.monotonicMs() - this.startMs + ms;
    for (const item of left) this.waitedMs += Math.min(ms, Math.max(0, thenMs - (entry.atOnce ? 0 : dueMs(item))));
    const calls = lab.wire.ofOthers + lab.receivers.toOthers;
    if (left.length === 0) this.done = { rounds: this.runs.length, calls, waitedS: this.waitedMs / 1_000 };
  }
}
