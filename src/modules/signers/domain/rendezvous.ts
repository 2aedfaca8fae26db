/**
 * Rendezvous (highest random weight) hashing: every node computes the same preferred node for a signer without communication. When a node
 * joins or leaves, only the signers that it gains or had change their node.
 */
export function preferredNode(signer: string, nodes: readonly string[]): string | null {
  let best: { readonly node: string; readonly weight: number } | null = null;
  for (const node of nodes) {
    const weight = hash(`${node}|${signer}`);
    if (best === null || weight > best.weight || (weight === best.weight && node < best.node)) best = { node, weight };
  }
  return best?.node ?? null;
}

/** FNV-1a with the final mixing of MurmurHash3: FNV alone gives similar values to keys that differ in their last characters. */
function hash(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  h ^= h >>> 16;
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
