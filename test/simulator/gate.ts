/** What happens to a node at one of its next awaits. */
export type Mishap =
  /** As SIGSTOP: everything of the node stands still until it is resumed. */
  | 'pause'
  /** Only this one answer keeps away; the node's other work goes on. */
  | 'hang'
  /** As kill -9: nothing of the node happens any more. */
  | 'crash'
  /** The database or the RPC fails, before or after it did what was asked. */
  | 'fail';

export class NodeDied extends Error {
  constructor() {
    super('the node was killed');
  }
}

/** So many boundaries no work of a node passes before the next action of the script: some hundreds are usual. */
const ENDLESS = 3_000;

/** Every await of a node passes here, so that it can be held, killed or failed between any two statements. */
export class Gate {
  private plan: { mishap: Mishap; passes: number; place: string; also: string } | null = null;
  private dead = false;
  private stopped: Held | null = null;
  private readonly hanging: Held[] = [];
  /** What happened here, for the trace of a seed. */
  readonly happened: string[] = [];
  /** The failures that were thrown here. */
  readonly injected = new Set<unknown>();
  /** Statements and calls under way at this moment. */
  private inFlight = 0;
  private passed = 0;

  /**
   * @param onMishap is told of each that really happens
   * @param onEndless is told where a node was that did not stop to work by itself, and is killed for it
   */
  constructor(
    private readonly onMishap: (mishap: Mishap, place: string) => void = () => undefined,
    private readonly onEndless: (place: string) => void = () => undefined,
  ) {}

  get isDead(): boolean {
    return this.dead;
  }

  get isStopped(): boolean {
    return this.stopped !== null;
  }

  get isHeld(): boolean {
    return this.stopped !== null || this.hanging.length > 0;
  }

  /** Something was held once, and may come late. */
  get wasHeld(): boolean {
    return this.happened.some((mishap) => mishap.startsWith('pause') || mishap.startsWith('hang'));
  }

  /** Something is held, or may be soon. */
  get isUncertain(): boolean {
    return this.isHeld || this.plan !== null;
  }

  /** Held inside a transaction: others may have to wait for its locks. */
  get holdsLocks(): boolean {
    return [this.stopped, ...this.hanging].some((held) => held?.locked ?? false);
  }

  /** Something is held, and whatever else the node does waits for that: nothing more will come by itself. */
  get isStuck(): boolean {
    return this.isHeld && this.inFlight === 0;
  }

  /** The script goes on to its next action. */
  nextAction(): void {
    this.passed = 0;
  }

  /** Runs what goes to the database or the chain. */
  async during<T>(operation: () => Promise<T>): Promise<T> {
    this.inFlight += 1;
    try {
      return await operation();
    } finally {
      this.inFlight -= 1;
    }
  }

  /**
   * The mishap comes at the given await from now on.
   * @param place counts only awaits whose name has this in it, and this, too
   */
  arm(mishap: Mishap, passes: number, place = '', also = ''): void {
    if (!this.dead) this.plan = { mishap, passes, place, also };
  }

  disarm(): void {
    this.plan = null;
  }

  /** @param failure what `fail` throws here */
  async pass(place: string, locked: boolean, failure: () => Error): Promise<void> {
    await this.whileStopped(locked);
    this.count(place);
    const mishap = this.due(place);
    if (mishap === null) return;
    this.happened.push(`${mishap} at ${place}`);
    this.onMishap(mishap, place);
    if (mishap === 'fail') {
      const error = failure();
      this.injected.add(error);
      throw error;
    }
    if (mishap === 'crash') this.kill();
    else await this.hold(mishap, locked);
    await this.whileStopped(locked);
  }

  /** A boundary that is not awaited, so that a node can only die there. */
  passAtOnce(place: string): void {
    if (this.dead) throw new NodeDied();
    if (this.plan?.mishap !== 'crash') return;
    if (this.due(place) === null) return;
    this.happened.push(`crash at ${place}`);
    this.onMishap('crash', place);
    this.kill();
    throw new NodeDied();
  }

  resume(): void {
    const held = [this.stopped, ...this.hanging.splice(0)];
    this.stopped = null;
    for (const item of held) item?.release();
  }

  kill(): void {
    this.dead = true;
    this.plan = null;
    this.resume();
  }

  private count(place: string): void {
    this.passed += 1;
    if (this.passed <= ENDLESS) return;
    this.onEndless(place);
    this.kill();
    throw new NodeDied();
  }

  private due(place: string): Mishap | null {
    if (!this.plan || !place.includes(this.plan.place) || !place.includes(this.plan.also)) return null;
    this.plan.passes -= 1;
    if (this.plan.passes > 0) return null;
    const { mishap } = this.plan;
    this.plan = null;
    return mishap;
  }

  private async hold(mishap: 'pause' | 'hang', locked: boolean): Promise<void> {
    const held = new Held(locked);
    if (mishap === 'pause') this.stopped = held;
    else this.hanging.push(held);
    await this.standStill(held, locked);
  }

  private async whileStopped(locked: boolean): Promise<void> {
    while (this.stopped) await this.standStill(this.stopped, locked);
    if (this.dead) throw new NodeDied();
  }

  /** A transaction that stands still is an operation that is not under way. */
  private async standStill(held: Held, locked: boolean): Promise<void> {
    if (locked) {
      this.inFlight -= 1;
      if (this.stopped === held) held.locked = true;
    }
    await held.released;
    if (locked) this.inFlight += 1;
  }
}

class Held {
  release: () => void = () => undefined;
  readonly released: Promise<void>;

  constructor(public locked: boolean) {
    this.released = new Promise((resolve) => (this.release = resolve));
  }
}
