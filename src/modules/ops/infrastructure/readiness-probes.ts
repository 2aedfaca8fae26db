import { Injectable } from '@nestjs/common';
import { type HealthIndicatorFunction, type HealthIndicatorResult, HealthIndicatorService } from '@nestjs/terminus';
import { messageOf } from '../../../kernel/errors.js';
import type { ChainId } from '../../../kernel/signer-id.js';
import { Database } from '../../../platform/database/database.js';
import { pendingMigrations } from '../../../platform/database/pending-migrations.js';
import { Chains } from '../../chain/index.js';
import { Drain } from './drain.js';

const PING = { name: 'ready_ping', text: 'SELECT 1' };

/** What a node needs before requests should be sent to it. */
@Injectable()
export class ReadinessProbes {
  constructor(
    private readonly indicators: HealthIndicatorService,
    private readonly database: Database,
    private readonly chains: Chains,
    private readonly drain: Drain,
  ) {}

  all(): HealthIndicatorFunction[] {
    return [
      () => this.check('node', async () => (this.drain.isDraining ? 'draining' : null)),
      () => this.check('database', () => answered(this.database.query(PING, []))),
      () => this.check('migrations', async () => pendingText(await pendingMigrations(this.database))),
      ...this.chains.ids().map((chainId) => () => this.checkChain(chainId)),
    ];
  }

  private checkChain(chainId: ChainId): Promise<HealthIndicatorResult> {
    return this.check(`chain-${chainId}`, () => answered(this.chains.get(chainId).head()));
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
