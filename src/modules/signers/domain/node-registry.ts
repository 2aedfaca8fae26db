import type { SignerId } from '../../../kernel/signer-id.js';

export interface NodeEntry {
  readonly nodeId: string;
  readonly advertisedUrl: string | null;
  readonly acts: boolean;
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
  /** Writes this node's heartbeat and answers the nodes that act and were seen within `windowMs`, by the database clock. */
  abstract heartbeat(self: NodeEntry, windowMs: number): Promise<readonly string[]>;
  /** A node that leaves says so, so that nobody waits for its silence. */
  abstract leave(nodeId: string): Promise<void>;
  abstract holderOf(signer: SignerId): Promise<LeaseHolder | null>;
}
