import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { signerKey, type SignerId } from '../../../kernel/signer-id.js';
import { HeartbeatDatabase, ReadDatabase } from '../../../platform/database/pools.js';
import { type LeaseHolder, type LiveNodes, type NodeEntry, NodeRegistry } from '../domain/node-registry.js';

/** Nodes with the same keys share one list of keys, which can be long. It is written once, and each node with other keys reads it once. */
const ANNOUNCE_KEYS = {
  name: 'node_announce_keys',
  text: `INSERT INTO node_key_set (key_set, signers) VALUES ($1, $2) ON CONFLICT (key_set) DO UPDATE SET announced_at = clock_timestamp()`,
};

const KEYS = { name: 'node_keys', text: `SELECT key_set, signers FROM node_key_set WHERE key_set = ANY($1::text[])` };

/** The SELECT reads the table as it was before this heartbeat, so the row of this node is added. */
const HEARTBEAT = {
  name: 'node_heartbeat',
  text: `
    WITH seen AS (
      INSERT INTO node AS n (node_id, advertised_url, acts, serves, key_set) VALUES ($1, $2, $3, $6, $5)
          ON CONFLICT (node_id) DO UPDATE SET last_seen_at = clock_timestamp()
      RETURNING n.node_id, n.acts, n.serves, n.key_set)
    SELECT node_id, acts, serves, key_set FROM node WHERE node_id <> $1 AND last_seen_at > clock_timestamp() - $4::float8 * interval '1 ms'
     UNION ALL SELECT node_id, acts, serves, key_set FROM seen`,
};

/** The second DELETE reads the table as it was before the first one, so the keys of a deleted node go in the next run. */
const FORGET_DEAD = {
  name: 'node_forget_dead',
  text: `
    WITH buried AS (DELETE FROM node WHERE last_seen_at < clock_timestamp() - interval '1 hour' AND node_id <> $1)
    DELETE FROM node_key_set k
     WHERE k.announced_at < clock_timestamp() - interval '1 hour' AND NOT EXISTS (SELECT FROM node n WHERE n.key_set = k.key_set)
       AND k.key_set IS DISTINCT FROM $2`,
};

const LEAVE = { name: 'node_leave', text: `DELETE FROM node WHERE node_id = $1` };

const HOLDER = {
  name: 'lease_holder',
  text: `
    SELECT l.owner_node, n.advertised_url, extract(epoch FROM l.expires_at - clock_timestamp()) * 1000 AS expires_in_ms
      FROM signer_lease l LEFT JOIN node n ON n.node_id = l.owner_node
     WHERE l.chain_id = $1 AND l.signer = $2 AND l.expires_at > clock_timestamp()`,
};

interface NodeRow {
  node_id: string;
  acts: boolean;
  serves: boolean;
  key_set: string;
}

@Injectable()
export class PgNodeRegistry extends NodeRegistry {
  /** Sets of signer keys by digest. */
  private readonly keySets = new Map<string, ReadonlySet<string>>();
  /** The digest of the keys of this node. */
  private own: string | null = null;

  constructor(
    private readonly heartbeats: HeartbeatDatabase,
    private readonly reads: ReadDatabase,
  ) {
    super();
  }

  async heartbeat(self: NodeEntry, windowMs: number): Promise<LiveNodes> {
    const own = await this.announce(self);
    const values = [self.nodeId, self.advertisedUrl, self.acts, windowMs, own, self.serves];
    const { rows } = await this.heartbeats.query<NodeRow>(HEARTBEAT, values);
    const acting = rows.filter(({ acts }) => acts);
    await this.learnKeys(acting);
    return {
      acting: acting
        .map((row) => ({ nodeId: row.node_id, signers: this.keySets.get(row.key_set) ?? null }))
        .sort((a, b) => (a.nodeId < b.nodeId ? -1 : 1)),
      serving: rows.filter(({ serves }) => serves).length,
    };
  }

  async leave(nodeId: string): Promise<void> {
    await this.heartbeats.query(LEAVE, [nodeId]);
  }

  async forgetDead(self: string): Promise<void> {
    await this.heartbeats.query(FORGET_DEAD, [self, this.own]);
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

  /** @returns the digest of the keys of this node, which do not change while the process runs */
  private async announce({ signers }: NodeEntry): Promise<string> {
    if (this.own !== null) return this.own;
    const keys = signers.map(signerKey).sort();
    const digest = createHash('sha256').update(keys.join()).digest('hex');
    await this.heartbeats.query(ANNOUNCE_KEYS, [digest, keys]);
    this.keySets.set(digest, new Set(keys));
    this.own = digest;
    return digest;
  }

  private async learnKeys(nodes: readonly NodeRow[]): Promise<void> {
    const unknown = nodes.map(({ key_set }) => key_set).filter((keySet) => !this.keySets.has(keySet));
    if (unknown.length === 0) return;
    const { rows } = await this.heartbeats.query<{ key_set: string; signers: string[] }>(KEYS, [unknown]);
    for (const { key_set, signers } of rows) this.keySets.set(key_set, new Set(signers));
  }
}
