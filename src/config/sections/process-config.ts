import { Choice, Count, Flag, type HasRules, Section, Size, Text } from '../config-fields.js';
import type { ConfigMistake } from '../config-mistakes.js';

/** In PEM. */
export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** With both files the port speaks TLS, 1.2 or later; without them plain HTTP. They are read again when they change. */
export class TlsConfig implements HasRules {
  /** The certificate, with those of the authorities between it and the root. */
  @Text()
  certFile?: string;

  @Text()
  keyFile?: string;

  get files(): TlsFiles | null {
    const { certFile, keyFile } = this;
    return certFile === undefined || keyFile === undefined ? null : { certFile, keyFile };
  }

  brokenRules(): readonly ConfigMistake[] {
    if ((this.certFile === undefined) === (this.keyFile === undefined)) return [];
    return [{ path: this.certFile === undefined ? 'certFile' : 'keyFile', problem: 'is needed, too' }];
  }
}

/** Whoever listens there is also found under the name. */
const EVERY_HOST = new Set(['0.0.0.0', '::', '127.0.0.1', '::1']);

export class ServerConfig {
  @Text()
  host = '0.0.0.0';

  /** Port of the API; with 0 the system chooses one. */
  @Count({ min: 0, max: 65_535 })
  port = 3000;

  /** Port of health and metrics, always plain HTTP, which the other port then does not answer. Without it, they are on that one. */
  @Count({ min: 1, max: 65_535 })
  opsPort?: number;

  @Section(TlsConfig)
  tls = new TlsConfig();

  /** Bytes. */
  @Size()
  bodyLimit = 1024 * 1024;

  /** Requests that wait for a state (`waitFor`) at once; above it a node answers 429. No key: one query serves all of them. */
  readonly maxWaiters: number = 10_000;

  /** Milliseconds in which the header of a request has to arrive. No key: a client that needs longer is broken, or wants to hold connections. */
  readonly headersTimeout: number = 10_000;

  /** The same for a whole request. No key: a body of 1 MB in 30 s is what a slow phone sends. */
  readonly requestTimeout: number = 30_000;

  /** Of the API, from the machine of the node. */
  get ownUrl(): string {
    return `${this.tls.files === null ? 'http' : 'https'}://${this.ownHost}:${this.port}`;
  }

  /** Where the node answers `/health` and `/metrics`, from its machine. */
  get probesUrl(): string {
    return this.opsPort === undefined ? this.ownUrl : `http://${this.ownHost}:${this.opsPort}`;
  }

  private get ownHost(): string {
    if (EVERY_HOST.has(this.host)) return 'localhost';
    return this.host.includes(':') ? `[${this.host}]` : this.host;
  }
}

export type NodeRole = 'api' | 'worker' | 'all';

/** The role of this node, and how other nodes reach it. */
export class NodeConfig {
  /** `api` answers requests, `worker` acts for signers, `all` does both. */
  @Choice(['api', 'worker', 'all'])
  role: NodeRole = 'all';

  /** URL at which other nodes reach the API of this node; needed for `intake.notLeader: forward`. */
  @Text({ form: /^https?:\/\/[^/]+$/, words: 'must be http(s)://host:port' })
  advertisedUrl?: string;

  /** Secret that all nodes of a deployment share; proves that one of them forwarded a request. */
  @Text({ form: /^.{16,}$/, words: 'must have at least 16 characters' })
  forwardSecret?: string;

  get acts(): boolean {
    return this.role !== 'api';
  }

  get serves(): boolean {
    return this.role !== 'worker';
  }
}

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export class LoggingConfig {
  @Choice(LOG_LEVELS)
  level: LogLevel = 'info';
}

export class MetricsConfig {
  /** Label metrics with signer addresses; turn off with very many signers. */
  @Flag()
  signerLabels = true;
}
