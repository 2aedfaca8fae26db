import { rlpBytes, rlpList } from '../../../kernel/rlp.js';
import { keccak256 } from '../../../platform/crypto/keccak256.js';

/*
 * Merkle Patricia trie (Ethereum Yellow Paper, appendix D). Only the root is computed, and all entries are known from the start, so no
 * nodes are stored: the sorted keys replace the trie.
 */

interface Entry {
  /** Half bytes of the key: 0 to 15. */
  readonly nibbles: Buffer;
  readonly value: Buffer;
}

/** A node shorter than its hash is embedded in its parent. */
const HASH_BYTES = 32;
const BRANCHES = 16;
const EMPTY = rlpBytes(Buffer.alloc(0));

/** @param entries key and value, with no key twice and no empty value, in any order */
export function trieRoot(entries: readonly (readonly [key: Buffer, value: Buffer])[]): Buffer {
  const sorted = entries
    .map(([key, value]): Entry => ({ nibbles: nibblesOf(key), value }))
    .sort((a, b) => a.nibbles.compare(b.nibbles));
  return keccak256(node(sorted, 0));
}

/** @param entries sorted, and equal in their first `depth` nibbles */
function node(entries: readonly Entry[], depth: number): Buffer {
  const [first] = entries;
  const last = entries.at(-1);
  if (!first || !last) return EMPTY;
  if (first === last) return rlpList([path(first.nibbles.subarray(depth), true), rlpBytes(first.value)]);
  const fork = firstDifference(first.nibbles, last.nibbles, depth);
  if (fork === depth) return branch(entries, depth);
  return rlpList([path(first.nibbles.subarray(depth, fork), false), reference(branch(entries, fork))]);
}

function branch(entries: readonly Entry[], depth: number): Buffer {
  // A key that ends here sorts before the longer keys.
  const [first] = entries;
  const ending = first?.nibbles.length === depth ? first : null;
  const children: Buffer[] = [];
  let from = ending ? 1 : 0;
  for (let nibble = 0; nibble < BRANCHES; nibble += 1) {
    let to = from;
    while (entries[to]?.nibbles[depth] === nibble) to += 1;
    children.push(from === to ? EMPTY : reference(node(entries.slice(from, to), depth + 1)));
    from = to;
  }
  return rlpList([...children, ending ? rlpBytes(ending.value) : EMPTY]);
}

function reference(encoded: Buffer): Buffer {
  return encoded.length < HASH_BYTES ? encoded : rlpBytes(keccak256(encoded));
}

/** Encodes nibbles as bytes, with a prefix of two flags: the path ends in a value, and the number of nibbles is odd. */
function path(nibbles: Buffer, isLeaf: boolean): Buffer {
  const flag = isLeaf ? 2 : 0;
  const padded = nibbles.length % 2 === 1 ? [flag + 1, ...nibbles] : [flag, 0, ...nibbles];
  const bytes = Buffer.alloc(padded.length / 2);
  for (const [i, nibble] of padded.entries()) bytes[i >> 1] = ((bytes[i >> 1] ?? 0) << 4) | nibble;
  return rlpBytes(bytes);
}

function nibblesOf(key: Buffer): Buffer {
  const nibbles = Buffer.alloc(key.length * 2);
  for (const [i, byte] of key.entries()) {
    nibbles[2 * i] = byte >> 4;
    nibbles[2 * i + 1] = byte & 0xf;
  }
  return nibbles;
}

/** The first position from `depth` on where the keys differ; the length of the shorter key when it is a prefix of the other. */
function firstDifference(a: Buffer, b: Buffer, depth: number): number {
  let at = depth;
  while (at < a.length && a[at] === b[at]) at += 1;
  return at;
}
