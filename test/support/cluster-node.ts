import { freePort } from '../../src/dev/free-port.js';
import { RpcProxy } from './rpc-proxy.js';
import { Service, type ServiceExit, type ServiceOptions } from './service.js';
import { TcpProxy } from './tcp-proxy.js';

/** What stands between one node and the world, for tests that break it. */
export interface NodeLinks {
  readonly database: TcpProxy;
  /** The wire to the chain. */
  readonly chain: TcpProxy;
  /** The endpoint behind that wire, which understands what it forwards. */
  readonly rpc: RpcProxy;
}

/** One place in a cluster: its port and its links stay, while its process comes and goes. */
export class ClusterNode {
  /** Every process that this node ever was, the present one last. */
  readonly lives: Service[] = [];
  paused = false;

  private constructor(
    readonly name: string,
    private readonly options: ServiceOptions,
    private readonly maybeLinks: NodeLinks | null,
  ) {}

  static async create(
    name: string,
    options: ServiceOptions,
    viaProxies: boolean,
    tap?: () => (chunk: Buffer) => void,
  ): Promise<ClusterNode> {
    const port = await freePort();
    if (!viaProxies) return new ClusterNode(name, { ...options, port }, null);
    const rpc = await RpcProxy.listen(options.rpcUrl);
    const links = {
      database: await TcpProxy.listen(options.databaseUrl, tap),
      chain: await TcpProxy.listen(rpc.url),
      rpc,
    };
    const linked = { ...options, port, databaseUrl: links.database.url, rpcUrl: links.chain.url };
    return new ClusterNode(name, linked, links);
  }

  get links(): NodeLinks {
    if (!this.maybeLinks) throw new Error(`${this.name} has no proxies: start the cluster with viaProxies`);
    return this.maybeLinks;
  }

  get service(): Service {
    const service = this.lives.at(-1);
    if (!service) throw new Error(`${this.name} was never started`);
    return service;
  }

  get answers(): boolean {
    return !this.paused && this.lives.at(-1)?.running === true;
  }

  /** @param env for this life only, such as `LOCKSTEP_CRASH_AT` */
  async start(env: Readonly<Record<string, string>> = {}): Promise<void> {
    this.paused = false;
    this.lives.push(await Service.start({ ...this.options, env: { ...this.options.env, ...env } }));
  }

  /** kill -9. @returns how the process ended */
  async kill(): Promise<ServiceExit> {
    await this.service.kill();
    return this.service.exited;
  }

  /** SIGTERM. @returns the exit code */
  stop(): Promise<number | null> {
    return this.service.stop();
  }

  pause(): void {
    this.paused = true;
    this.service.signal('SIGSTOP');
  }

  resume(): void {
    this.service.signal('SIGCONT');
    this.paused = false;
  }

  /** The sum of a counter over its labels, or over those that hold `label`; 0 when it was never counted. */
  async metric(name: string, label = ''): Promise<number> {
    const { body } = await this.service.get<{ text: string }>('/metrics');
    const lines = body.text.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
    return lines
      .filter((line) => line.includes(label))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
  }

  /** Ends everything of this node, in whatever state a failed test left it. */
  async discard(): Promise<void> {
    if (this.lives.at(-1)?.running === true) await this.kill();
    if (!this.maybeLinks) return;
    const { database, chain, rpc } = this.maybeLinks;
    await Promise.all([database.stop(), chain.stop(), rpc.stop()]);
  }
}
