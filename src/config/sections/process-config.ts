import { Choice, Count, Flag, Size, Text } from '../config-fields.js';

export class ServerConfig {
  @Text()
  host = '0.0.0.0';

  /** Port of the API; with 0 the system chooses one. */
  @Count({ min: 0, max: 65_535 })
  port = 3000;

  /** Bytes. */
  @Size()
  bodyLimit = 1024 * 1024;

  /** Requests that wait for a state (`waitFor`) at once; above it a node answers 429. No key: one query serves all of them. */
  readonly maxWaiters: number = 10_000;
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
