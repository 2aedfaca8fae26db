import 'reflect-metadata';
import { Registry } from 'prom-client';
import { DataSource } from 'typeorm';
import { ANYONE } from '../../src/kernel/caller.js';
import { AppModule } from '../../src/app.module.js';
import { configFrom, type LockstepConfig } from '../../src/config/index.js';
import { DEV_MNEMONIC } from '../../src/dev/dev-accounts.js';
import { type SignerId, signerKey } from '../../src/kernel/signer-id.js';
import { type ChainConnector, Chains, HeadTracker } from '../../src/modules/chain/index.js';
import { ApplyChainUpdate } from '../../src/modules/confirmations/application/apply-chain-update.js';
import { CloseExpired } from '../../src/modules/commands/application/close-expired.js';
import { ExecuteCommands } from '../../src/modules/commands/application/execute-commands.js';
import { TendAuthorizations } from '../../src/modules/nonces/application/tend-authorizations.js';
import { TendPermits } from '../../src/modules/permits/application/tend-permits.js';
import { CheckReceipts } from '../../src/modules/confirmations/application/check-receipts.js';
import { SignerPolicies } from '../../src/modules/policies/index.js';
import { Custody, LeaseManager, Router } from '../../src/modules/signers/index.js';
import { SignerDirectory } from '../../src/modules/signers/domain/signer-directory.js';
import { CreateTx } from '../../src/modules/requests/application/create-tx.js';
import { StoredRequests } from '../../src/modules/requests/application/stored-requests.js';
import { EventBell, TxHistory } from '../../src/modules/events/index.js';
import { TxEventEntity, TypeormTxHistory } from '../../src/modules/events/infrastructure/typeorm-tx-history.js';
import { Doorbell } from '../../src/modules/ledger/application/writing/doorbell.js';
import { LaneMemory } from '../../src/modules/ledger/application/writing/lane-memory.js';
import { FreeNonceGaps } from '../../src/modules/nonces/index.js';
import { TendHolds } from '../../src/modules/nonces/application/tend-holds.js';
import { WatchGaps } from '../../src/modules/nonces/application/watch-gaps.js';
import { LaneStep } from '../../src/modules/lanes/application/lane-step.js';
import { BumpDue } from '../../src/modules/lanes/application/bump-due.js';
import { ResendDue } from '../../src/modules/lanes/application/resend-due.js';
import { TxQueries, type TxView } from '../../src/modules/ledger/application/views/tx-views.js';
import { ManagedTxEntity } from '../../src/modules/ledger/infrastructure/managed-tx.entity.js';
import { TxAttemptEntity } from '../../src/modules/ledger/infrastructure/tx-attempt.entity.js';
import { TypeormTxQueries } from '../../src/modules/ledger/infrastructure/typeorm-tx-queries.js';
import {
  createDataSource,
  dataSourceOptions,
  heartbeatPool,
  readPool,
} from '../../src/platform/database/data-source.js';
import { Database } from '../../src/platform/database/database.js';
import { HeartbeatDatabase, ReadDatabase } from '../../src/platform/database/pools.js';
import { Log } from '../../src/platform/logging/log.js';
import { DEV_CHAIN } from './builders.js';
import { Container, type Provider, providersOf, type Token } from './container.js';
import { SilentEventBell } from './fakes/silent-event-bell.js';
import { ShiftedClock } from '../unit/chain/chain-fixture.js';

const END_PAUSES = {
  name: 'test_end_pauses',
  text: `UPDATE tx_command SET due_at = created_at WHERE status = 'QUEUED'`,
};

/** A bell that nobody hears: in these tests the test itself says when a lane steps. */
class SilentDoorbell extends Doorbell {
  ring(): void {
    // Nothing on purpose.
  }
}

/** Repositories of entities have no class of their own by which they are found. */
const READS_OF_ENTITIES: readonly (readonly [Token, Provider])[] = [
  [
    TxHistory,
    {
      provide: TxHistory,
      inject: [ReadDatabase],
      useFactory: ({ dataSource }: ReadDatabase) => new TypeormTxHistory(dataSource.getRepository(TxEventEntity)),
    },
  ],
  [
    TxQueries,
    {
      provide: TxQueries,
      inject: [ReadDatabase, Router],
      useFactory: (reads: ReadDatabase, router: Router) =>
        new TypeormTxQueries(
          reads.dataSource.getRepository(ManagedTxEntity),
          reads.dataSource.getRepository(TxAttemptEntity),
          reads,
          router,
        ),
    },
  ],
];

/** The three pools of a node; entities are read through the second. */
async function connect({ database, lease }: LockstepConfig): Promise<[DataSource, DataSource, DataSource]> {
  const entities = [ManagedTxEntity, TxAttemptEntity, TxEventEntity];
  return Promise.all([
    createDataSource(database).initialize(),
    new DataSource({ ...dataSourceOptions(database, readPool(database)), entities }).initialize(),
    createDataSource(database, heartbeatPool(database, lease.renewInterval)).initialize(),
  ]);
}

/** Sets constants of the config that no file can set, for tests that cannot wait so long or send so much. */
export type SetConstants = (config: LockstepConfig) => void;

/**
 * One node in this process: all of the product's classes on a real database, with a chain of the test's and no timers, so
 * that the test decides what happens when.
 */
export class TestNode {
  private constructor(
    private readonly container: Container,
    private readonly sources: readonly DataSource[],
    /** By which the lanes wait; leases and the database have the real time. */
    readonly laneClock: ShiftedClock,
  ) {}

  static async start(
    url: string,
    chain: ChainConnector,
    { signers = [{ type: 'mnemonic', phrase: DEV_MNEMONIC, count: 5 }], ...overrides }: Record<string, unknown> = {},
    setConstants: SetConstants = () => undefined,
  ): Promise<TestNode> {
    const config = configFrom({
      database: { url, poolSize: 4 },
      confirmations: { required: 2 },
      logging: { level: 'fatal' },
      ...overrides,
      chains: [
        {
          id: DEV_CHAIN,
          rpcUrls: ['http://127.0.0.1:1'],
          signers,
        },
      ],
    });
    setConstants(config);
    const laneClock = new ShiftedClock();
    const sources = await connect(config);
    const [lanes, reads, heartbeat] = sources;
    const ownParts = new Map<Token, unknown>([
      [Database, new Database(lanes)],
      [ReadDatabase, new ReadDatabase(reads)],
      [HeartbeatDatabase, new HeartbeatDatabase(heartbeat)],
      // The metrics of the process are measured by timers and observers that nothing ends.
      [Registry, new Registry()],
      [Chains, { ids: () => [chain.chainId], get: () => chain }],
      [Doorbell, new SilentDoorbell()],
      [EventBell, new SilentEventBell()],
      [LaneMemory, new LaneMemory(laneClock)],
    ]);
    const container = new Container(
      new Map([...providersOf(AppModule.register(config).imports ?? []), ...READS_OF_ENTITIES]),
      ownParts,
    );
    await container.settle(Custody);
    container.makeAll();
    const node = new TestNode(container, sources, laneClock);
    await node.get(SignerDirectory).register(node.get(Custody).signers(), 'this one', 0);
    await node.get(SignerPolicies).refresh();
    return node;
  }

  get<T>(type: Token<T>): T {
    return this.container.get(type);
  }

  async close(): Promise<void> {
    await this.container.close();
    await Promise.all(this.sources.map((source) => source.destroy()));
  }

  signer(index = 0): SignerId {
    const signer = this.get(Custody).signers()[index]?.signer;
    if (!signer) throw new Error(`there is no dev signer ${index}`);
    return signer;
  }

  create(request: Parameters<CreateTx['execute']>[0]): ReturnType<CreateTx['execute']> {
    return this.get(CreateTx).execute(request, this.get(StoredRequests).lookUp(request));
  }

  /** One lane step. */
  async step(...signers: readonly SignerId[]): Promise<void> {
    const chain = this.get<Chains>(Chains).get(DEV_CHAIN);
    await this.get(LaneStep).step(chain, signers.length === 0 ? [this.signer()] : signers, (signer, error) =>
      this.get(Log).error('lane step failed', { signer: signerKey(signer), error }),
    );
  }

  /** Looks at the chain until nothing is new. */
  async follow(): Promise<void> {
    let changed: boolean;
    do changed = await this.get(HeadTracker).execute(DEV_CHAIN, (update) => this.get(ApplyChainUpdate).execute(update));
    while (changed);
    if (this.get(HeadTracker).isStalled(DEV_CHAIN)) await this.get(ApplyChainUpdate).lookAtBooks(DEV_CHAIN);
  }

  async checkReceipts(): Promise<void> {
    await this.get(FreeNonceGaps).execute(DEV_CHAIN, await this.get(CheckReceipts).execute(DEV_CHAIN));
  }

  resubmit(): Promise<void> {
    return this.get(ResendDue).execute(DEV_CHAIN);
  }

  /** Looks for txs that are stuck in a pool. */
  bump(): Promise<void> {
    return this.get(BumpDue).execute(DEV_CHAIN);
  }

  /** Signs authorizations that txs of other signers want, and ends those whose txs have ended. */
  authorizations(): Promise<void> {
    return this.get(TendAuthorizations).execute(DEV_CHAIN);
  }

  /** Signs permits that txs want, and ends those whose txs have ended. */
  permits(): Promise<void> {
    return this.get(TendPermits).execute(DEV_CHAIN);
  }

  /** Looks what became of the nonces of outside senders. */
  async holds(): Promise<void> {
    await this.get(TendHolds).execute(DEV_CHAIN);
    await this.get(WatchGaps).execute(DEV_CHAIN);
  }

  /** Carries out what clients asked for, also what has a pause after it failed, and closes what expired. */
  async commands(): Promise<void> {
    await this.get(Database).query(END_PAUSES, []);
    await this.get(ExecuteCommands).execute(DEV_CHAIN);
    await this.get(CloseExpired).execute(DEV_CHAIN);
  }

  releaseLeases(): Promise<void> {
    return this.get(LeaseManager).releaseAll();
  }

  async tx(txId: string): Promise<TxView> {
    const tx = await this.get(TxQueries).find(txId, ANYONE);
    if (!tx) throw new Error(`no transaction ${txId}`);
    return tx;
  }
}
