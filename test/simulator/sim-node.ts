import { ANYONE } from '../../src/kernel/caller.js';
import { Clock } from '../../src/kernel/clock.js';
import { CrashPoints } from '../../src/kernel/crash-points.js';
import { messageOf } from '../../src/kernel/errors.js';
import { IdGenerator } from '../../src/kernel/id-generator.js';
import { NodeIdentity } from '../../src/kernel/node-identity.js';
import type { SignerId } from '../../src/kernel/signer-id.js';
import { FakeMetrics } from '../support/fakes/fake-metrics.js';
import { Metrics } from '../../src/platform/metrics/metrics.js';
import { AuditLog } from '../../src/kernel/audit-log.js';
import { UnitOfWork } from '../../src/kernel/unit-of-work.js';
import { ChainModule } from '../../src/modules/chain/chain.module.js';
import { Chains } from '../../src/modules/chain/index.js';
import { CommandsModule } from '../../src/modules/commands/commands.module.js';
import { ConfirmationsModule } from '../../src/modules/confirmations/confirmations.module.js';
import { Custody, LeaseManager } from '../../src/modules/signers/index.js';
import { CreateTx } from '../../src/modules/requests/application/create-tx.js';
import { StoredRequests } from '../../src/modules/requests/application/stored-requests.js';
import { EventBell } from '../../src/modules/events/index.js';
import { Doorbell } from '../../src/modules/ledger/application/writing/doorbell.js';
import { ClassifySends } from '../../src/modules/sending/application/classify-sends.js';
import { LaneScheduler } from '../../src/modules/lanes/infrastructure/lane-scheduler.js';
import { LeaseHeartbeat } from '../../src/modules/signers/infrastructure/lease-heartbeat.js';
import { WaitForState } from '../../src/modules/requests/application/wait-for-state.js';
import { TxQueries } from '../../src/modules/ledger/application/views/tx-views.js';
import { CreateNow } from '../../src/modules/requests/application/create-now.js';
import { type ForwardedAnswer, Forwarding } from '../../src/modules/requests/application/forwarding.js';
import type { ExecutionMode } from '../../src/config/sections/work-config.js';
import { type Job, type Jobs, plainJobs, scheduledJobs } from './node-jobs.js';
import { recorded, type Receivers, SimSender } from './receivers.js';
import { DrivenLanes, SCHEDULERS } from './node-schedulers.js';
import { BellRope, NO_VIEWS, NoWait, type Peers, type Request, SimForwarding } from './peers.js';
import { SignerWorkers } from '../../src/modules/signers/application/signer-workers.js';
import { LanesModule } from '../../src/modules/lanes/lanes.module.js';
import { LedgerModule } from '../../src/modules/ledger/ledger.module.js';
import { Database } from '../../src/platform/database/database.js';
import { PgAuditLog } from '../../src/platform/database/pg-audit-log.js';
import { HeartbeatDatabase, ReadDatabase } from '../../src/platform/database/pools.js';
import { Log } from '../../src/platform/logging/log.js';
import { PlatformModule } from '../../src/platform/platform.module.js';
import { WebhooksModule } from '../../src/modules/webhooks/webhooks.module.js';
import { WebhookSender } from '../../src/modules/webhooks/domain/webhook-sender.js';
import { DEV_CHAIN } from '../support/builders.js';
import { devCustody } from '../support/dev-custody.js';
import { Named } from '../support/fakes/fake-node.js';
import { SilentEventBell } from '../support/fakes/silent-event-bell.js';
import { Container, type Provider, providersOf, type Token } from '../support/container.js';
import { Excuses, type Faults } from './excuses.js';
import { Gate } from './gate.js';
import type { Network } from './network/network.js';
import { GatedDatabase } from './gated-database.js';
import { GateCrashPoints, SilentDoorbell, SimClock, WatchfulLog } from './node-ports.js';
import { nodeChains, type Wire } from './node-chains.js';
import type { SentLog } from './sent-log.js';
import { configProviders, simulatedConfig } from './sim-config.js';
import { noteMishap } from './weak-spots.js';
import type { Seen } from './seen.js';
import type { SimDatabase } from './sim-database.js';
import { Violation } from './violation.js';
import { watchedJudge } from './watched-judge.js';

/** Parts of the product that a test makes worse on purpose. */
export type Sabotage = readonly (readonly [Token, Provider])[];

const MODULES = [
  ...[PlatformModule, ChainModule, LedgerModule, LanesModule],
  ...[ConfirmationsModule, CommandsModule, WebhooksModule],
];
const PROVIDERS = providersOf(MODULES);

/** What a node of each mode has of its own. */
const OF_MODE = {
  basic: [],
  'worker-queue': [...SCHEDULERS, [WaitForState, { provide: WaitForState, useClass: NoWait }]],
} as const satisfies Record<ExecutionMode, readonly (readonly [Token, Provider])[]>;

/** The keys are derived once for all seeds. */
const CUSTODY = await devCustody(3);

export interface NodeParts {
  readonly database: SimDatabase;
  readonly network: Network;
  readonly sent: SentLog;
  readonly ids: IdGenerator;
  readonly sabotage: Sabotage;
  readonly wire: Wire;
  readonly seen: Seen;
  readonly mode: ExecutionMode;
  readonly peers: Peers;
  readonly faults: Faults;
  readonly receivers: Receivers | null;
}

/** One node: all of the product's classes, on the real database and the simulated endpoints, without timers. */
export class SimNode {
  readonly gate: Gate;
  readonly violations: Violation[] = [];
  private readonly clock = new SimClock();
  private readonly container: Container;
  private readonly jobs: Jobs;
  private readonly excuses: Excuses;
  private readonly running = new Map<Job, Promise<void>>();
  /** Null without webhook endpoints. */
  private readonly sender: SimSender | null;

  constructor(
    readonly id: string,
    private readonly parts: NodeParts,
  ) {
    const { database, network, sent, ids, sabotage, wire, seen, mode, peers, faults, receivers } = parts;
    this.gate = new Gate(
      (mishap, place) => noteMishap(seen, mishap, place),
      (place) => this.violations.push(new Violation('I8', `${id} works without end, last ${place}`)),
    );
    this.excuses = new Excuses(this.gate, faults, network.chain, this.violations);
    const log = new WatchfulLog(this.violations, seen, this.excuses);
    const chains = nodeChains({ nodeId: id, wire, network, gate: this.gate, sent, clock: this.clock, log });
    const gated = new GatedDatabase(database.source, this.gate, database);
    const config = simulatedConfig(database.url, mode, network.rules);
    this.sender = receivers && new SimSender(receivers, config.webhooks.timeout);
    const overrides = new Map<Token, unknown>([
      ...configProviders(config),
      [Database, gated],
      [HeartbeatDatabase, gated],
      [ReadDatabase, gated],
      [UnitOfWork, gated],
      [AuditLog, new PgAuditLog(gated, gated)],
      [Clock, this.clock],
      [IdGenerator, ids],
      [NodeIdentity, new Named(id)],
      [CrashPoints, new GateCrashPoints(this.gate)],
      [Log, log],
      [Metrics, new FakeMetrics()],
      [Chains, chains],
      [EventBell, new SilentEventBell()],
      [Doorbell, mode === 'basic' ? new SilentDoorbell() : new BellRope(id, peers)],
      [Forwarding, new SimForwarding(peers)],
      [TxQueries, NO_VIEWS],
      [WebhookSender, this.sender],
    ]);
    overrides.set(Custody, CUSTODY);
    this.container = new Container(
      new Map([...PROVIDERS, ...OF_MODE[mode], [ClassifySends, watchedJudge(seen)], ...sabotage]),
      overrides,
    );
    this.jobs = mode === 'basic' ? plainJobs(this.container) : scheduledJobs(this.container);
  }

  static signers(count: number): SignerId[] {
    return CUSTODY.signers()
      .slice(0, count)
      .map(({ signer }) => signer);
  }

  get<T>(token: Token<T>): T {
    return this.container.get(token);
  }

  get isBusy(): boolean {
    return this.running.size > 0 || this.get(SignerWorkers).forChain(DEV_CHAIN).depth() > 0;
  }

  create(request: Parameters<CreateTx['execute']>[0]): ReturnType<CreateTx['execute']> {
    return this.get(CreateTx).execute(request, this.get(StoredRequests).lookUp(request));
  }

  advanceClock(ms: number): void {
    this.clock.advance(ms);
    this.sender?.passed(ms);
    if (this.isScheduled) this.get(DrivenLanes).passed(ms);
  }

  /** As the controller does it for `allocate: now`. @returns the id of the tx */
  async createNow(request: Request, wasForwarded = false): Promise<string> {
    const result = await this.get(CreateNow).execute(request, this.get(StoredRequests).lookUp(request), {
      path: '/api/v1/tx',
      body: request,
      caller: ANYONE,
      wasForwarded,
    });
    this.parts.seen.note(`intake ${wasForwarded ? 'of a forwarded request' : result.kind}`);
    return result.kind === 'created' ? result.tx.txId : txIdIn(result.answer);
  }

  /** A bell of somebody else's, for those of these signers that are this node's, or whose lease it may take. */
  hear(signers: readonly SignerId[]): Promise<void> {
    const ours = signers.filter((signer) => this.get(LeaseManager).isOurs(signer));
    if (ours.length > 0) this.get(LaneScheduler).wake(ours);
    return this.idle();
  }

  private get isScheduled(): boolean {
    return this.parts.mode === 'worker-queue';
  }

  /** Starts the job, unless it is still running; nothing is thrown: a failed job is tried again by a later one. */
  start(job: Job, signers: readonly SignerId[]): Promise<void> {
    const running = this.running.get(job);
    if (running) return running;
    const work = this.jobs[job](signers)
      .catch((error: unknown) => this.note(error))
      .finally(() => this.running.delete(job));
    this.running.set(job, work);
    return work;
  }

  /** Everything that is still running. */
  async idle(): Promise<void> {
    await Promise.all(this.running.values());
    await this.get(SignerWorkers).idle();
    if (this.sender) await recorded(this.container);
  }

  async shutDown(): Promise<void> {
    await this.leave().catch((error: unknown) => this.note(error));
  }

  private async leave(): Promise<void> {
    if (!this.isScheduled) return this.get(LeaseManager).releaseAll();
    await this.get(LaneScheduler).onModuleDestroy();
    await this.get(LeaseHeartbeat).leave();
  }

  private note(error: unknown): void {
    const errors: unknown[] = error instanceof AggregateError ? error.errors : [error];
    for (const each of errors) {
      this.gate.happened.push(messageOf(each));
      this.excuses.judge(each, 'a job failed');
    }
  }
}

function txIdIn({ body }: ForwardedAnswer): string {
  return (JSON.parse(body) as { txId: string }).txId;
}
