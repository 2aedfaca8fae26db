import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { type HealthIndicatorResult, HealthIndicatorService } from '@nestjs/terminus';
import { messageOf } from '../../../kernel/errors.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { Database } from '../../../platform/database/database.js';
import { pendingMigrations } from '../../../platform/database/pending-migrations.js';
import { Chains, type EndpointStatus, RpcHealth } from '../../chain/index.js';
import { Drain } from './drain.js';

/** Whoever asks for readiness is more impatient than an RPC call; the state of the endpoints is told without an answer too. */
const HEAD_PATIENCE_MS = 1_000;

const PING = { name: 'ready_ping', text: 'SELECT 1' };

/** What a node needs before requests should be sent to it. */
@Injectable()
export class ReadinessProbes {
  constructor(
    private readonly indicators: HealthIndicatorService,
    private readonly database: Database,
    private readonly chains: Chains,
    private readonly rpc: RpcHealth,
    private readonly drain: Drain,
  ) {}

  all(): (() => Promise<HealthIndicatorResult>)[] {
    return [
      () => this.check('node', async () => (this.drain.isDraining ? 'draining' : null)),
      () => this.check('database', () => answered(this.database.query(PING, []))),
      () => this.check('migrations', async () => pendingText(await pendingMigrations(this.database))),
      ...this.chains.ids().map((chainId) => () => this.checkChain(chainId)),
    ];
  }

  /** Asked, so that the state is that of now. One failed question proves little: what counts is if anyone is left to ask. */
  private async checkChain(chainId: ChainId): Promise<HealthIndicatorResult> {
    const problem = await within(HEAD_PATIENCE_MS, answered(this.chains.get(chainId).head()));
    const endpoints = this.rpc.endpoints().filter((endpoint) => endpoint.chainId === chainId);
    const indicator = this.indicators.check(`chain-${chainId}`);
    const details = { endpoints: endpoints.map(shown) };
    const isUsable = problem === null || endpoints.some(({ state }) => state === 'up' || state === 'lagging');
    return isUsable ? indicator.up(details) : indicator.down({ message: problem, ...details });
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

function pendingText(pending: readonly string[]): string | null {
  return pending.length === 0 ? null : `pending: ${pending.join(', ')}`;
}

/** An answer, whatever it says, is all that is asked for. */
async function answered(question: Promise<unknown>): Promise<null> {
  await question;
  return null;
}

/** @returns what went wrong, which may be that there was no answer in time, or null */
async function within(milliseconds: number, question: Promise<null>): Promise<string | null> {
  const patience = new AbortController();
  const silence = sleep(milliseconds, 'no answer', { signal: patience.signal });
  try {
    return await Promise.race([question, silence]);
  } catch (error) {
    return messageOf(error);
  } finally {
    patience.abort();
  }
}

function shown({ endpoint, state, lagBlocks, reportedChainId, lastError }: EndpointStatus): object {
  return { endpoint, state, lagBlocks, reportedChainId, lastError };
}
