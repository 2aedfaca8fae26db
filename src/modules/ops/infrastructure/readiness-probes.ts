import { Injectable } from '@nestjs/common';
import { type HealthIndicatorResult, HealthIndicatorService } from '@nestjs/terminus';
import { AuthConfig } from '../../../config/lockstep-config.js';
import { Clock } from '../../../kernel/clock.js';
import { messageOf } from '../../../kernel/errors.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { isReadOnly } from '../../../platform/database/database-errors.js';
import { HeartbeatDatabase } from '../../../platform/database/pools.js';
import { pendingMigrations } from '../../../platform/database/migrations.js';
import { RecentAnswer } from '../../../platform/scheduling/recent-answer.js';
import { Chains, type EndpointStatus, RpcHealth } from '../../chain/index.js';
import { type PauseJson, toPause } from '../../signers/index.js';
import { NOBODY, pauseView } from '../domain/pause-view.js';
import { Drain } from './drain.js';

/** Probes need no authentication and are not limited, so the database is queried at most this often. */
const QUERY_EVERY_MS = 1_000;

/** Locks nothing, and fails as a write does on a standby, or on an old primary after a failover. */
const PING = { name: 'ready_ping', text: 'SELECT 1 FROM migrations WHERE false FOR KEY SHARE' };

/** Signers whose chain is behind our books. */
const BEHIND = {
  name: 'ready_behind',
  text: `
    SELECT chain_id, count(*)::int AS signers, coalesce(bool_or(behind ->> 'cause' = 'CHAIN_RESET'), false) AS reset
      FROM signer_nonce_cursor WHERE behind IS NOT NULL GROUP BY chain_id`,
};

/** The widest first. That an account is stopped is not for everybody. */
const PAUSES = {
  name: 'ready_pauses',
  text: `SELECT * FROM signer_pause WHERE account = '' ORDER BY chain_id, signer LIMIT 10`,
};

interface BehindRow {
  chain_id: string;
  signers: number;
  reset: boolean;
}

/**
 * The conditions for sending requests to a node: its database takes writes, its migrations have run, and it is not shutting down. A chain
 * without a usable endpoint is reported, but the node stays ready: other nodes have the same endpoints, and accepted requests are sent when
 * an endpoint is back.
 */
@Injectable()
export class ReadinessProbes {
  private readonly ping: RecentAnswer<null>;
  private readonly pending: RecentAnswer<string | null>;
  private readonly behind: RecentAnswer<readonly BehindRow[]>;
  private readonly paused: RecentAnswer<readonly PauseJson[]>;

  constructor(
    private readonly indicators: HealthIndicatorService,
    database: HeartbeatDatabase,
    private readonly chains: Chains,
    private readonly rpc: RpcHealth,
    private readonly drain: Drain,
    clock: Clock,
    private readonly auth: AuthConfig,
  ) {
    // In a transaction, because that gives up a connection to a read-only server.
    const ping = async (): Promise<null> => database.transaction((tx) => tx.query(PING, [])).then(() => null);
    this.ping = new RecentAnswer(ping, QUERY_EVERY_MS, clock);
    this.behind = new RecentAnswer(
      async () => (await database.query<BehindRow>(BEHIND, [])).rows,
      QUERY_EVERY_MS,
      clock,
    );
    this.paused = new RecentAnswer(
      async () => (await database.query<PauseJson>(PAUSES, [])).rows,
      QUERY_EVERY_MS,
      clock,
    );
    this.pending = new RecentAnswer(async () => pendingText(await pendingMigrations(database)), QUERY_EVERY_MS, clock);
  }

  all(): (() => Promise<HealthIndicatorResult>)[] {
    return [
      () => this.check('node', async () => (this.drain.isDraining ? 'draining' : null)),
      () => this.check('database', () => this.ping.get()),
      () => this.check('migrations', () => this.pending.get()),
      () => this.pauses(),
      ...(this.auth.mode === 'none' ? [() => this.unguarded()] : []),
      ...this.chains.ids().map((chainId) => () => this.chain(chainId)),
    ];
  }

  /**
   * Reports endpoints from the calls that this process made before; a probe makes no call. A chain that was reset, or signers that are held
   * because it is behind our books, make no node unready: every node sees the same chain, and stores what is asked of it.
   */
  private async chain(chainId: ChainId): Promise<HealthIndicatorResult> {
    const endpoints = this.rpc.endpoints().filter((endpoint) => endpoint.chainId === chainId);
    const indicator = this.indicators.check(`chain-${chainId}`);
    const { signers = 0, reset = false } =
      (await this.behindBooks()).find((row) => Number(row.chain_id) === chainId) ?? {};
    const details = { endpoints: endpoints.map(shown), ...(signers === 0 ? {} : { signersBehind: signers }) };
    if (endpoints.length > 0 && endpoints.every(isDead))
      return indicator.degraded({ message: 'no endpoint is usable', ...details });
    if (signers === 0) return indicator.up(details);
    const message = reset ? 'the chain was reset' : 'the chain is behind our books';
    return indicator.degraded({ message: `${message}: signers are held`, ...details });
  }

  /** Pauses make no node unready either: operators wanted them. Who and why is not for everybody. None while the database does not answer. */
  private async pauses(): Promise<HealthIndicatorResult> {
    const indicator = this.indicators.check('signers');
    const pauses = (await this.paused.get().catch(() => [])).map((row) => ({
      ...pauseView(toPause(row), NOBODY),
      reason: null,
    }));
    return pauses.length === 0 ? indicator.up() : indicator.degraded({ message: 'signers are paused', pauses });
  }

  private async unguarded(): Promise<HealthIndicatorResult> {
    const message = 'auth.mode is none: anybody who reaches the port may do everything';
    return this.indicators.check('auth').up({ message });
  }

  /** None while the database does not answer, which its own check tells. */
  private async behindBooks(): Promise<readonly BehindRow[]> {
    return this.behind.get().catch(() => []);
  }

  /** @param probe returns the problem in words, or null */
  private async check(name: string, probe: () => Promise<string | null>): Promise<HealthIndicatorResult> {
    const indicator = this.indicators.check(name);
    try {
      const problem = await probe();
      return problem ? indicator.down(problem) : indicator.up();
    } catch (error) {
      return indicator.down(isReadOnly(causeOf(error)) ? 'the database server is read-only' : messageOf(error));
    }
  }
}

/** An endpoint that was never called is not dead: a node of role `api` calls none. */
function isDead({ state, consecutiveFailures }: EndpointStatus): boolean {
  return state === 'backing_off' || state === 'wrong_chain' || (state === 'unverified' && consecutiveFailures > 0);
}

function causeOf(error: unknown): unknown {
  return error instanceof Error ? error.cause : error;
}

function pendingText(pending: readonly string[]): string | null {
  return pending.length === 0 ? null : `pending: ${pending.join(', ')}`;
}

function shown({ endpoint, state, lagBlocks, reportedChainId, lastError }: EndpointStatus): object {
  return { endpoint, state, lagBlocks, reportedChainId, lastError };
}
