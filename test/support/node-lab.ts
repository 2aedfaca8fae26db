import { afterEach, beforeEach, expect } from '@jest/globals';
import { ANYONE } from '../../src/kernel/caller.js';
import type { TxRequest } from '../../src/modules/ledger/domain/tx-request.js';
import { SubmitCommand } from '../../src/modules/commands/application/submit-command.js';
import { TxQueries, type TxView } from '../../src/modules/ledger/application/views/tx-views.js';
import { isFinal, type TxState } from '../../src/modules/ledger/index.js';
import { Database } from '../../src/platform/database/database.js';
import { anOrder, aRequest } from './builders.js';
import { ModelChain, type ModelTx } from './model-chain.js';
import { NOT_SENT, onlyFor, tagged } from './send-faults.js';
import { createTestDatabase, type TestDatabase } from './test-database.js';
import { type SetConstants, TestNode } from './test-node.js';

/** What is new for each test. */
interface Stage {
  readonly database: TestDatabase;
  readonly chain: ModelChain;
  readonly nodes: TestNode[];
}

/** For each test of the file that calls this: a fresh database, a chain in memory, and a node. */
export function nodeLab(config: Record<string, unknown> = {}): NodeLab {
  const lab = new NodeLab(config);
  beforeEach(() => lab.open());
  afterEach(() => lab.close());
  return lab;
}

/** One node, and more when a test wants them. Transactions are told apart by a tag, their call data. */
export class NodeLab {
  private stage: Stage | null = null;

  /** @param config of its nodes */
  constructor(private readonly config: Record<string, unknown> = {}) {}

  async open(): Promise<void> {
    this.stage = { database: await createTestDatabase(), chain: new ModelChain(), nodes: [] };
    await this.startNode();
  }

  async close(): Promise<void> {
    const { database, nodes } = this.opened;
    this.stage = null;
    await Promise.all(nodes.map((node) => node.close()));
    await database.drop();
  }

  /** The first one. */
  get node(): TestNode {
    const [node] = this.opened.nodes;
    if (!node) throw new Error('no node was started');
    return node;
  }

  get chain(): ModelChain {
    return this.opened.chain;
  }

  async startNode(config: Record<string, unknown> = {}, setConstants?: SetConstants): Promise<TestNode> {
    const { database, chain, nodes } = this.opened;
    // Nobody renews a lease while a test does other things, which takes long on a busy machine.
    const node = await TestNode.start(
      database.url,
      chain,
      { lease: { duration: '10m' }, ...this.config, ...config },
      setConstants,
    );
    nodes.push(node);
    return node;
  }

  /** The next owner of the signers, who knows nothing but what is written. */
  async takeOver(from = this.node): Promise<TestNode> {
    await from.releaseLeases();
    return this.startNode();
  }

  async create(tag: number, overrides: Partial<TxRequest> = {}): Promise<string> {
    const base = aRequest();
    const { txId } = await this.node.create({
      ...base,
      signer: this.node.signer(),
      requestId: `request-${tag}`,
      payload: { ...base.payload, data: tagged(tag) },
      ...overrides,
    });
    return txId;
  }

  /** Creates a tx and has its lane step. */
  async sent(tag: number): Promise<string> {
    const txId = await this.create(tag);
    await this.node.step();
    return txId;
  }

  async mined(tag: number): Promise<string> {
    const txId = await this.sent(tag);
    await this.mine();
    return txId;
  }

  /** One block of all that can be mined, and the node sees it. */
  async mine(by = this.node): Promise<void> {
    this.chain.mine();
    await by.follow();
  }

  /** The same, and enough blocks on top to make it final. */
  async confirmAll(by = this.node): Promise<void> {
    await this.mine(by);
    this.chain.mineEmpty(2);
    await by.follow();
  }

  /** Time passes: timers run out, all that a node does by itself is done, and blocks come. */
  async live(rounds = 1, by = this.node): Promise<void> {
    for (let round = 0; round < rounds; round += 1) {
      await by.follow();
      await makeDue(by);
      await makeWaitingDue(by);
      await by.step();
      await by.commands();
      await by.checkReceipts();
      await by.resubmit();
      await by.bump();
      await this.confirmAll(by);
      await by.step();
    }
  }

  /** Two looks at the chain, at different blocks, as an irreversible decision needs them; both are followed by what they allow. */
  async stepTwice(by = this.node): Promise<void> {
    await by.step();
    this.chain.mineEmpty();
    await by.follow();
    await makeWaitingDue(by);
    await by.step();
  }

  /** From now on the chain's head is answered one block too low. */
  lag(): void {
    const { chain } = this;
    const head = chain.head.bind(chain);
    chain.head = async () => {
      const [block] = await chain.blocks([(await head()).number - 1]);
      return block ?? head();
    };
  }

  /** As if `staleReceiptTimeout` had passed. */
  async checkReceipts(by = this.node): Promise<void> {
    await makeDue(by);
    await by.checkReceipts();
  }

  /** As if the resubmit interval had passed. */
  async resubmit(by = this.node): Promise<void> {
    await makeDue(by);
    await by.resubmit();
  }

  /**
   * Three txs. The bytes of the second never leave the node, and it is cancelled: its nonce is free below one that is in use, until the next
   * step fills it.
   */
  async gap(): Promise<string[]> {
    this.chain.faults.broadcast = onlyFor(2, NOT_SENT);
    const ids = [await this.create(1), await this.create(2), await this.create(3)];
    await this.node.step();
    await this.cancelUnsent(ids[1] ?? '');
    delete this.chain.faults.broadcast;
    expect(await this.states(ids)).toEqual(['IN_MEMPOOL', 'CANCELLED', 'IN_MEMPOOL']);
    return ids;
  }

  /** The same, filled; all final. */
  async filledGap(): Promise<string[]> {
    const ids = await this.gap();
    await this.node.step();
    await this.confirmAll();
    expect(await this.openFills()).toEqual([]);
    return ids;
  }

  /** What never left the node ends at once, and its nonce is free. */
  async cancelUnsent(txId: string, by = this.node): Promise<void> {
    await by.get(SubmitCommand).execute(anOrder('cancel', txId));
    await by.commands();
  }

  /** Fills of the first signer that are not final. */
  async openFills(by = this.node): Promise<TxView[]> {
    return (await this.fills(by)).filter(({ state }) => !isFinal(state));
  }

  /** Fills of the first signer, the newest first. */
  async fills(by = this.node): Promise<readonly TxView[]> {
    const { items } = await by.get(TxQueries).list({ kind: 'fill', signer: by.signer().address, limit: 100 }, ANYONE);
    return items;
  }

  async states(txIds: readonly string[], by = this.node): Promise<TxState[]> {
    const states: TxState[] = [];
    // One by one: the last of hundreds at once would wait for a connection longer than a statement may.
    for (const txId of txIds) states.push((await by.tx(txId)).state);
    return states;
  }

  minedWith(tag: number): ModelTx[] {
    return this.chain.minedTxs().filter(({ data }) => data === tagged(tag));
  }

  private get opened(): Stage {
    if (!this.stage) throw new Error('the lab is open only while a test runs');
    return this.stage;
  }
}

/** From now on what waits without a nonce is due for another look. */
export async function makeWaitingDue(node: TestNode): Promise<void> {
  await node.get(Database).query(MAKE_WAITING_DUE, []);
}

const MAKE_WAITING_DUE = {
  name: 'test_make_waiting_due',
  text: `UPDATE managed_tx SET next_resubmit_at = clock_timestamp() - interval '1 second'
          WHERE state = 'PENDING' AND next_resubmit_at IS NOT NULL`,
};

/** From now on what is in flight is due for another send, and for another look at its receipt. */
export async function makeDue(node: TestNode): Promise<void> {
  await node.get(Database).query(MAKE_DUE, []);
}

const MAKE_DUE = {
  name: 'test_make_due',
  text: `UPDATE managed_tx SET next_resubmit_at = clock_timestamp() - interval '1 second',
                next_receipt_check_at = clock_timestamp()
          WHERE state IN ('ALLOCATED', 'IN_MEMPOOL')`,
};

/** The same for the lowest nonce of each signer alone. */
export async function makeLowestDue(node: TestNode): Promise<void> {
  await node.get(Database).query(MAKE_LOWEST_DUE, []);
}

const MAKE_LOWEST_DUE = {
  name: 'test_make_lowest_due',
  text: `UPDATE managed_tx SET next_resubmit_at = clock_timestamp() - interval '1 second'
          WHERE (signer, nonce) IN (
            SELECT signer, min(nonce) FROM managed_tx WHERE state IN ('ALLOCATED', 'IN_MEMPOOL') GROUP BY signer)`,
};
