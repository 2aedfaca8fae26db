import 'reflect-metadata';
import type { QueryResult, QueryResultRow } from 'pg';
import { configFrom } from '../../src/config/index.js';
import { DEV_MNEMONIC } from '../../src/dev/dev-accounts.js';
import { Clock } from '../../src/kernel/clock.js';
import { Unavailable } from '../../src/kernel/errors.js';
import { NodeIdentity } from '../../src/kernel/node-identity.js';
import type { SignerId } from '../../src/kernel/signer-id.js';
import type { EcdsaSignature, Signable } from '../../src/kernel/signing.js';
import { UnitOfWork } from '../../src/kernel/unit-of-work.js';
import { AuthorizationsModule } from '../../src/modules/authorizations/authorizations.module.js';
import { ChainModule } from '../../src/modules/chain/chain.module.js';
import { Chains, HeadTracker } from '../../src/modules/chain/index.js';
import { Metrics } from '../../src/platform/metrics/metrics.js';
import { EthersChainConnector } from '../../src/modules/chain/infrastructure/ethers-chain-connector.js';
import { MIN_TIP_WEI_PER_GAS } from '../../src/config/index.js';
import { JsonRpcEndpoint } from '../../src/modules/chain/infrastructure/rpc/json-rpc-endpoint.js';
import { RpcPool } from '../../src/modules/chain/infrastructure/rpc/rpc-pool.js';
import { RpcReader } from '../../src/modules/chain/infrastructure/rpc/rpc-reader.js';
import { CommandsModule } from '../../src/modules/commands/commands.module.js';
import { ApplyChainUpdate } from '../../src/modules/confirmations/application/apply-chain-update.js';
import { ConfirmationsModule } from '../../src/modules/confirmations/confirmations.module.js';
import { EventBell } from '../../src/modules/events/index.js';
import { Pauses } from '../../src/platform/scheduling/pause.js';
import { LanesModule } from '../../src/modules/lanes/lanes.module.js';
import { LaneScheduler } from '../../src/modules/lanes/infrastructure/lane-scheduler.js';
import {
  type CustodiedSigner,
  Custody,
  CustodyFailed,
  type SignerRules,
} from '../../src/modules/signers/domain/custody.js';
import { LeaseManager, SignerWorkers } from '../../src/modules/signers/index.js';
import { DeliverDue } from '../../src/modules/webhooks/application/deliver-due.js';
import { Doorbell } from '../../src/modules/ledger/application/writing/doorbell.js';
import { LaneMemory } from '../../src/modules/ledger/index.js';
import { LedgerModule } from '../../src/modules/ledger/ledger.module.js';
import { WebhookSender } from '../../src/modules/webhooks/domain/webhook-sender.js';
import { WebhooksModule } from '../../src/modules/webhooks/webhooks.module.js';
import { Database } from '../../src/platform/database/database.js';
import type { PgTx, SqlValue, Statement } from '../../src/platform/database/pg-tx.js';
import { HeartbeatDatabase, ReadDatabase } from '../../src/platform/database/pools.js';
import { Log } from '../../src/platform/logging/log.js';
import { PlatformModule } from '../../src/platform/platform.module.js';
import { Container, providersOf, type Token } from '../support/container.js';
import { Curses } from '../simulator/network/curses.js';
import { Headers } from '../simulator/network/encode.js';
import { Luck } from '../simulator/network/luck.js';
import { Needs } from '../simulator/network/needs.js';
import { SimEndpoint } from '../simulator/network/sim-endpoint.js';
import { NO_FAULTS } from '../simulator/network/surroundings.js';
import { Seen } from '../simulator/seen.js';
import { SilentDoorbell } from '../simulator/node-ports.js';
import { WEBHOOK_KEY } from '../support/webhook-secrets.js';
import { configProviders } from '../simulator/sim-config.js';
import { devCustody } from '../support/dev-custody.js';
import { SimChain } from '../simulator/sim-chain.js';
import type { SimDatabase } from '../simulator/sim-database.js';
import { DEV_CHAIN } from '../support/builders.js';
import { Named } from '../support/fakes/fake-node.js';
import { SilentEventBell } from '../support/fakes/silent-event-bell.js';
import { ModelChains } from '../support/model-chain.js';
import { FakeMetrics } from '../support/fakes/fake-metrics.js';
import { RecordingLog } from '../unit/chain/chain-fixture.js';
import { PoisonedReceivers, urlOf } from './poisoned-receivers.js';
import { type Poison, PoisonedWire, TIMEOUT_MS } from './poisoned-wire.js';
import { VirtualTime } from './virtual-time.js';
import { TxWriter } from '../../src/modules/ledger/domain/tx-writer.js';

/** Actor 0 has the poison. */
export const ACTORS = 4;
const PROVIDERS = providersOf([
  PlatformModule,
  ChainModule,
  LedgerModule,
  LanesModule,
  ConfirmationsModule,
  CommandsModule,
  AuthorizationsModule,
  WebhooksModule,
]);
const SLOW_STATEMENT_MS = 500;
/** The default of `database.statementTimeout`. */
const STATEMENT_TIMEOUT_MS = 5_000;
/** Derived once. */
const CUSTODY = await devCustody(ACTORS);
/** As {@link CheckedCustody} has it. */
const CUSTODY_TIMEOUT_MS = 10_000;
const SLOW_CUSTODY_MS = 4_000;

/** Where keys are remote, each is in a custody of its own, and that of the first actor may be poisoned. */
class PoisonedCustody extends Custody {
  isRemote = false;
  poison: Poison | null = null;
  private isOverdue = false;

  constructor(private readonly time: VirtualTime) {
    super();
  }

  signers(): readonly CustodiedSigner[] {
    return CUSTODY.signers().map((custodied, n) => ({ ...custodied, ...(this.isRemote && { remote: `toy ${n}` }) }));
  }

  rules(): readonly SignerRules[] {
    return CUSTODY.rules();
  }

  has(signer: SignerId): boolean {
    return CUSTODY.has(signer);
  }

  isExternal(): boolean {
    return false;
  }

  assertSigns(): void {
    // These custodies sign all.
  }

  async sign(signer: SignerId, items: readonly Signable[]): Promise<EcdsaSignature[]> {
    const isPoor = signer.address === CUSTODY.signers()[0]?.signer.address;
    if (isPoor && this.poison === 'slow') await this.time.sleep(SLOW_CUSTODY_MS);
    if (isPoor && this.poison === 'hangs' && !this.isOverdue) {
      await this.time.sleep(CUSTODY_TIMEOUT_MS);
      this.isOverdue = true;
    }
    if (isPoor && (this.poison === 'hangs' || this.poison === 'refuses')) throw new CustodyFailed('sealed');
    return CUSTODY.sign(signer, items);
  }
}

/** The product's lanes, whose rests are virtual. */
class VirtualLanes extends LaneScheduler {
  sleep: VirtualTime['sleep'] = () => Promise.resolve();

  tickNow(): Promise<void> {
    return this.tick(DEV_CHAIN);
  }

  protected override load(): number {
    return 0;
  }

  protected override later(ms: number, run: () => void): void {
    void this.sleep(ms).then(run);
  }
}

const STOPPED = Promise.reject(new Unavailable('database_unavailable', 'the lab has ended', 'no more'));
STOPPED.catch(() => undefined);

/** Time stands still while it works. */
class StillDatabase extends Database {
  constructor(
    private readonly time: VirtualTime,
    ...of: ConstructorParameters<typeof Database>
  ) {
    super(...of);
  }

  isStopped = false;

  override query<Row extends QueryResultRow>(
    statement: Statement,
    values: readonly SqlValue[],
  ): Promise<QueryResult<Row>> {
    return this.isStopped ? STOPPED : this.time.during(() => super.query<Row>(statement, values));
  }

  override transaction<T>(work: (tx: PgTx) => Promise<T>): Promise<T> {
    return this.isStopped ? STOPPED : this.time.during(() => super.transaction(work));
  }
}

/** One new node on an empty database and a new chain, with a few actors of which the first one may be poisoned; everything by virtual time. */
export class Neighbourhood {
  readonly chain = new SimChain();
  readonly time: VirtualTime;
  readonly wire: PoisonedWire;
  readonly receivers: PoisonedReceivers;
  readonly custody: PoisonedCustody;
  readonly log = new RecordingLog();
  /** Called before each leap of time. */
  passing: (ms: number) => Promise<void> = async () => undefined;
  private readonly node: Container;
  private readonly still: StillDatabase;

  constructor(private readonly database: SimDatabase) {
    this.time = new VirtualTime(async (ms) => {
      await this.passing(ms);
      await database.passTime(ms);
    });
    const endpoint = new SimEndpoint(0, surroundings(this.chain), true);
    const addresses = (): string[] => this.signers.map(({ address }) => address);
    this.wire = new PoisonedWire(endpoint, this.time, addresses);
    this.receivers = new PoisonedReceivers(this.time);
    this.custody = new PoisonedCustody(this.time);
    const still = new StillDatabase(this.time, database.source);
    this.still = still;
    const chains = this.chains();
    this.node = new Container(
      new Map([...PROVIDERS, [LaneScheduler, { provide: LaneScheduler, useExisting: VirtualLanes }]]),
      new Map<Token, unknown>([
        ...configProviders(configOf(database.url)),
        [Database, still],
        [HeartbeatDatabase, still],
        [ReadDatabase, still],
        [UnitOfWork, still],
        [Clock, this.time],
        [Pauses, { pause: this.time.sleep }],
        [NodeIdentity, new Named('node')],
        [Log, this.log],
        [Metrics, new FakeMetrics()],
        [Chains, chains],
        [EventBell, new SilentEventBell()],
        [Doorbell, new SilentDoorbell()],
        [WebhookSender, this.receivers],
        [Custody, this.custody],
      ]),
    );
    this.lanes.sleep = this.time.sleep;
  }

  get<T>(token: Token<T>): T {
    return this.node.get(token);
  }

  /** Looks at the chain until nothing is new. */
  async follow(): Promise<void> {
    let changed: boolean;
    do changed = await this.get(HeadTracker).execute(DEV_CHAIN, (update) => this.get(ApplyChainUpdate).execute(update));
    while (changed);
  }

  get lanes(): VirtualLanes {
    return this.get(VirtualLanes);
  }

  get signers(): readonly SignerId[] {
    return CUSTODY.signers().map(({ signer }) => signer);
  }

  /** Empties the database, and takes the leases of all actors. */
  async open(): Promise<void> {
    await this.database.reset(this.signers);
    await this.get(LeaseManager).acquireOrRenew(this.signers);
  }

  /** The lanes of all actors have begun: what is signed, sent or ended outside of a lane step waits for that. */
  begin(): void {
    this.get(LaneMemory).recovered(this.get(LeaseManager).heldOn(DEV_CHAIN));
  }

  async poisonedWith(poison: Poison): Promise<void> {
    if (this.custody.isRemote) {
      this.custody.poison = poison;
      return;
    }
    this.wire.poison = poison;
    this.receivers.poison = poison;
    const [poor] = this.signers;
    if (poison === 'paused')
      await this.run(`INSERT INTO signer_pause (chain_id, signer, by) VALUES (0, $1, 'op')`, [poor?.address]);
    if (poison === 'paused')
      await this.run(
        `UPDATE webhook_endpoint SET disabled_at = clock_timestamp(), disabled_reason = 'paused' WHERE url = $1`,
        [urlOf(0)],
      );
    if (poison === 'unfunded' && poor) this.chain.setBalance(poor.address, 0n);
  }

  /** What is still being done ends with its next statement. */
  stop(): void {
    this.still.isStopped = true;
    this.wire.poison = null;
    this.receivers.poison = null;
    this.custody.poison = null;
  }

  /** Resolves when nothing is being done any more; the lanes end. */
  async idle(): Promise<void> {
    await this.lanes.onModuleDestroy();
    await this.get(SignerWorkers).idle();
    await this.get(DeliverDue).idle();
  }

  /** From now on what is written for the poisoned signer is refused, or takes long. */
  breakWrites(poison: Poison): void {
    const repository = this.get(TxWriter);
    const save = repository.save.bind(repository);
    repository.save = async (fence, txs) => {
      if (txs.some((tx) => tx.signer.address === this.signers[0]?.address)) {
        if (poison === 'slow') await this.time.pauseDuring(SLOW_STATEMENT_MS);
        if (poison === 'hangs') await this.time.pauseDuring(STATEMENT_TIMEOUT_MS);
        if (poison === 'hangs') throw new Unavailable('database_unavailable', 'statement timeout', 'try again');
        if (poison === 'refuses') throw new Error('violates a constraint');
      }
      return save(fence, txs);
    };
  }

  async run<Row extends QueryResultRow>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return (await this.database.own.query<Row>(text, [...values])).rows;
  }

  private chains(): ModelChains {
    const options = {
      url: 'http://endpoint.example',
      index: 0,
      timeoutMs: TIMEOUT_MS,
      batchSize: 100,
      batchBytes: 1_000_000,
    };
    const endpoints = [new JsonRpcEndpoint(options, this.wire)];
    const metrics = new FakeMetrics();
    const { time, log } = this;
    const pool = new RpcPool(
      { chainId: DEV_CHAIN, endpoints, errorPatterns: [], maxWaitMs: TIMEOUT_MS, maxLag: 5, pause: time.sleep },
      metrics,
      time,
      log,
    );
    const rpc = new RpcReader(DEV_CHAIN, pool, [], metrics, log);
    return new ModelChains(new EthersChainConnector(pool, rpc, time, MIN_TIP_WEI_PER_GAS, 'auto'));
  }
}

function surroundings(chain: SimChain): ConstructorParameters<typeof SimEndpoint>[1] {
  const statusOf = (): 'success' => 'success';
  return {
    chain,
    curses: new Curses(),
    needs: new Needs(),
    hanging: new Set(),
    luck: new Luck(1),
    headers: new Headers(true, statusOf),
    statusOf,
    rates: NO_FAULTS,
    seen: new Seen(),
    isAlone: () => false,
  };
}

function configOf(url: string): ReturnType<typeof configFrom> {
  return configFrom({
    database: { url },
    // One worker, which all signers share.
    worker: { concurrency: 1 },
    confirmations: { required: 2 },
    webhooks: { encryptionKeys: [WEBHOOK_KEY.toString('base64')] },
    lease: { duration: '48h', clockSkewAllowance: '0s' },
    chains: [
      {
        id: DEV_CHAIN,
        rpcUrls: ['http://127.0.0.1:1'],
        signers: [{ type: 'mnemonic', phrase: DEV_MNEMONIC, count: ACTORS }],
      },
    ],
  });
}
