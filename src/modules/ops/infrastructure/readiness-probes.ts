import { Injectable } from '@nestjs/common';
import { type HealthIndicatorResult, HealthIndicatorService } from '@nestjs/terminus';
import { Clock } from '../../../kernel/clock.js';
import { messageOf } from '../../../kernel/errors.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { HeartbeatDatabase } from '../../../platform/database/pools.js';
import { pendingMigrations } from '../../../platform/database/pending-migrations.js';
import { RecentAnswer } from '../../../platform/scheduling/recent-answer.js';
import { Chains, type EndpointStatus, RpcHealth } from '../../chain/index.js';
import { Drain } from './drain.js';

/** Anyone may probe, as often as they like: the database is asked this often at most. */
const ASK_EVERY_MS = 1_000;

const PING = { name: 'ready_ping', text: 'SELECT 1' };

/**
 * What a node needs before requests should be sent to it: its database, its migrations, and that it is not on its way out. A chain
 * that no endpoint serves is shown, and no reason to turn requests away: no other node is better off, and what is accepted now is sent
 * when an endpoint is back.
 */
@Injectable()
export class ReadinessProbes {
  private readonly ping: RecentAnswer<null>;
  private readonly pending: RecentAnswer<string | null>;

  constructor(
    private readonly indicators: HealthIndicatorService,
    database: HeartbeatDatabase,
    private readonly chains: Chains,
    private readonly rpc: RpcHealth,
    private readonly drain: Drain,
    clock: Clock,
  ) {
    this.ping = new RecentAnswer(() => answered(database.query(PING, [])), ASK_EVERY_MS, clock);
    this.pending = new RecentAnswer(async () => pendingText(await pendingMigrations(database)), ASK_EVERY_MS, clock);
  }

  all(): (() => Promise<HealthIndicatorResult>)[] {
    return [
      () => this.check('node', async () => (this.drain.isDraining ? 'draining' : null)),
      () => this.check('database', () => this.ping.get()),
      () => this.check('migrations', () => this.pending.get()),
      ...this.chains.ids().map((chainId) => async () => this.chain(chainId)),
    ];
  }

  /** What this process knows of the endpoints from its own calls; a probe makes none. */
  private chain(chainId: ChainId): HealthIndicatorResult {
    const endpoints = this.rpc.endpoints().filter((endpoint) => endpoint.chainId === chainId);
    const indicator = this.indicators.check(`chain-${chainId}`);
    const details = { endpoints: endpoints.map(shown) };
    return endpoints.length > 0 && endpoints.every(isDead)
      ? indicator.degraded({ message: 'no endpoint is usable', ...details })
      : indicator.up(details);
  }

  /** @param probe answers what is wrong, or null */
  private async check(name: string, probe: () => Promise<string | null>): Promise<HealthIndicatorResult> {
    const indicator = this.indicators.check(name);
    try {
      const problem = await probe();
      return problem ? indicator.down(problem) : indicator.up();
    } catch (error) {
      return indicator.down(messageOf(error));
    }
  }
}

/** One that was never asked, as in a process that only answers requests, is not known to be dead. */
function isDead({ state, consecutiveFailures }: EndpointStatus): boolean {
  return state === 'backing_off' || state === 'wrong_chain' || (state === 'unverified' && consecutiveFailures > 0);
}

function pendingText(pending: readonly string[]): string | null {
  return pending.length === 0 ? null : `pending: ${pending.join(', ')}`;
}

/** An answer, whatever it says, is all that is asked for. */
async function answered(question: Promise<unknown>): Promise<null> {
  await question;
  return null;
}

function shown({ endpoint, state, lagBlocks, reportedChainId, lastError }: EndpointStatus): object {
  return { endpoint, state, lagBlocks, reportedChainId, lastError };
}
