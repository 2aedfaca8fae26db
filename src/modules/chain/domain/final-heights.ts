/** Up to which block transactions are final, as of one head. */
export interface FinalHeights {
  /** For a transaction without confirmations of its own. */
  readonly byRule: number;
  /** With `n` confirmations of its own a transaction is final up to `head - n`... */
  readonly head: number;
  /** ...and never above this block. */
  readonly ceiling: number;
}

/** Final with `required` blocks on top. With 0 the head itself is final. */
export function byDepth(head: number, required: number): FinalHeights {
  return { byRule: head - required, head, ceiling: head };
}

/** Final at or below the block under the tag, and never above the followed head. */
export function byTag(head: number, tagged: number): FinalHeights {
  const ceiling = Math.min(head, tagged);
  return { byRule: ceiling, head, ceiling };
}
