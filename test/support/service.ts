import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { freePort } from '../../src/dev/free-port.js';
import { DEV_MNEMONIC } from '../../src/dev/dev-accounts.js';
import { DEV_CHAIN } from './builders.js';
import { until } from './until.js';

export interface ServiceOptions {
  readonly databaseUrl: string;
  readonly rpcUrl: string;
  /** Sections that differ from the test defaults. */
  readonly config?: Record<string, unknown>;
  readonly accounts?: number;
}

/** What an answer says, in the shape that the test knows it has. */
export interface HttpAnswer<Body> {
  readonly status: number;
  readonly type: string;
  readonly headers: Headers;
  readonly body: Body;
}

export type AnyBody = Readonly<Record<string, unknown>>;

/** The built service as a process of its own, as it runs in production. Needs `npm run build` before, which `npm test` does. */
export class Service {
  readonly log: string[] = [];
  private readonly exited: Promise<number | null>;

  private constructor(
    readonly url: string,
    private readonly child: ChildProcess,
    private readonly directory: string,
  ) {
    child.stdout?.on('data', (chunk: Buffer) => this.log.push(chunk.toString()));
    child.stderr?.on('data', (chunk: Buffer) => this.log.push(chunk.toString()));
    this.exited = new Promise((resolve) => child.once('exit', (code) => resolve(code)));
  }

  static async start(options: ServiceOptions): Promise<Service> {
    const port = await freePort();
    const directory = mkdtempSync(join(tmpdir(), 'lockstep-service-'));
    const file = join(directory, 'lockstep.yaml');
    writeFileSync(file, stringify(configOf(options, port)));
    const child = spawn(process.execPath, ['dist/main.js'], {
      env: { ...process.env, NODE_OPTIONS: '', LOCKSTEP_CONFIG: file },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const service = new Service(`http://127.0.0.1:${port}`, child, directory);
    await until('the service is ready', async () => {
      if (child.exitCode !== null) throw new Error(`the service ended: ${service.log.join('')}`);
      return (await service.get('/health/ready').catch(() => null))?.status === 200;
    });
    return service;
  }

  get<Body = AnyBody>(path: string): Promise<HttpAnswer<Body>> {
    return this.send(path, {});
  }

  post<Body = AnyBody>(path: string, body: unknown, headers: Record<string, string> = {}): Promise<HttpAnswer<Body>> {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return this.send(path, { method: 'POST', body: text, headers: { 'content-type': 'application/json', ...headers } });
  }

  /** Graceful, as Kubernetes does it. @returns the exit code */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    this.child.kill(signal);
    const code = await this.exited;
    rmSync(this.directory, { recursive: true, force: true });
    return code;
  }

  /** kill -9. */
  async kill(): Promise<void> {
    await this.stop('SIGKILL');
  }

  private async send<Body>(path: string, init: RequestInit): Promise<HttpAnswer<Body>> {
    const response = await fetch(`${this.url}${path}`, init);
    const text = await response.text();
    const type = response.headers.get('content-type') ?? '';
    return {
      status: response.status,
      type,
      headers: response.headers,
      body: (type.includes('json') ? JSON.parse(text) : { text }) as Body,
    };
  }
}

function configOf(
  { databaseUrl, rpcUrl, config = {}, accounts = 10 }: ServiceOptions,
  port: number,
): Record<string, unknown> {
  return {
    server: { port, host: '127.0.0.1' },
    database: { url: databaseUrl, poolSize: 10 },
    confirmations: { required: 2 },
    ...config,
    node: { advertisedUrl: `http://127.0.0.1:${port}`, ...(config['node'] ?? {}) },
    chains: [
      {
        id: DEV_CHAIN,
        rpcUrls: [rpcUrl],
        pollInterval: '100ms',
        signers: [{ type: 'mnemonic', phrase: DEV_MNEMONIC, count: accounts }],
      },
    ],
  };
}
