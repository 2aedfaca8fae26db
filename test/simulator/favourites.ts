import type { Mishap } from './gate.js';
import { WEAK_SPOTS, type WeakSpot, type Write, WRITES } from './weak-spots.js';

/** One rare thing, which takes more than a throw of the dice. */
export type Favourite =
  | { readonly kind: 'mishap'; readonly mishap: Mishap; readonly spot: WeakSpot }
  | { readonly kind: 'unanswered write'; readonly write: Write }
  | { readonly kind: 'lost commit of a fill' }
  | { readonly kind: 'replace of what loses its nonce' };

const MISHAPS: readonly Mishap[] = ['pause', 'hang', 'crash', 'fail'];

/** Each takes several steps, of which any may come to nothing. */
const STORIES: readonly Favourite[] = [{ kind: 'lost commit of a fill' }, { kind: 'replace of what loses its nonce' }];
const OF_EACH_STORY = 12;

export const FAVOURITES: readonly Favourite[] = [
  ...MISHAPS.flatMap((mishap) => WEAK_SPOTS.map((spot): Favourite => ({ kind: 'mishap', mishap, spot }))),
  ...WRITES.map((write): Favourite => ({ kind: 'unanswered write', write })),
  ...Array.from({ length: OF_EACH_STORY }, () => STORIES).flat(),
];
