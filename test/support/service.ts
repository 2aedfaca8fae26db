import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { appendFileSync, chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import { freePort } from '../../src/dev/free-port.js';
import { DEV_MNEMONIC } from '../../src/dev/dev-accounts.js';
import { ApiDocument, type OpenApi } from './api-document.js';
import { DEV_CHAIN } from './builders.js';
import { until } from './until.js';
import { WEBHOOK_KEY } from './webhook-secrets.js';

export interface ServiceOptions {
  readonly databaseUrl: string;
  readonly rpcUrl: string;
  /** Sections that differ from the test defaults. */
  readonly config?: Record<string, unknown>;
  readonly accounts?: number;
  /** Of the one chain, above the test defaults. */
  readonly chain?: Record<string, unknown>;
  /** Chains beside that one, as the config has them. */
  readonly moreChains?: readonly Record<string, unknown>[];
  /** Variables of the process, above this one's own. */
  readonly env?: Readonly<Record<string, string>>;
  /** As a container of docker/compose.yaml runs it: an ordinary user without rights, and no file that can be written. Needs root on Linux. */
  readonly confined?: boolean;
  /** Any free one by default; a node that restarts keeps its own. */
  readonly port?: number;
}

export interface ServiceExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** One line of the log: `msg` is the event. */
export type LogEntry = Readonly<Record<string, unknown>>;

/** What an answer says, in the shape that the test knows it has. */
export interface HttpAnswer<Body> {
  readonly status: number;
  readonly type: string;
  readonly headers: Headers;
  readonly body: Body;
}

export type AnyBody = Readonly<Record<string, unknown>>;

/** Read-only are all mounts but those of the kernel. */
const CONFINED = [
  'unshare',
  '--mount',
  'sh',
  '-ec',
  `mount --make-rprivate /
   while read -r _ folder _; do
     case $folder in /proc*|/sys*|/dev*) ;; *) mount -o remount,bind,ro "$folder" ;; esac
   done < /proc/self/mounts
   exec setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all "$@"`,
  'confined',
];

/** Of the build that the tests run: every answer is compared with it. */
let document: ApiDocument | null = null;

/** A node derives its keys first: 10,000 of them take a busy machine more than a minute. */
const START_MS = 150_000;

/** The built service as a process of its own, as it runs in production. Needs `npm run build` before, which `npm test` does. */
export class Service {
  readonly log: string[] = [];
  readonly exited: Promise<ServiceExit>;
  private readonly events = new Map<string, LogEntry[]>();
  /** Chunks of the log that were read, and the line that their end cut short. */
  private read = 0;
  /** Answers that were compared with the document. */
  private compared = 0;
  private unread = '';

  private constructor(
    readonly url: string,
    private readonly child: ChildProcess,
    private readonly directory: string,
  ) {
    child.stdout?.on('data', (chunk: Buffer) => this.log.push(chunk.toString()));
    child.stderr?.on('data', (chunk: Buffer) => this.log.push(chunk.toString()));
    this.exited = new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
  }

  get pid(): number {
    if (this.child.pid === undefined) throw new Error('the service was never started');
    return this.child.pid;
  }

  /** False as soon as the process is gone, by whatever hand. */
  get running(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  static async start(options: ServiceOptions): Promise<Service> {
    const port = options.port ?? (await freePort());
    const directory = mkdtempSync(join(tmpdir(), 'lockstep-service-'));
    const file = join(directory, 'lockstep.yaml');
    writeFileSync(file, stringify(configOf(options, port)));
    const command = [...(options.confined === true ? CONFINED : []), process.execPath, 'dist/main.js'];
    // For the user of a confined service: the folder is made for this one only.
    chmodSync(directory, 0o755);
    const child = spawn('/usr/bin/env', command, {
      env: { ...process.env, NODE_OPTIONS: '', ...options.env, LOCKSTEP_CONFIG: file },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const service = new Service(`http://127.0.0.1:${port}`, child, directory);
    try {
      const isReady = async (): Promise<boolean> => {
        if (!service.running) throw new Error(`the service ended: ${service.log.join('')}`);
        return (await service.get('/health/ready').catch(() => null))?.status === 200;
      };
      await until('the service is ready', isReady, START_MS);
      document ??= new ApiDocument((await service.get<OpenApi>('/docs-json')).body);
    } catch (error) {
      // Nobody else knows of it yet, so nobody else would end it.
      await service.kill();
      throw error;
    }
    return service;
  }

  get<Body = AnyBody>(path: string, timeoutMs?: number): Promise<HttpAnswer<Body>> {
    return this.send(path, {}, timeoutMs);
  }

  /** @param timeoutMs for a test that expects silence; a paused process answers nothing */
  post<Body = AnyBody>(
    path: string,
    body: unknown,
    headers: Record<string, string> = {},
    timeoutMs?: number,
  ): Promise<HttpAnswer<Body>> {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const init = { method: 'POST', body: text, headers: { 'content-type': 'application/json', ...headers } };
    return this.send(path, init, timeoutMs);
  }

  /** Any request, as whoever has the key. */
  call<Body = AnyBody>(method: string, path: string, key: string | null, body?: unknown): Promise<HttpAnswer<Body>> {
    const headers: Record<string, string> = {
      accept: 'application/json',
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    };
    return this.send(path, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  }

  /** Runs `lockstep` with the config of this node. @returns what it prints */
  async cli(...args: readonly string[]): Promise<string> {
    const env = { ...process.env, NODE_OPTIONS: '', LOCKSTEP_CONFIG: join(this.directory, 'lockstep.yaml') };
    const { stdout } = await promisify(execFile)(process.execPath, ['dist/cli.js', ...args], { env });
    return stdout;
  }

  /** A key of all scopes that this node takes, as whoever starts with Lockstep makes one. */
  async firstKey(): Promise<string> {
    const key = (await this.cli('keys', 'create', '--name', 'first', '--all-scopes')).trim();
    await until('the key is taken', async () => (await this.call('GET', '/api/v1/keys', key)).status === 200);
    return key;
  }

  /** SIGSTOP, SIGCONT: to stand still without ending. */
  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** What was logged under this event so far. */
  logged(event: string): readonly LogEntry[] {
    // Only what came since the last look is read: some tests ask often, and logs grow.
    const lines = (this.unread + this.log.slice(this.read).join('')).split('\n');
    this.read = this.log.length;
    this.unread = lines.pop() ?? '';
    for (const line of lines.filter((text) => text.startsWith('{'))) {
      const entry = JSON.parse(line) as LogEntry;
      const name = String(entry['msg']);
      const known = this.events.get(name);
      if (known) known.push(entry);
      else this.events.set(name, [entry]);
    }
    return this.events.get(event) ?? [];
  }

  /** The lines of the log that warn of something, and those of these events, for the message of a test that failed. */
  warnings(...events: readonly string[]): string[] {
    const lines = this.log.join('').split('\n');
    return lines.filter(
      (line) => /"level":"(warn|error)"/.test(line) || events.some((event) => line.includes(`"msg":"${event}"`)),
    );
  }

  /** Graceful, as Kubernetes does it. @returns the exit code */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    this.child.kill(signal);
    const { code } = await this.exited;
    const { TEST_ANSWERS: file } = process.env;
    if (file !== undefined) appendFileSync(file, `${this.compared}\n`);
    this.compared = 0;
    rmSync(this.directory, { recursive: true, force: true });
    return code;
  }

  /** kill -9. */
  async kill(): Promise<void> {
    await this.stop('SIGKILL');
  }

  private async send<Body>(path: string, init: RequestInit, timeoutMs?: number): Promise<HttpAnswer<Body>> {
    const signal = timeoutMs === undefined ? null : AbortSignal.timeout(timeoutMs);
    const response = await fetch(`${this.url}${path}`, { ...init, signal });
    const text = await response.text();
    const type = response.headers.get('content-type') ?? '';
    const body: unknown = type.includes('json') ? JSON.parse(text) : { text };
    const answer = { status: response.status, type, headers: response.headers, body: body as Body };
    if (document !== null) this.compared += 1;
    const wrong = document?.wrongWith(init.method ?? 'GET', path, answer) ?? null;
    if (wrong !== null) throw new Error(`not as the document says: ${wrong}`);
    return answer;
  }
}

function configOf(
  { databaseUrl, rpcUrl, config = {}, accounts = 10, chain = {}, moreChains = [] }: ServiceOptions,
  port: number,
): Record<string, unknown> {
  return {
    server: { port, host: '127.0.0.1' },
    confirmations: { required: 2 },
    // What a key may do is tried by tests of their own; all others come without one.
    auth: { mode: 'none' },
    ...config,
    webhooks: { encryptionKeys: [WEBHOOK_KEY.toString('base64')], ...(config['webhooks'] ?? {}) },
    node: { advertisedUrl: `http://127.0.0.1:${port}`, ...(config['node'] ?? {}) },
    database: { url: databaseUrl, poolSize: 10, ...(config['database'] as Record<string, unknown> | undefined) },
    chains: [
      {
        id: DEV_CHAIN,
        rpcUrls: [rpcUrl],
        pollInterval: '100ms',
        signers: [{ type: 'mnemonic', phrase: DEV_MNEMONIC, count: accounts }],
        ...chain,
      },
      ...moreChains,
    ],
  };
}
