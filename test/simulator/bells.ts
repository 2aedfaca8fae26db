import type { SignerId } from '../../src/kernel/signer-id.js';
import type { Random } from './random.js';
import type { Seen } from './seen.js';
import type { SimNode } from './sim-node.js';

export type Fate = 'heard' | 'lost' | 'late' | 'doubled';

const FATES: readonly { readonly weight: number; readonly value: Fate }[] = [
  { weight: 60, value: 'heard' },
  { weight: 15, value: 'lost' },
  { weight: 15, value: 'late' },
  { weight: 10, value: 'doubled' },
];

interface Bell {
  readonly by: string;
  readonly signers: readonly SignerId[];
}

/** What one node is about to hear. */
interface Sound {
  readonly node: SimNode;
  readonly signers: readonly SignerId[];
}

/** Bells on their way between nodes: only speed may depend on what becomes of them. */
export class Bells {
  private readonly rung: Bell[] = [];
  private late: Sound[] = [];
  /** Every bell is heard at once. */
  reliable = false;

  constructor(
    private readonly random: Random,
    private readonly seen: Seen,
  ) {}

  ring(by: string, signers: readonly SignerId[]): void {
    if (signers.length > 0) this.rung.push({ by, signers });
  }

  /** What is heard now, and by whom, in this order. */
  take(awake: readonly SimNode[]): Sound[] {
    const sounds = this.late.filter(({ node }) => awake.includes(node));
    this.late = [];
    for (const { by, signers } of this.rung.splice(0))
      for (const node of awake) sounds.push(...this.reach({ node, signers }, node.id === by));
    return sounds;
  }

  /** @param own a node needs no database to hear its own bell */
  private reach(sound: Sound, own: boolean): Sound[] {
    if (own || this.reliable) return [sound];
    const fate = this.random.weighted(FATES);
    this.seen.note(`bell ${fate}`);
    switch (fate) {
      case 'heard':
        return [sound];
      case 'doubled':
        return [sound, sound];
      case 'late':
        this.late.push(sound);
        return [];
      case 'lost':
        return [];
    }
  }
}
