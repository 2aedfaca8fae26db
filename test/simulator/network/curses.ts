import type { NodeWords } from './refusal-texts.js';

/** When nodes begin to refuse a payload. */
export type CurseStart = 'at once' | 'after a time-out' | 'after it was accepted' | 'after it was kept';

/** A payload that nodes refuse although nothing is wrong with its nonce. */
export interface Curse {
  readonly words: NodeWords;
  readonly start: CurseStart;
  /** Refusals by each node before it takes it; Infinity for ever. */
  readonly times: number;
  /** The one endpoint with this policy; null: all of them. */
  readonly only: number | null;
}

/** What a node does with a transaction that is sent to it. */
export type Verdict =
  | { readonly kind: 'take' }
  | { readonly kind: 'no answer' }
  | { readonly kind: 'forget' }
  | {
      readonly kind: 'refuse';
      readonly words: NodeWords;
    };

const TAKE: Verdict = { kind: 'take' };

/** The payloads that nodes do not want, by calldata: other fees change nothing. */
export class Curses {
  private readonly curses = new Map<string, Curse>();
  private readonly all = new Map<string, Curse>();
  /** Sends of a payload that an endpoint saw. */
  private readonly seen = new Map<string, number>();
  /** Refusals of a payload in a row while no other endpoint could be reached. */
  private readonly alone = new Map<string, number>();

  add(data: string, curse: Curse): void {
    this.curses.set(data, curse);
    this.all.set(data, curse);
  }

  /** Also one that was lifted since. */
  past(data: string): Curse | null {
    return this.all.get(data) ?? null;
  }

  /** Nobody is going to take it, ever. */
  isHopeless(data: string): boolean {
    const curse = this.curses.get(data);
    return curse?.only === null && curse.times === Infinity;
  }

  /** Pools that kept it at first do not for long. */
  isEvicted(data: string): boolean {
    return this.curses.get(data)?.start === 'after it was kept';
  }

  /** What ends by itself has ended. */
  lift(): void {
    for (const [data, { times }] of this.curses) if (times !== Infinity) this.curses.delete(data);
  }

  /** Whether a node keeps what another one tells it. */
  accepts(endpoint: number, data: string): boolean {
    const curse = this.bearsOn(endpoint, data);
    return curse === null || this.refusals(endpoint, data, curse) >= curse.times;
  }

  refusalsByOneAlone(data: string): number {
    return this.alone.get(data) ?? 0;
  }

  /** @param isAlone whether no other endpoint can be reached */
  sent(endpoint: number, data: string, isAlone: boolean): Verdict {
    const curse = this.bearsOn(endpoint, data);
    if (curse === null || !isAlone) this.alone.delete(data);
    if (curse === null) return TAKE;
    const key = `${endpoint} ${data}`;
    const before = this.seen.get(key) ?? 0;
    const verdict = this.verdict(endpoint, data, curse, before);
    this.seen.set(key, before + 1);
    if (isAlone && verdict.kind === 'refuse') this.alone.set(data, this.refusalsByOneAlone(data) + 1);
    return verdict;
  }

  private verdict(endpoint: number, data: string, curse: Curse, before: number): Verdict {
    if (before === 0 && curse.start === 'after a time-out') return { kind: 'no answer' };
    if (before === 0 && curse.start === 'after it was accepted') return { kind: 'forget' };
    if (before === 0 && curse.start === 'after it was kept') return TAKE;
    return this.refusals(endpoint, data, curse) >= curse.times ? TAKE : { kind: 'refuse', words: curse.words };
  }

  private refusals(endpoint: number, data: string, { start }: Curse): number {
    return (this.seen.get(`${endpoint} ${data}`) ?? 0) - (start === 'at once' ? 0 : 1);
  }

  private bearsOn(endpoint: number, data: string): Curse | null {
    const curse = this.curses.get(data);
    return curse && (curse.only ?? endpoint) === endpoint ? curse : null;
  }
}
