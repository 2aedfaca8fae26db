import type { SignerId } from '../../../kernel/signer-id.js';

export interface NodeEntry {
  readonly nodeId: string;
  readonly advertisedUrl: string | null;
  readonly acts: boolean;
  /** Those whose keys it has. */
  readonly signers: readonly SignerId[];
}

/** A node that acts and was seen lately. */
export interface LiveNode {
  readonly nodeId: string;
  /**
   * Keys of the signers that it can sign for; the same object for nodes with the same keys. Null when it does not say, as nodes of
   * older versions: it is taken to have every key.
   */
  readonly signers: ReadonlySet<string> | null;
}

/** Who holds a signer's lease now, by the database clock. */
export interface LeaseHolder {
  readonly nodeId: string;
  /** null when the node does not say, or is not listed any more. */
  readonly advertisedUrl: string | null;
  readonly expiresInMs: number;
}

/** The running instances. Only routing depends on it: a wrong answer costs speed, never correctness. */
export abstract class NodeRegistry {
  /** Writes this node's heartbeat and answers the nodes that act and were seen within `windowMs`, by the database clock, in the order of their ids. */
  abstract heartbeat(self: NodeEntry, windowMs: number): Promise<readonly LiveNode[]>;
  /** A node that leaves says so, so that nobody waits for its silence. */
  abstract leave(nodeId: string): Promise<void>;
  abstract holderOf(signer: SignerId): Promise<LeaseHolder | null>;
}
