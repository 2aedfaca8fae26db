import { Injectable } from '@nestjs/common';
import type { SignerId } from '../../../kernel/signer-id.js';
import { HeartbeatDatabase, ReadDatabase } from '../../../platform/database/pools.js';
import { type LeaseHolder, type NodeEntry, NodeRegistry } from '../domain/node-registry.js';

/** The reads see the table as it was before this heartbeat, so the node adds itself. Rows of the long dead go on the way. */
const HEARTBEAT = {
  name: 'node_heartbeat',
  text: `
    WITH seen AS (
      INSERT INTO node AS n (node_id, advertised_url, acts) VALUES ($1, $2, $3)
          ON CONFLICT (node_id) DO UPDATE SET last_seen_at = clock_timestamp()
      RETURNING n.node_id, n.acts),
    buried AS (DELETE FROM node WHERE last_seen_at < clock_timestamp() - interval '1 hour' AND node_id <> $1)
    SELECT node_id FROM node WHERE acts AND node_id <> $1 AND last_seen_at > clock_timestamp() - $4::float8 * interval '1 ms'
     UNION ALL SELECT node_id FROM seen WHERE acts`,
};

const LEAVE = { name: 'node_leave', text: `DELETE FROM node WHERE node_id = $1` };

const HOLDER = {
  name: 'lease_holder',
  text: `
    SELECT l.owner_node, n.advertised_url, extract(epoch FROM l.expires_at - clock_timestamp()) * 1000 AS expires_in_ms
      FROM signer_lease l LEFT JOIN node n ON n.node_id = l.owner_node
     WHERE l.chain_id = $1 AND l.signer = $2 AND l.expires_at > clock_timestamp()`,
};

@Injectable()
export class PgNodeRegistry extends NodeRegistry {
  constructor(
    private readonly heartbeats: HeartbeatDatabase,
    private readonly reads: ReadDatabase,
  ) {
    super();
  }

  async heartbeat(self: NodeEntry, windowMs: number): Promise<readonly string[]> {
    const values = [self.nodeId, self.advertisedUrl, self.acts, windowMs];
    const { rows } = await this.heartbeats.query<{ node_id: string }>(HEARTBEAT, values);
    return rows.map((row) => row.node_id).sort();
  }

  async leave(nodeId: string): Promise<void> {
    await this.heartbeats.query(LEAVE, [nodeId]);
  }

  async holderOf(signer: SignerId): Promise<LeaseHolder | null> {
    const { rows } = await this.reads.query<{
      owner_node: string;
      advertised_url: string | null;
      expires_in_ms: string;
    }>(HOLDER, [signer.chainId, signer.address]);
    const [row] = rows;
    return row
      ? { nodeId: row.owner_node, advertisedUrl: row.advertised_url, expiresInMs: Number(row.expires_in_ms) }
      : null;
  }
}
