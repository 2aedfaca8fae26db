import { Choice, Text } from '../config-fields.js';

export type NodeRole = 'api' | 'worker' | 'all';

/** What this instance is to the others. */
export class NodeConfig {
  /** `api` answers requests, `worker` acts for signers, `all` does both. */
  @Choice(['api', 'worker', 'all'])
  role: NodeRole = 'all';

  /** Where other nodes reach this one's API; needed for `intake.notLeader: forward`. */
  @Text({ form: /^https?:\/\/[^/]+$/, words: 'must be http(s)://host:port' })
  advertisedUrl?: string;

  /** Known to all nodes of a deployment and nobody else; proves that a request was forwarded by one of them. */
  @Text({ form: /^.{16,}$/, words: 'must have at least 16 characters' })
  forwardSecret?: string;

  get acts(): boolean {
    return this.role !== 'api';
  }

  get serves(): boolean {
    return this.role !== 'worker';
  }
}
