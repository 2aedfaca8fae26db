import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { HttpException } from '@nestjs/common';
import {
  type HealthCheckResult,
  HealthCheckService,
  type HealthCheckStatus,
  HealthIndicatorService,
  TerminusModule,
} from '@nestjs/terminus';
import { Test } from '@nestjs/testing';
import { DEFAULT_ACCOUNT } from '../../../src/kernel/caller.js';
import { AuthConfig } from '../../../src/config/index.js';
import { type Chains, type EndpointStatus } from '../../../src/modules/chain/index.js';
import { Drain } from '../../../src/modules/ops/infrastructure/drain.js';
import { ReadinessProbes } from '../../../src/modules/ops/infrastructure/readiness-probes.js';
import { migrationNames } from '../../../src/platform/database/migrations.js';
import { EthersChainConnector } from '../../../src/modules/chain/infrastructure/ethers-chain-connector.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { tickersWith } from '../../support/fakes/fake-tickers.js';
import { RecordingLog } from '../chain/chain-fixture.js';
import type { Statement } from '../../../src/platform/database/pg-tx.js';
import { FakeClock } from '../../support/fakes/fake-clock.js';
import { anEndpoint } from './an-endpoint.js';
import { answeringDatabase } from '../../support/fakes/answering-database.js';

interface Answer {
  readonly status: HealthCheckStatus;
  readonly details: HealthCheckResult['details'];
}

/** A node with what it knows of its endpoints, on a database that answers, or does not. */
class ReadinessLab {
  rpcCalls = 0;
  queries = 0;
  applied = migrationNames();
  database: 'up' | 'down' = 'up';
  /** By chain, the signers that are held because it is behind our books. */
  behind: object[] = [];
  pauses: object[] = [];
  readonly auth = new AuthConfig();
  readonly tickers = tickersWith(new RecordingLog());
  readonly drain = new Drain(this.tickers);
  readonly clock = new FakeClock();
  private probes: ReadinessProbes | null = null;

  constructor(readonly endpoints: readonly EndpointStatus[]) {}

  /** As `GET /health/ready` does it. */
  async ask(): Promise<Answer> {
    const module = await Test.createTestingModule({ imports: [TerminusModule.forRoot({ logger: false })] }).compile();
    const service = await module.resolve(HealthCheckService, undefined, { strict: false });
    this.probes ??= this.newProbes(module.get(HealthIndicatorService, { strict: false }));
    try {
      return await service.check(this.probes.all());
    } catch (error) {
      if (!(error instanceof HttpException)) throw error;
      return error.getResponse() as Answer;
    }
  }

  private newProbes(indicators: HealthIndicatorService): ReadinessProbes {
    const head = async (): Promise<never> => {
      this.rpcCalls += 1;
      throw new Error('the endpoint is away');
    };
    const chains: Chains = {
      ids: () => [...new Set(this.endpoints.map(({ chainId }) => chainId))],
      get: (chainId) => fakeOf(EthersChainConnector, { chainId, head }),
    };
    const query = async ({ name }: Statement): Promise<object[]> => {
      if (name === 'ready_behind') return this.behind;
      if (name === 'ready_pauses') return this.pauses;
      this.queries += 1;
      if (this.database === 'down') throw new Error('connection refused');
      return this.applied.map((name) => ({ name }));
    };
    const database = answeringDatabase(query);
    return new ReadinessProbes(
      indicators,
      database,
      chains,
      { endpoints: () => this.endpoints },
      this.drain,
      this.clock,
      this.auth,
    );
  }
}

const DEAD = { state: 'backing_off', consecutiveFailures: 9, lastError: 'connection refused' } as const;

describe('readiness', () => {
  it('does not depend on chains: of fifty, one whose provider is dead takes no API away', async () => {
    const chains = Array.from({ length: 50 }, (_, index) =>
      anEndpoint(0, { chainId: index + 1, ...(index === 49 ? DEAD : {}) }),
    );
    const { status, details } = await new ReadinessLab(chains).ask();
    expect(status).toBe('degraded');
    expect([details['chain-1'], details['chain-50']]).toMatchObject([
      { status: 'up' },
      { status: 'degraded', message: 'no endpoint is usable', endpoints: [{ lastError: 'connection refused' }] },
    ]);
  });

  it('stays when signers are paused, and says since when, and not who did it and why: nobody is asked for a key', async () => {
    const lab = new ReadinessLab([]);
    const since = new Date('2026-11-21T08:00:00Z');
    lab.pauses = [
      {
        ...{ chain_id: '0', signer: '', account: '', account_name: '', since, by: 'api' },
        ...{ by_account: DEFAULT_ACCOUNT, reason: 'a key may be stolen' },
      },
    ];
    const { status, details } = await lab.ask();
    expect([status, details['signers']]).toEqual([
      'degraded',
      {
        status: 'degraded',
        message: 'signers are paused',
        pauses: [{ chainId: null, signer: null, account: null, since: since.toISOString(), by: null, reason: null }],
      },
    ]);
  });

  it('says so where nobody is asked who calls, and stays', async () => {
    const lab = new ReadinessLab([]);
    expect((await lab.ask()).details['auth']).toBeUndefined();
    const open = new ReadinessLab([]);
    open.auth.mode = 'none';
    expect((await open.ask()).details['auth']).toMatchObject({
      status: 'up',
      message: expect.stringContaining('anybody'),
    });
  });

  it('stays when a chain was reset, and says so', async () => {
    const lab = new ReadinessLab([anEndpoint(0, { chainId: 1 }), anEndpoint(0, { chainId: 2 })]);
    lab.behind = [{ chain_id: '2', signers: 3, reset: true }];
    const { status, details } = await lab.ask();
    expect(status).toBe('degraded');
    expect([details['chain-1'], details['chain-2']]).toMatchObject([
      { status: 'up' },
      { status: 'degraded', message: 'the chain was reset: signers are held', signersBehind: 3 },
    ]);
  });

  it.each([
    ['backing off', DEAD],
    ['on another chain', { state: 'wrong_chain', reportedChainId: 1 }],
    ['away since the start', { state: 'unverified', consecutiveFailures: 3 }],
  ] as const)('stays when the only endpoint of the only chain is %s', async (_case, endpoint) => {
    expect((await new ReadinessLab([anEndpoint(0, endpoint)]).ask()).status).toBe('degraded');
  });

  it('takes an endpoint that nobody asked yet for usable', async () => {
    const lab = new ReadinessLab([anEndpoint(0, { state: 'unverified' })]);
    expect((await lab.ask()).status).toBe('ok');
  });

  it('costs no RPC call, and one look at the database in a second, however often it is asked', async () => {
    const lab = new ReadinessLab([anEndpoint(0)]);
    await Promise.all(Array.from({ length: 20 }, () => lab.ask()));
    const once = lab.queries;
    expect([lab.rpcCalls, once]).toEqual([0, 2]);
    lab.clock.advance(1_000);
    await lab.ask();
    expect(lab.queries).toBe(2 * once);
  });

  it('shows every endpoint with its state, lag, chain id and last error', async () => {
    const { details } = await new ReadinessLab([
      anEndpoint(0, { state: 'wrong_chain', lagBlocks: null, reportedChainId: 1, lastError: 'serves chain 1' }),
      anEndpoint(1, { state: 'lagging', lagBlocks: 50 }),
    ]).ask();
    expect(details['chain-7']).toEqual({
      status: 'up',
      endpoints: [
        {
          endpoint: '#0 https://rpc.example',
          state: 'wrong_chain',
          lagBlocks: null,
          reportedChainId: 1,
          lastError: 'serves chain 1',
        },
        { endpoint: '#1 https://rpc.example', state: 'lagging', lagBlocks: 50, reportedChainId: null, lastError: null },
      ],
    });
  });

  it('goes with the database, and comes back with it', async () => {
    const lab = new ReadinessLab([anEndpoint(0)]);
    lab.database = 'down';
    expect(await lab.ask()).toMatchObject({
      status: 'error',
      details: { database: { message: 'connection refused' } },
    });
    lab.database = 'up';
    lab.clock.advance(1_000);
    expect((await lab.ask()).status).toBe('ok');
  });

  it('waits for the migrations', async () => {
    const lab = new ReadinessLab([anEndpoint(0)]);
    const missing = lab.applied.pop();
    expect(await lab.ask()).toMatchObject({
      details: { migrations: { status: 'down', message: `pending: ${missing}` } },
    });
  });

  it('ends when a shutdown begins', async () => {
    const lab = new ReadinessLab([anEndpoint(0)]);
    void lab.tickers.shutDown();
    expect(await lab.ask()).toMatchObject({ status: 'error', details: { node: { message: 'draining' } } });
  });
});
