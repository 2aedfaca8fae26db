import { expect } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { startAnvil } from './anvil.js';
import { expectEachOnce, expectOnePayloadPerNonce } from './chain-witness.js';
import { ClusterDatabase } from './cluster-database.js';
import { ClusterNode } from './cluster-node.js';
import type { HttpAnswer, ServiceOptions } from './service.js';
import { createTestDatabase } from './test-database.js';
import { until } from './until.js';

export interface ClusterOptions {
  readonly nodes: number;
  /** A fresh one of the run's server by default. */
  readonly databaseUrl?: string;
  /** A fresh anvil by default. */
  readonly rpcUrl?: string;
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
  execution: { maxInFlight: 2_000 },
};
const QUICK_DATABASE = { poolSize: 8, statementTimeout: '1s', lockTimeout: '500ms', idleInTransactionTimeout: '1s' };
const RECEIVER = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';
/** An answer takes milliseconds; a paused node gives none. */
const ANSWER_MS = 3_000;
const CREATE_MS = 90_000;
const CLIENTS = 64;

/** Several nodes, each a process of the built app, on one PostgreSQL and one chain. */
export class Cluster {
  readonly nodes: ClusterNode[] = [];
  /** What clients were promised. */
  private readonly accepted = new Map<string, string[]>();
  private stopped = false;

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

  /** To a random node that is thought to be alive; as a good client does it, again elsewhere until there is an answer. */
  async post(path: string, body: unknown, nodes: readonly ClusterNode[] = this.nodes): Promise<HttpAnswer<unknown>> {
    const deadline = performance.now() + CREATE_MS;
    for (;;) {
      const alive = nodes.filter((node) => node.answers);
      const node = alive[Math.floor(Math.random() * alive.length)];
      const answer = await node?.service.post<unknown>(path, body, {}, ANSWER_MS).catch(() => null);
      if (answer && answer.status < 500) return answer;
      if (this.stopped || performance.now() > deadline)
        throw new Error(`no node took ${path}: ${JSON.stringify(answer)}`);
      await sleep(20 + Math.random() * 80);
    }
  }

  /** Creates a transaction whose call data are like no other's. */
  async create(signer: string, requestId: string, nodes?: readonly ClusterNode[]): Promise<void> {
    const data = `0x${Buffer.from(`${signer}/${requestId}`).toString('hex')}`;
    const body = { signer, requestId, payload: { to: RECEIVER, data, gasLimit: '100000' } };
    const answer = await this.post('/api/v1/tx', body, nodes);
    if (answer.status >= 300) throw new Error(`${requestId} was refused: ${JSON.stringify(answer)}`);
    this.promised(signer, data);
  }

  /** `count` for each signer, interleaved, from many clients at once. */
  createMany(signers: readonly string[], mark: string, count: number, nodes?: readonly ClusterNode[]): Promise<void> {
    const queue = Array.from({ length: count }, (_, n) => signers.map((signer) => ({ signer, n }))).flat();
    const client = async (): Promise<void> => {
      for (let next = queue.shift(); next; next = queue.shift())
        await this.create(next.signer, `${mark}-${next.n}`, nodes);
    };
    return inBackground(Promise.all(Array.from({ length: CLIENTS }, client)).then(() => {}));
  }

  /** Everything that was promised is final. */
  async allConfirmed(timeoutMs = 90_000): Promise<void> {
    const total = [...this.accepted.values()].reduce((sum, payloads) => sum + payloads.length, 0);
    let states: Record<string, number> = {};
    try {
      await until(
        `${total} are confirmed`,
        async () => {
          states = await this.database.countByState().catch(() => ({}));
          return (states['CONFIRMED'] ?? 0) >= total;
        },
        timeoutMs,
      );
    } catch (error) {
      throw new Error(`${total} promised, in the database: ${JSON.stringify(states)}`, { cause: error });
    }
    expect(states).toEqual({ CONFIRMED: total });
  }

  /** I1 to I3, I7 and I8, as the chain, the database and the wire saw it. */
  async expectExactlyOnce(): Promise<void> {
    await this.allConfirmed();
    await expectEachOnce(this.rpcUrl, this.accepted);
    expect(await this.database.sharedSlots()).toEqual([]);
    expect(await this.database.staleWrites()).toEqual([]);
    if (this.options.viaProxies === true) expectOnePayloadPerNonce(this.nodes.flatMap(({ links }) => links.rpc.sent));
  }

  /** Whatever a failed test left: every process that was started here ends. */
  async stop(): Promise<void> {
    this.stopped = true;
    await Promise.all(this.nodes.map((node) => node.discard()));
    for (const cleanUp of this.cleanUps.reverse()) await cleanUp();
  }

  private promised(signer: string, data: string): void {
    const key = signer.toLowerCase();
    const payloads = this.accepted.get(key);
    if (payloads) payloads.push(data);
    else this.accepted.set(key, [data]);
  }
}

/** It fails where it is awaited; until then a test that fails for another reason must not end Jest. */
function inBackground<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}

async function anvilFor(options: ClusterOptions, cleanUps: (() => Promise<unknown>)[]): Promise<string> {
  const anvil = await startAnvil({
    blockTime: 1,
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
