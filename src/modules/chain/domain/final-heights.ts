/** Up to which block transactions are final, as of one look at the chain. */
export interface FinalHeights {
  /** For a transaction that follows the chain's rule. */
  readonly byRule: number;
  /** With `n` confirmations of its own a transaction is final up to `head - n`... */
  readonly head: number;
  /** ...and never above this block. */
  readonly ceiling: number;
}

/** `required` further blocks lie on top. With 0 the head itself is final. */
export function byDepth(head: number, required: number): FinalHeights {
  return { byRule: head - required, head, ceiling: head };
}

/** At or below the block under the chain's tag. What lies above the head that was followed is not looked at yet. */
export function byTag(head: number, tagged: number): FinalHeights {
  const ceiling = Math.min(head, tagged);
  return { byRule: ceiling, head, ceiling };
}
