import { Clock } from '../../../src/kernel/clock.js';
import { EthersChainConnector } from '../../../src/modules/chain/infrastructure/ethers-chain-connector.js';
import { JsonRpcEndpoint } from '../../../src/modules/chain/infrastructure/rpc/json-rpc-endpoint.js';
import { RpcPool } from '../../../src/modules/chain/infrastructure/rpc/rpc-pool.js';
import { RpcReader } from '../../../src/modules/chain/infrastructure/rpc/rpc-reader.js';
import { Log, type LogFields } from '../../../src/platform/logging/log.js';
import { FakeMetrics } from '../../support/fakes/fake-metrics.js';

/** Real time plus what the test adds. */
export class ShiftedClock extends Clock {
  private shift = 0;
  private heldAt: number | null = null;

  now(): Date {
    return new Date(Date.now() + this.shift);
  }

  monotonicMs(): number {
    return (this.heldAt ?? performance.now()) + this.shift;
  }

  /** From now on only the test moves it. */
  hold(): void {
    this.heldAt = performance.now();
  }

  advance(milliseconds: number): void {
    this.shift += milliseconds;
  }
}

export class RecordingLog extends Log {
  readonly lines: { readonly event: string; readonly fields: LogFields }[] = [];

  debug(event: string, fields: LogFields = {}): void {
    this.lines.push({ event, fields });
  }

  info(event: string, fields: LogFields = {}): void {
    this.lines.push({ event, fields });
  }

  warn(event: string, fields: LogFields = {}): void {
    this.lines.push({ event, fields });
  }

  error(event: string, fields: LogFields = {}): void {
    this.lines.push({ event, fields });
  }

  child(): this {
    return this;
  }
}

export interface FixtureOptions {
  readonly chainId?: number;
  readonly timeoutMs?: number;
  readonly batchSize?: number;
  readonly batchBytes?: number;
  readonly maxWaitMs?: number;
  readonly minTip?: bigint;
  readonly maxLag?: number;
}

/** A connector over real HTTP, with all its parts at hand. */
export function aConnector(urls: readonly string[], options: FixtureOptions = {}) {
  const { chainId = 1337, timeoutMs = 1_000, batchSize = 100, maxWaitMs = 2_000, minTip = 1n, maxLag = 5 } = options;
  const { batchBytes = 1_000_000 } = options;
  const metrics = new FakeMetrics();
  const clock = new ShiftedClock();
  const log = new RecordingLog();
  const endpoints = urls.map((url, index) => new JsonRpcEndpoint({ url, index, timeoutMs, batchSize, batchBytes }));
  const pool = new RpcPool({ chainId, endpoints, errorPatterns: [], maxWaitMs, maxLag }, metrics, clock, log);
  const reader = new RpcReader(chainId, pool, [], metrics, log);
  return { connector: new EthersChainConnector(pool, reader, clock, minTip, 'auto'), pool, metrics, clock, log };
}
