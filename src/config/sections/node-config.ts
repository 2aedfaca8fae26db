import { Choice, Text } from '../config-fields.js';

export type NodeRole = 'api' | 'worker' | 'all';

/** The role of this node, and how other nodes reach it. */
export class NodeConfig {
  /** `api` answers requests, `worker` acts for signers, `all` does both. */
  @Choice(['api', 'worker', 'all'])
  role: NodeRole = 'all';

  /** URL at which other nodes reach the API of this node; needed for `intake.notLeader: forward`. */
  @Text({ form: /^https?:\/\/[^/]+$/, words: 'must be http(s)://host:port' })
  advertisedUrl?: string;

  /** Secret that all nodes of a deployment share; proves that one of them forwarded a request. */
  @Text({ form: /^.{16,}$/, words: 'must have at least 16 characters' })
  forwardSecret?: string;

  get acts(): boolean {
    return this.role !== 'api';
  }

  get serves(): boolean {
    return this.role !== 'worker';
  }
}
