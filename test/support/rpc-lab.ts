import { configFrom } from '../../src/config/index.js';
import { callRpc } from '../../src/dev/json-rpc.js';
import { DEV_MNEMONIC } from '../../src/dev/dev-accounts.js';
import { inSlices } from '../../src/kernel/in-slices.js';
import { ConfiguredChains } from '../../src/modules/chain/infrastructure/configured-chains.js';
import { type AttemptView, TxQueries } from '../../src/modules/ledger/application/views/tx-views.js';
import type { TxRequest } from '../../src/modules/ledger/domain/tx-request.js';
import type { TxState } from '../../src/modules/ledger/index.js';
import { Database } from '../../src/platform/database/database.js';
import { RecordingLog, ShiftedClock } from '../unit/chain/chain-fixture.js';
import { aRequest, DEV_CHAIN } from './builders.js';
import { readChain } from './chain-reader.js';
import { knowNonce } from './known-nonce.js';
import { makeDue } from './node-lab.js';
import { tagged } from './send-faults.js';
import { createTestDatabase, type TestDatabase } from './test-database.js';
import { type SetConstants, TestNode } from './test-node.js';
import { FakeMetrics } from './fakes/fake-metrics.js';

const READS_AT_ONCE = 50;

export interface RpcLabOptions {
  /** The chain itself, as the test asks it. It must mine on `evm_mine` only. */
  readonly chainUrl: string;
  /** What our node is given, in order of preference; the chain itself by default. */
  readonly rpcUrls?: readonly string[];
  /** Milliseconds. */
  readonly rpcTimeout?: number;
  /** Settings of the chain above the test defaults. */
  readonly chain?: Record<string, unknown>;
  /** Sections above the test defaults. */
  readonly config?: Record<string, unknown>;
  readonly setConstants?: SetConstants;
}

/**
 * One node of ours in this process, on a fresh database and a real chain over HTTP, without timers: the test says when a
 * block is mined and when the node looks. Transactions are told apart by a tag, their call data.
 */
export class RpcLab {
  private readonly others: TestNode[] = [];

  private constructor(
    readonly node: TestNode,
    private readonly chainUrl: string,
    private readonly chains: ConfiguredChains,
    private readonly database: TestDatabase,
  ) {}

  static async open(options: RpcLabOptions): Promise<RpcLab> {
    const { chainUrl, rpcUrls = [chainUrl], rpcTimeout = 10_000, chain = {}, config = {}, setConstants } = options;
    const database = await createTestDatabase();
    const chains = new ConfiguredChains(
      configFrom({
        database: { url: database.url },
        chains: [
          {
            id: DEV_CHAIN,
            rpcUrls: [...rpcUrls],
            rpcTimeout,
            ...chain,
            signers: [{ type: 'mnemonic', phrase: DEV_MNEMONIC, count: 1 }],
          },
        ],
      }),
      new FakeMetrics(),
      new ShiftedClock(),
      new RecordingLog(),
    );
    // Nobody renews leases here, and a slow machine must not lose them between two steps.
    const node = await TestNode.start(
      database.url,
      chains.get(DEV_CHAIN),
      { lease: { duration: '10m' }, ...config },
      setConstants,
    );
    // What is mined from now on is walked; what was mined before would have to be asked for by hash.
    await node.follow();
    await knowNonce(node, chainUrl);
    return new RpcLab(node, chainUrl, chains, database);
  }

  /** Another one on the same database. @param config sections above the test defaults */
  async startNode(config: Record<string, unknown> = {}): Promise<TestNode> {
    const chain = this.chains.get(DEV_CHAIN);
    const node = await TestNode.start(this.database.url, chain, { lease: { duration: '10m' }, ...config });
    this.others.push(node);
    await node.follow();
    return node;
  }

  async close(): Promise<void> {
    await Promise.all(this.others.map((node) => node.close()));
    await this.node.close();
    await this.chains.close();
    await this.database.drop();
  }

  async create(tag: number, overrides: Partial<TxRequest> = {}): Promise<string> {
    const { txId } = await this.node.create({ ...this.request(tag), ...overrides });
    return txId;
  }

  /** What `create` asks for when nothing is overridden. */
  request(tag: number): TxRequest {
    const base = aRequest();
    return {
      ...base,
      signer: this.node.signer(),
      requestId: `request-${tag}`,
      payload: { ...base.payload, data: tagged(tag) },
    };
  }

  /** Creates one tx per tag and has its lane step. */
  async sent(...tags: readonly number[]): Promise<string[]> {
    const txIds: string[] = [];
    for (const tag of tags) txIds.push(await this.create(tag));
    await this.node.step();
    return txIds;
  }

  /** Asks the chain itself. */
  ask(method: string, ...params: readonly unknown[]): Promise<unknown> {
    return callRpc(this.chainUrl, method, params);
  }

  /** Blocks of what can be mined; our node does not look. */
  async mine(count = 1): Promise<void> {
    for (let i = 0; i < count; i += 1) await this.ask('evm_mine');
  }

  /** Mines everything and as many blocks as make it final, and our node sees it all. */
  async confirmAll(): Promise<void> {
    await this.mine(3);
    await this.node.follow();
    // Of one endpoint a head counts when a later one was seen.
    await this.mine();
    await this.node.follow();
  }

  /** As if the resubmit interval had passed. */
  async resubmit(): Promise<void> {
    await makeDue(this.node);
    await this.node.resubmit();
  }

  /** As if it were time to ask for every receipt again. */
  async checkReceipts(): Promise<void> {
    await makeDue(this.node);
    await this.node.checkReceipts();
  }

  /** Whether its receipt is asked for again soon, as after an answer that says nothing; not after half a `staleReceiptTimeout`. */
  async isAskedAgainSoon(txId: string): Promise<boolean> {
    const { rows } = await this.node.get(Database).query<{ soon: boolean }>(ASKED_AGAIN_SOON, [txId]);
    return rows[0]?.soon === true;
  }

  /** Not all at once: on a busy machine the last would wait longer for a connection than it may. */
  async states(txIds: readonly string[]): Promise<TxState[]> {
    const states: TxState[] = [];
    for (const some of inSlices(txIds, READS_AT_ONCE))
      states.push(...(await Promise.all(some.map(async (txId) => (await this.node.tx(txId)).state))));
    return states;
  }

  attempts(txId: string): Promise<AttemptView[]> {
    return this.node.get(TxQueries).attempts(txId);
  }

  /** How often each payload is on chain. */
  async timesOnChain(...tags: readonly number[]): Promise<number[]> {
    const { address } = this.node.signer();
    const mined = (await readChain(this.chainUrl)).filter(({ from }) => from.toLowerCase() === address);
    return tags.map((tag) => mined.filter(({ input }) => input === tagged(tag)).length);
  }
}

const ASKED_AGAIN_SOON = {
  name: 'test_asked_again_soon',
  text: `SELECT next_receipt_check_at < clock_timestamp() + interval '30 seconds' AS soon FROM managed_tx WHERE tx_id = $1`,
};
