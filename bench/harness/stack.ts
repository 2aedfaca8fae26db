import { DEV_MNEMONIC } from '../../src/dev/dev-accounts.js';
import { Service } from '../../test/support/service.js';
import { accounts } from './accounts.js';
import { atExit } from './at-exit.js';
import { type Chain, startChain, startGeth } from './chain.js';
import type { BenchPostgres } from './postgres.js';
import { inFlight, SERVICE_CHAIN, SERVICE_CONFIG } from './service-config.js';
import { TxLog } from './tx-log.js';

export interface StackOptions {
  readonly signers: number;
  /** One by default. */
  readonly nodes?: number;
  /** Sections above {@link SERVICE_CONFIG}. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Whether requests need a key. */
  readonly keys?: boolean;
  /** Of each signer, as the config has it. */
  readonly policy?: Readonly<Record<string, unknown>>;
  /** Whether the chain is a geth in place of anvil; it funds 20 signers at most. */
  readonly onGeth?: boolean;
  /** Where the services find the chain, when not there where it is. */
  readonly rpcUrl?: (chainUrl: string) => Promise<string>;
  /** Variables of the services. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A fresh chain, a fresh database, and the built service as processes of their own. */
export class Stack {
  readonly services: Service[] = [];
  /** With which requests come; null where they need none. */
  key: string | null = null;
  private readonly forgets: (() => void)[] = [];

  private constructor(
    readonly chain: Chain,
    private readonly rpcUrl: string,
    readonly databaseUrl: string,
    readonly log: TxLog,
    readonly postgres: BenchPostgres,
    readonly options: StackOptions,
  ) {}

  static async start(postgres: BenchPostgres, options: StackOptions): Promise<Stack> {
    const chain = options.onGeth ? await startGeth() : await startChain(options.signers);
    const rpcUrl = (await options.rpcUrl?.(chain.url)) ?? chain.url;
    const databaseUrl = await postgres.createDatabase();
    const stack = new Stack(chain, rpcUrl, databaseUrl, await TxLog.open(databaseUrl), postgres, options);
    try {
      await stack.startServices({ ...options.config, ...(options.keys && { auth: { mode: 'apiKeys' } }) });
      if (options.keys) stack.key = await stack.service.firstKey();
    } catch (error) {
      await stack.stop();
      throw error;
    }
    return stack;
  }

  get addresses(): readonly string[] {
    return accounts(this.options.signers).map(({ address }) => address);
  }

  get urls(): readonly string[] {
    return this.services.map(({ url }) => url);
  }

  /** The one of a stack with one node. */
  get service(): Service {
    const [service, ...others] = this.services;
    if (!service || others.length > 0) throw new Error(`there are ${this.services.length} services, not one`);
    return service;
  }

  /** As many as the stack is to have. @param config sections above {@link SERVICE_CONFIG} */
  async startServices(config: Readonly<Record<string, unknown>> = {}): Promise<void> {
    const { nodes = 1 } = this.options;
    await Promise.all(Array.from({ length: nodes }, () => this.startService(config)));
  }

  async stopServices(): Promise<void> {
    await Promise.all(this.services.map((service) => service.stop()));
    for (const forget of this.forgets.splice(0)) forget();
    this.services.length = 0;
  }

  async stop(): Promise<void> {
    await this.stopServices();
    await this.log.close();
    await this.postgres.dropDatabase(this.databaseUrl);
    await this.chain.stop();
  }

  private async startService(config: Readonly<Record<string, unknown>>): Promise<void> {
    const { signers, policy } = this.options;
    const service = await Service.start({
      databaseUrl: this.databaseUrl,
      rpcUrl: this.rpcUrl,
      accounts: signers,
      config: { execution: inFlight(signers), ...SERVICE_CONFIG, ...config },
      chain: {
        ...SERVICE_CHAIN,
        ...(policy && { signers: [{ type: 'mnemonic', phrase: DEV_MNEMONIC, count: signers, policy }] }),
      },
      env: this.options.env ?? {},
    });
    this.forgets.push(atExit(() => service.signal('SIGKILL')));
    this.services.push(service);
  }
}

/** A stack for the length of `work`. */
export async function withStack<T>(
  postgres: BenchPostgres,
  options: StackOptions,
  work: (stack: Stack) => Promise<T>,
): Promise<T> {
  const stack = await Stack.start(postgres, options);
  try {
    return await work(stack);
  } finally {
    await stack.stop();
  }
}
