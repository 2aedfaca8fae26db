import { Registry } from 'prom-client';
import { Clock } from '../../src/kernel/clock.js';
import { CrashPoints } from '../../src/kernel/crash-points.js';
import { InvariantViolation, messageOf } from '../../src/kernel/errors.js';
import { IdGenerator } from '../../src/kernel/id-generator.js';
import { NodeIdentity } from '../../src/kernel/node-identity.js';
import { type SignerId, signerKey } from '../../src/kernel/signer-id.js';
import { UnitOfWork } from '../../src/kernel/unit-of-work.js';
import { ChainModule } from '../../src/modules/chain/chain.module.js';
import { ChainConnector, Chains, FollowChain } from '../../src/modules/chain/index.js';
import { ApplyChainUpdate } from '../../src/modules/confirmations/application/apply-chain-update.js';
import { CheckReceipts } from '../../src/modules/confirmations/application/check-receipts.js';
import { ConfirmationsModule } from '../../src/modules/confirmations/confirmations.module.js';
import { Custody, LeaseManager } from '../../src/modules/signers/index.js';
import { CreateTx } from '../../src/modules/transactions/application/create-tx.js';
import { Doorbell } from '../../src/modules/transactions/application/doorbell.js';
import { LaneStep } from '../../src/modules/transactions/application/lane-step.js';
import { ResubmitDue } from '../../src/modules/transactions/application/resubmit-due.js';
import { SignerWorkers } from '../../src/modules/transactions/application/signer-workers.js';
import { TransactionsModule } from '../../src/modules/transactions/transactions.module.js';
import { Database } from '../../src/platform/database/database.js';
import { HeartbeatDatabase, ReadDatabase } from '../../src/platform/database/pools.js';
import { Log } from '../../src/platform/logging/log.js';
import { PlatformModule } from '../../src/platform/platform.module.js';
import { Named } from '../support/fakes/fake-node.js';
import { DEV_CHAIN } from '../support/builders.js';
import { Container, type Provider, providersOf, type Token } from './container.js';
import { Gate } from './gate.js';
import type { Network } from './network/network.js';
import { GatedDatabase } from './gated-database.js';
import { GateCrashPoints, SilentDoorbell, SimClock, WatchfulLog } from './node-ports.js';
import { nodeChains, type Wire } from './node-chains.js';
import type { SentLog } from './sent-log.js';
import { configProviders, simulatedConfig } from './sim-config.js';
import type { SimDatabase } from './sim-database.js';
import { Violation } from './violation.js';

/** Parts of the product that a test makes worse on purpose. */
export type Sabotage = readonly (readonly [Token, Provider])[];

/** Work of a node that never runs twice at once. */
export type Job = 'step' | 'follow' | 'receipts' | 'resubmit' | 'renew';

const MODULES = [PlatformModule, ChainModule, TransactionsModule, ConfirmationsModule];
const PROVIDERS = providersOf(MODULES);

/** The keys are derived once for all seeds. */
let derived: Custody | null = null;

export interface NodeParts {
  readonly database: SimDatabase;
  readonly network: Network;
  readonly sent: SentLog;
  readonly ids: IdGenerator;
  readonly sabotage: Sabotage;
  readonly wire: Wire;
}

/** One node: all of the product's classes, on the real database and the simulated endpoints, without timers. */
export class SimNode {
  readonly gate = new Gate();
  readonly violations: Violation[] = [];
  private readonly clock = new SimClock();
  private readonly container: Container;
  private readonly running = new Map<Job, Promise<void>>();

  constructor(
    readonly id: string,
    { database, network, sent, ids, sabotage, wire }: NodeParts,
  ) {
    const log = new WatchfulLog(this.violations);
    const chains = nodeChains({ wire, network, gate: this.gate, sent, clock: this.clock, log });
    const gated = new GatedDatabase(database.source, this.gate);
    const overrides = new Map<Token, unknown>([
      ...configProviders(simulatedConfig(database.url)),
      [Database, gated],
      [HeartbeatDatabase, gated],
      [ReadDatabase, gated],
      [UnitOfWork, gated],
      [Clock, this.clock],
      [IdGenerator, ids],
      [NodeIdentity, new Named(id)],
      [CrashPoints, new GateCrashPoints(this.gate)],
      [Log, log],
      [Registry, new Registry()],
      [Chains, chains],
      [ChainConnector, chains.get()],
      [Doorbell, new SilentDoorbell()],
    ]);
    if (derived) overrides.set(Custody, derived);
    this.container = new Container(new Map([...PROVIDERS, ...sabotage]), overrides);
    derived ??= this.container.get(Custody);
  }

  static signers(count: number): SignerId[] {
    if (!derived) throw new Error('no node was made yet');
    return derived
      .signers()
      .slice(0, count)
      .map(({ signer }) => signer);
  }

  get<T>(token: Token<T>): T {
    return this.container.get(token);
  }

  get isBusy(): boolean {
    return this.running.size > 0;
  }

  create(request: Parameters<CreateTx['execute']>[0]): ReturnType<CreateTx['execute']> {
    return this.get(CreateTx).execute(request);
  }

  advanceClock(ms: number): void {
    this.clock.advance(ms);
  }

  /** Starts the job, unless it is still running; nothing is thrown: a failed job is tried again by a later one. */
  start(job: Job, signers: readonly SignerId[]): Promise<void> {
    const running = this.running.get(job);
    if (running) return running;
    const work = this.work(job, signers)
      .catch((error: unknown) => this.note(error))
      .finally(() => this.running.delete(job));
    this.running.set(job, work);
    return work;
  }

  /** Everything that is still running. */
  async idle(): Promise<void> {
    await Promise.all(this.running.values());
    await this.get(SignerWorkers).idle();
  }

  async shutDown(): Promise<void> {
    await this.get(LeaseManager)
      .releaseAll()
      .catch((error: unknown) => this.note(error));
  }

  private note(error: unknown): void {
    const errors: unknown[] = error instanceof AggregateError ? error.errors : [error];
    for (const each of errors) {
      this.gate.happened.push(messageOf(each));
      if (each instanceof InvariantViolation || each instanceof TypeError)
        this.violations.push(new Violation('internal', each.stack ?? each.message));
    }
  }

  private async work(job: Job, signers: readonly SignerId[]): Promise<void> {
    switch (job) {
      case 'step':
        // As the scheduler does it: on the workers of the signers.
        await this.get(SignerWorkers)
          .forChain(DEV_CHAIN)
          .runGrouped(signers, signerKey, async (share) => {
            await this.get(LaneStep).execute(DEV_CHAIN, share);
          });
        return;
      case 'follow':
        await this.get(FollowChain).execute(DEV_CHAIN, (update) => this.get(ApplyChainUpdate).execute(update));
        return;
      case 'receipts':
        return this.get(CheckReceipts).execute(DEV_CHAIN);
      case 'resubmit':
        return this.get(ResubmitDue).execute(DEV_CHAIN);
      case 'renew':
        return this.get(LeaseManager).renewAll();
    }
  }
}
