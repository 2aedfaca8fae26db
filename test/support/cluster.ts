import { expect } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { startAnvil } from './anvil.js';
import { expectEachOnce, expectOnePayloadPerNonce } from './chain-witness.js';
import { ClusterClients } from './cluster-clients.js';
import { ClusterDatabase } from './cluster-database.js';
import { ClusterNode } from './cluster-node.js';
import { clusterReport } from './cluster-report.js';
import type { HttpAnswer, ServiceOptions } from './service.js';
import { createTestDatabase } from './test-database.js';
import { until } from './until.js';

export interface ClusterOptions {
  readonly nodes: number;
  /** A fresh one of the run's server by default. */
  readonly databaseUrl?: string;
  /** A fresh anvil by default. */
  readonly rpcUrl?: string;
  /** Seconds between the blocks of that anvil; 0.5 by default. */
  readonly blockTime?: number;
  /** Sections that differ from {@link QUICK}. */
  readonly config?: Record<string, unknown>;
  readonly chain?: Record<string, unknown>;
  readonly accounts?: number;
  /** Every link of every node goes through a proxy that the test can break. */
  readonly viaProxies?: boolean;
  /** Reads what nodes say to the database; with `viaProxies`. */
  readonly databaseTap?: () => (chunk: Buffer) => void;
  /** Variables of the node at this place. */
  readonly env?: (place: number) => Readonly<Record<string, string>>;
}

/** A lease that is short enough to wait for, and all the rest in proportion. */
export const LEASE_MS = 2_000;
const QUICK = {
  lease: { duration: `${LEASE_MS}ms`, renewInterval: '600ms', clockSkewAllowance: '200ms' },
  worker: { pollInterval: '200ms' },
  resubmit: { interval: '3s' },
  confirmations: { required: 2, staleReceiptTimeout: '3s' },
  execution: { maxInFlight: 2_000, inFlightStart: 2_000 },
};
const QUICK_DATABASE = { poolSize: 8, statementTimeout: '1s' };

/** Several nodes, each a process of the built app, on one PostgreSQL and one chain. */
export class Cluster {
  readonly nodes: ClusterNode[] = [];
  readonly clients = new ClusterClients(this.nodes);

  private constructor(
    readonly rpcUrl: string,
    readonly database: ClusterDatabase,
    private readonly service: ServiceOptions,
    private readonly options: ClusterOptions,
    private readonly cleanUps: (() => Promise<unknown>)[],
  ) {}

  /** All nodes are ready when this returns; when it fails, nothing is left running. */
  static async start(options: ClusterOptions): Promise<Cluster> {
    const cleanUps: (() => Promise<unknown>)[] = [];
    const rpcUrl = options.rpcUrl ?? (await anvilFor(options, cleanUps));
    const databaseUrl = options.databaseUrl ?? (await databaseFor(cleanUps));
    const database = new ClusterDatabase(databaseUrl);
    cleanUps.push(() => database.close());
    const config = { ...QUICK, ...options.config };
    const service = {
      databaseUrl,
      rpcUrl,
      accounts: options.accounts ?? 10,
      chain: options.chain ?? {},
      config: { ...config, database: { ...QUICK_DATABASE, ...(options.config?.['database'] as object | undefined) } },
    };
    const cluster = new Cluster(rpcUrl, database, service, options, cleanUps);
    try {
      await Promise.all(Array.from({ length: options.nodes }, () => cluster.add()));
    } catch (error) {
      await cluster.stop();
      throw error;
    }
    return cluster;
  }

  /** One more node. */
  async add(): Promise<ClusterNode> {
    const place = this.nodes.length;
    const { viaProxies = false, databaseTap, env } = this.options;
    const slot = ClusterNode.create(
      `node ${place}`,
      { ...this.service, env: env?.(place) ?? {} },
      viaProxies,
      databaseTap,
    );
    // Taken at once, so that nodes that start side by side have places of their own.
    this.nodes.length = place + 1;
    const node = await slot;
    this.nodes[place] = node;
    await node.start();
    return node;
  }

  node(place: number): ClusterNode {
    const node = this.nodes[place];
    if (!node) throw new Error(`there is no node ${place}`);
    return node;
  }

  /** The node that holds the lease now: the one that logged that it took this token. */
  async leaseOwner(signer: string): Promise<ClusterNode | null> {
    const lease = await this.database.lease(signer);
    if (!lease || lease.expired) return null;
    const took = (entry: Readonly<Record<string, unknown>>): boolean =>
      String(entry['signer']).endsWith(signer.toLowerCase()) && BigInt(String(entry['fencingToken'])) === lease.token;
    return this.nodes.find((node) => node.lives.some((life) => life.logged('lease acquired').some(took))) ?? null;
  }

  /** Waits for an owner; the one of before does not count. */
  async nextOwner(signer: string, before?: ClusterNode): Promise<ClusterNode> {
    const found: ClusterNode[] = [];
    await until(`a node owns ${signer}`, async () => {
      const owner = await this.leaseOwner(signer);
      if (owner !== null && owner !== before) found.push(owner);
      return found.length > 0;
    });
    const [owner] = found;
    if (!owner) throw new Error(`nobody owns ${signer}`);
    return owner;
  }

  /**
   * Kills one node after the other by SIGKILL, every two seconds or so, and starts it again.
   * @param pids gets the pid of each process that was started
   */
  async killInTurn(pids: number[], goesOn: () => boolean): Promise<void> {
    while (goesOn()) {
      await sleep(1_500 + Math.random() * 1_500);
      const node = this.node(pids.length % this.nodes.length);
      expect(await node.kill()).toEqual({ code: null, signal: 'SIGKILL' });
      await node.start();
      pids.push(node.service.pid);
    }
  }

  post(path: string, body: unknown, nodes?: readonly ClusterNode[]): Promise<HttpAnswer<unknown>> {
    return this.clients.post(path, body, nodes);
  }

  create(signer: string, requestId: string, nodes?: readonly ClusterNode[]): Promise<void> {
    return this.clients.create(signer, requestId, nodes);
  }

  createMany(signers: readonly string[], mark: string, count: number, nodes?: readonly ClusterNode[]): Promise<void> {
    return this.clients.createMany(signers, mark, count, nodes);
  }

  /** Everything that was promised is final. */
  allConfirmed(timeoutMs?: number): Promise<void> {
    const total = [...this.clients.promised.values()].reduce((sum, payloads) => sum + payloads.length, 0);
    return this.confirmed(total, '', timeoutMs);
  }

  /** All those whose request id starts so are CONFIRMED, and they are `total`. */
  async confirmed(total: number, requestIdPrefix: string, timeoutMs = 90_000): Promise<void> {
    let states: Record<string, number> = {};
    try {
      await until(
        `${total} are confirmed`,
        async () => {
          states = await this.database.countByState(requestIdPrefix).catch(() => ({}));
          return (states['CONFIRMED'] ?? 0) >= total;
        },
        timeoutMs,
      );
    } catch (error) {
      const report = await clusterReport(this.rpcUrl, this.database, this.nodes);
      throw new Error(`${total} promised, in the database: ${JSON.stringify(states)}\n${report}`, { cause: error });
    }
    expect(states).toEqual({ CONFIRMED: total });
  }

  /** I1 to I3, I7 and I8, as the chain, the database and the wire saw it. */
  async expectExactlyOnce(): Promise<void> {
    await this.allConfirmed();
    await expectEachOnce(this.rpcUrl, this.clients.promised);
    expect(await this.database.sharedSlots()).toEqual([]);
    expect(await this.database.staleWrites()).toEqual([]);
    if (this.options.viaProxies === true) expectOnePayloadPerNonce(this.nodes.flatMap(({ links }) => links.rpc.sent));
  }

  /** Whatever a failed test left: every process that was started here ends. */
  async stop(): Promise<void> {
    this.clients.stop();
    await Promise.all(this.nodes.map((node) => node.discard()));
    for (const cleanUp of this.cleanUps.reverse()) await cleanUp();
  }
}

async function anvilFor(options: ClusterOptions, cleanUps: (() => Promise<unknown>)[]): Promise<string> {
  const anvil = await startAnvil({
    blockTime: options.blockTime ?? 0.5,
    ...(options.accounts !== undefined && { accounts: options.accounts }),
  });
  cleanUps.push(() => anvil.kill());
  return anvil.url;
}

async function databaseFor(cleanUps: (() => Promise<unknown>)[]): Promise<string> {
  const database = await createTestDatabase();
  cleanUps.push(() => database.drop());
  return database.url;
}
