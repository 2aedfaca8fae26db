import { inspect } from 'node:util';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { IdGenerator } from '../../src/kernel/id-generator.js';
import type { SignerId } from '../../src/kernel/signer-id.js';
import { DatabaseWatch } from '../../src/platform/database/database-watch.js';
import type { CommandInput } from '../../src/modules/commands/application/submit-command.js';
import { checkInvariants } from './invariants.js';
import { FIRST_MS } from './database-time.js';
import { Fairness } from './fairness.js';
import type { Faults } from './excuses.js';
import { Bells } from './bells.js';
import type { Play } from './play.js';
import type { Peers } from './peers.js';
import { checkEverythingWakes } from './liveness.js';
import { OutsideSenders } from './outside-senders.js';
import type { Wire } from './node-chains.js';
import type { Job } from './node-jobs.js';
import { Random } from './random.js';
import { Receivers } from './receivers.js';
import { SentLog } from './sent-log.js';
import { Network } from './network/network.js';
import type { LieKind } from './network/view.js';
import type { Seen } from './seen.js';
import type { SimChain } from './sim-chain.js';
import type { SimDatabase } from './sim-database.js';
import { type Sabotage, SimNode } from './sim-node.js';
import { EMPTY, readSnapshot, type Snapshot } from './snapshot.js';
import { noteTroubles } from './watch-network.js';
import { noteChanges } from './watch-rows.js';

/** While something is held; how often it is looked at changes nothing about what happens. */
const LOOK_EVERY_MS = 1;

/** After so long a second look needs no later block. */
const SECOND_LOOK_MS = 30_000;

/** Ids that sort by age, and are the same in every replay. */
class CountingIds extends IdGenerator {
  private count = 0;

  next(): string {
    this.count += 1;
    return `00000000-0000-7000-8000-${this.count.toString(16).padStart(12, '0')}`;
  }
}

interface Command {
  readonly input: CommandInput;
  readonly commandId: string | null;
  /** The database lost it, or may have. */
  readonly isLost?: boolean;
}

/** Everything of one seed: a chain, a few nodes, and what clients were promised. */
export class World {
  readonly random: Random;
  readonly network: Network;
  readonly sent: SentLog;
  readonly nodes: SimNode[] = [];
  readonly signers: readonly SignerId[];
  /** Request to tx, as answered to a client. */
  readonly accepted = new Map<string, string>();
  /** Requests of which nobody knows yet whether they were accepted. */
  readonly unanswered = new Set<string>();
  /** Commands that clients sent, by their keys, and what they were called in the answer. */
  readonly commands = new Map<string, Command>();
  /** What was done, in order, to be read when a seed fails. */
  readonly trace: string[] = [];
  readonly bells: Bells;
  readonly faults: Faults = { on: true, losesCommits: false };
  /** A standby misses what is committed. */
  isBehind = false;
  /** Requests that were accepted, and that the database lost. */
  private lost = 0;
  snapshot: Snapshot = EMPTY;
  readonly fairness = new Fairness();
  /** Null without webhook endpoints. */
  readonly receivers: Receivers | null;
  /** Null without outside senders. */
  readonly outside: OutsideSenders | null;
  private readonly ids = new CountingIds();
  private readonly dead: SimNode[] = [];
  private started = 0;
  private readonly peers: Peers = {
    rang: (by, signers) => this.bells.ring(by, signers),
    ask: async (nodeId, request) => {
      const owner = this.nodes.find(({ id }) => id === nodeId);
      if (!owner || owner.gate.isStopped) throw new Error('connect ECONNREFUSED');
      return owner.createNow(request, true);
    },
  };

  constructor(
    readonly seed: number,
    readonly database: SimDatabase,
    private readonly sabotage: Sabotage,
    private readonly wire: Wire,
    focus: LieKind | null,
    readonly play: Play,
  ) {
    this.random = new Random(seed);
    this.receivers = play.hasReceivers ? new Receivers() : null;
    this.outside = play.hasOutside === true ? new OutsideSenders(this, seed) : null;
    this.network = new Network(seed, this.random, focus);
    this.sent = new SentLog(database.orderly);
    this.chain.seconds = FIRST_MS / 1000;
    this.bells = new Bells(this.random, this.seen);
    this.note(`${this.play.mode}; ${this.network.describe()}`);
    const count = this.random.between(2, 4);
    for (let index = 0; index < count; index += 1) this.startNode();
    this.signers = SimNode.signers(this.random.between(1, 3));
  }

  get seen(): Seen {
    return this.network.seen;
  }

  get chain(): SimChain {
    return this.network.chain;
  }

  /** What processes do before they accept anything. */
  async begin(): Promise<void> {
    for (const node of this.nodes) await node.get(DatabaseWatch).check();
    const [first] = this.nodes;
    if (this.receivers && first) await this.receivers.register(first);
  }

  /** A new process: new memory, new identity. */
  startNode(): SimNode {
    this.started += 1;
    const { database, network, sent, ids, sabotage, wire, seen, receivers } = this;
    const { mode } = this.play;
    const parts = {
      ...{ database, network, sent, ids, sabotage, wire, seen, mode, receivers },
      ...{ peers: this.peers, faults: this.faults },
    };
    const node = new SimNode(`node-${this.started}`, parts);
    this.nodes.push(node);
    return node;
  }

  replace(node: SimNode): void {
    this.nodes.splice(this.nodes.indexOf(node), 1);
    this.dead.push(node);
    this.startNode();
  }

  /** Those that are not standing still. */
  awake(): SimNode[] {
    return this.nodes.filter(({ gate }) => !gate.isStopped);
  }

  /** At all nodes, and at the database. */
  async passTime(ms: number): Promise<void> {
    await this.passTimeOfDatabase(ms);
    for (const node of this.nodes) await this.passTimeAt(node, ms);
  }

  /** An endpoint that nobody can outvote does not lie for so long that a second look at the same block counts (`SecondObservations`). */
  async passTimeOfDatabase(ms: number): Promise<void> {
    if (ms >= SECOND_LOOK_MS) this.network.endLoneLie();
    await this.database.passTime(ms);
    this.chain.seconds += ms / 1000;
  }

  /** How many requests clients have made. */
  get requests(): number {
    return this.accepted.size + this.unanswered.size + this.lost;
  }

  lose(request: string): void {
    this.accepted.delete(request);
    this.unanswered.delete(request);
    this.lost += 1;
  }

  /** At one node alone: its clock may run ahead of the database's. */
  async passTimeAt(node: SimNode, ms: number): Promise<void> {
    node.advanceClock(ms);
    await this.unblocked(node.idle(), node);
  }

  /** Those that are awake hear the bells that reach them, one after the other. */
  async hearBells(): Promise<void> {
    for (const { node, signers } of this.bells.take(this.awake())) {
      await this.unblocked(node.hear(signers), node);
      if (node.gate.isDead) await this.bury(node);
    }
  }

  note(words: string): void {
    this.trace.push(words);
  }

  /** Runs a job until it has ended or waits for something that is held. */
  async run(node: SimNode, job: Job, signers: readonly SignerId[]): Promise<void> {
    const happened = node.gate.happened.length;
    const { unanswered } = this.play;
    const isArmed = unanswered !== undefined && job !== 'step' && this.faults.on;
    if (isArmed) node.gate.arm('fail', 1, 'after COMMIT', unanswered);
    await this.unblocked(node.start(job, signers), node);
    if (isArmed) node.gate.disarm();
    const mishaps = node.gate.happened.slice(happened).join(', ');
    this.note(`${node.id} ${job}${mishaps === '' ? '' : ` (${mishaps})`}`);
    if (node.gate.isDead) await this.bury(node);
    await this.hearBells();
  }

  async resume(node: SimNode): Promise<void> {
    this.note(`${node.id} is resumed`);
    node.gate.resume();
    await this.unblocked(node.idle());
  }

  /** The work of a killed node ends at its next await, and another process takes its place. */
  async bury(node: SimNode): Promise<void> {
    node.gate.kill();
    await this.unblocked(node.idle());
    this.note(`${node.id} is dead`);
    if (this.nodes.includes(node)) this.replace(node);
  }

  async check(): Promise<void> {
    const before = this.snapshot;
    const now = await readSnapshot(this.database.own);
    checkInvariants(before, now, this.network, this.sent);
    checkEverythingWakes(now, this);
    this.outside?.check(now);
    const nodes = [...this.nodes, ...this.dead];
    const watchers = [this.sent, ...nodes, ...(this.receivers ? [this.receivers] : [])];
    const [found] = watchers.flatMap(({ violations }) => violations);
    if (found) throw found;
    noteChanges(this.seen, before, now);
    noteTroubles(this.network);
    this.snapshot = now;
  }

  /** What is in the way, for people. */
  describe(): string {
    const { leases, txs, slots, attempts } = this.snapshot;
    const open = txs.filter(({ state }) => !['CONFIRMED', 'FAILED', 'DROPPED'].includes(state));
    const pool = this.chain.pooled().map(({ from, nonce, hash, data }) => ({ from, nonce: Number(nonce), hash, data }));
    return inspect(
      {
        open,
        attempts: attempts.filter(({ tx }) => open.some(({ id }) => id === tx)),
        held: slots.filter(({ status }) => status !== 'CONSUMED'),
        leases,
        pool,
        height: this.chain.height,
      },
      { depth: 4, breakLength: 200 },
    );
  }

  /** Ends everything, so that the next seed finds no open transaction; for a seed that failed, too. */
  async close(): Promise<void> {
    for (const { gate } of this.nodes) gate.kill();
    await Promise.all([...this.nodes, ...this.dead].map((node) => node.idle()));
  }

  /**
   * Waits for work, but not for what is held. Who is held inside a transaction may keep others waiting for its locks; then
   * it goes on, as its time-out would have it.
   */
  async unblocked(work: Promise<unknown>, worker?: SimNode): Promise<void> {
    for (const { gate } of this.nodes) gate.nextAction();
    const progress = { ended: false };
    const end = work.finally(() => (progress.ended = true));
    if (!this.nodes.some(({ gate }) => gate.isUncertain)) {
      await end;
      return;
    }
    for (;;) {
      await Promise.race([end, sleep(LOOK_EVERY_MS)]);
      if (progress.ended || (worker && (await isStuck(worker)))) break;
      const holders = this.nodes.filter(({ gate }) => gate.holdsLocks);
      // Asked of the database, not of a clock: a replay on a busy machine must go the same way.
      if (holders.length > 0 && (await this.database.isAnyoneWaiting())) for (const { gate } of holders) gate.resume();
    }
  }
}

/** For some turns of the event loop: between two statements of a node there is always a moment without any. */
async function isStuck({ gate }: SimNode): Promise<boolean> {
  for (let turn = 0; turn < 4; turn += 1) {
    if (!gate.isStuck) return false;
    await setImmediate();
  }
  return gate.isStuck;
}
