import type { SignerId } from '../../../kernel/signer-id.js';

export interface NodeEntry {
  readonly nodeId: string;
  readonly advertisedUrl: string | null;
  readonly acts: boolean;
  readonly serves: boolean;
  /** The signers whose keys the node has. */
  readonly signers: readonly SignerId[];
}

/** A node that acts, and whose heartbeat is recent. */
export interface LiveNode {
  readonly nodeId: string;
  /**
   * Keys of the signers that the node can sign for; nodes with the same keys share the same object. Null when the list is not there any
   * more, because the node was silent for hours: then it counts as a node with every key.
   */
  readonly signers: ReadonlySet<string> | null;
}

/** The nodes whose heartbeat is recent, by the database clock. */
export interface LiveNodes {
  /** In the order of their ids. */
  readonly acting: readonly LiveNode[];
  /** How many have an API. */
  readonly serving: number;
}

/** The node that holds the lease of a signer now, by the database clock. */
export interface LeaseHolder {
  readonly nodeId: string;
  /** Null when the node does not report it, or has left the registry. */
  readonly advertisedUrl: string | null;
  readonly expiresInMs: number;
}

/** The running nodes. Only routing depends on it: a wrong answer costs speed and never correctness (docs/invariants.md, I4). */
export abstract class NodeRegistry {
  /**
   * Writes the heartbeat of this node.
   * @param windowMs a heartbeat within it is recent
   */
  abstract heartbeat(self: NodeEntry, windowMs: number): Promise<LiveNodes>;
  /** Removes a node that shuts down, so that other nodes need not wait until its heartbeat is too old. */
  abstract leave(nodeId: string): Promise<void>;
  /** Deletes nodes without a heartbeat for an hour, and lists of keys that no node uses. Never deletes those of `self`. */
  abstract forgetDead(self: string): Promise<void>;
  abstract holderOf(signer: SignerId): Promise<LeaseHolder | null>;
}
