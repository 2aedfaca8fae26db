import type { LieKind } from './network/view.js';
import type { Wire } from './node-chains.js';
import type { Play } from './play.js';
import type { Sabotage } from './sim-node.js';

/** What the product is protected by, taken away: a simulator that does not notice proves nothing. */
export interface PlantedBug {
  readonly name: string;
  readonly sabotage?: Sabotage;
  readonly wire?: Wire;
  /** Looked for where one of three endpoints tells this lie. */
  readonly focus?: LieKind;
  /** How the nodes live together where it is looked for. */
  readonly play?: Play;
  /** The seed that found it last, to save the time of those before; nothing but time depends on it. */
  readonly from?: number;
  /** What it leads to. */
  readonly shows: RegExp;
  /** What goes from the schema with it, and how it comes back. */
  readonly schema?: { readonly break: string; readonly mend: string };
}
