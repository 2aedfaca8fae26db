import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { LeaseConfig, NodeConfig } from '../../../config/lockstep-config.js';
import { NodeIdentity } from '../../../kernel/node-identity.js';
import { signerKey } from '../../../kernel/signer-id.js';
import { DatabaseWatch } from '../../../platform/database/database-watch.js';
import { ServingNodes } from '../../../platform/limits/serving-nodes.js';
import type { Ticker } from '../../../platform/scheduling/ticker.js';
import { Tickers } from '../../../platform/scheduling/tickers.js';
import { LeaseManager } from '../application/lease-manager.js';
import { Router } from '../application/router.js';
import { Custody } from '../domain/custody.js';
import { NodeRegistry } from '../domain/node-registry.js';
import { SignerDirectory } from '../domain/signer-directory.js';

/** Registers the signers at start. Then renews all leases every `lease.renewInterval`. */
@Injectable()
export class LeaseHeartbeat implements OnApplicationBootstrap {
  private readonly ticker: Ticker;

  constructor(
    private readonly leases: LeaseManager,
    private readonly custody: Custody,
    private readonly directory: SignerDirectory,
    private readonly nodes: NodeRegistry,
    private readonly router: Router,
    private readonly node: NodeIdentity,
    private readonly role: NodeConfig,
    private readonly config: LeaseConfig,
    private readonly database: DatabaseWatch,
    private readonly serving: ServingNodes,
    tickers: Tickers,
  ) {
    const { renewInterval: intervalMs } = config;
    this.ticker = tickers.create({ name: 'lease-heartbeat', intervalMs, run: () => this.beat() }, true);
    tickers.afterWork(() => this.leave());
  }

  /** Nothing is accepted before the database has an epoch: a standby that has a transaction has the epoch, too. */
  async onApplicationBootstrap(): Promise<void> {
    await this.database.check();
    await this.register();
    await this.meetOthers();
    try {
      // Again: of nodes that start at once each sees the others only now.
      await this.register();
    } catch (error) {
      await this.nodes.leave(this.node.id);
      throw error;
    }
    this.ticker.start();
  }

  /** When the work has ended: the leases are renewed until they are released, and nobody looks for new owners of signers that are still held. */
  async leave(): Promise<void> {
    try {
      await this.leases.releaseAll();
    } finally {
      await this.ticker.stop();
      await this.nodes.leave(this.node.id);
    }
  }

  /** Renews the leases first, because they expire. */
  protected async beat(): Promise<void> {
    await this.leases.renewAll();
    await this.meetOthers();
    await this.database.check();
  }

  private register(): Promise<void> {
    return this.directory.register(this.custody.signers(), this.node.id, this.config.duration);
  }

  private async meetOthers(): Promise<void> {
    const { acts, serves, advertisedUrl = null } = this.role;
    const signers = this.custody.signers().map(({ signer }) => signer);
    const self = { nodeId: this.node.id, advertisedUrl, acts, serves, signers };
    const { acting: nodes, serving } = await this.nodes.heartbeat(self, this.config.duration);
    this.serving.seen(serving);
    const keys = new Map(nodes.map((node) => [node.nodeId, node.signers]));
    const own = keys.get(this.node.id) ?? null;
    this.router.membership(
      nodes.map(({ nodeId }) => nodeId),
      {
        canSign: (node, signer) => keys.get(node)?.has(signerKey(signer)) ?? true,
        alike: nodes.filter((node) => node.signers === own).map(({ nodeId }) => nodeId),
      },
    );
  }
}
