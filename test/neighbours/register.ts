import { BumpDue } from '../../src/modules/lanes/application/bump-due.js';
import { CloseExpired } from '../../src/modules/commands/application/close-expired.js';
import { ExecuteCommands } from '../../src/modules/commands/application/execute-commands.js';
import { ResendDue } from '../../src/modules/lanes/application/resend-due.js';
import { CheckReceipts } from '../../src/modules/confirmations/application/check-receipts.js';
import { DEV_CHAIN } from '../support/builders.js';
import { deliveries, inFlight, IS_OTHERS, ITEM, type Item, ITEMS_OF_OTHERS, mine, replaced, waiting } from './items.js';
import { DeliverDue } from '../../src/modules/webhooks/application/deliver-due.js';
import type { Neighbourhood } from './neighbourhood.js';
import { markOf, type Poison } from './poisoned-wire.js';

/** A list, batch or worker that takes due work of many actors. */
export interface Entry {
  readonly name: string;
  /** Classes and statements that are it, as the architecture test finds them. */
  readonly parts: readonly string[];
  readonly actor: string;
  readonly poisons: readonly Poison[];
  /** Why the other poisons do not apply. */
  readonly others: string;
  /** What costs the others more than twice as much as alone, why, and the seconds that each of their items waits at most on average. */
  readonly over?: Partial<Readonly<Record<Poison, { readonly why: string; readonly mostS: number }>>>;
  /** Everything is due at the beginning. */
  readonly atOnce?: true;
  /** It begins the lanes itself. */
  readonly begins?: true;
  /** Stores the items of these actors. */
  readonly store: (lab: Neighbourhood, some: readonly number[]) => Promise<void>;
  /** One look at what is due, and how often it is made. */
  readonly round: (lab: Neighbourhood) => Promise<void>;
  readonly everyMs: number;
  /** What is poisoned; the wire to the chain and the receivers if it is absent. Of a custody the keys are remote. */
  readonly of?: 'database' | 'custody';
  /** The next round does not wait for the end of this one. */
  readonly overlaps?: true;
  /** The items of others that are not done. */
  readonly left: (lab: Neighbourhood) => Promise<readonly Item[]>;
}

/** Of txs `t`. */
const txsLeft =
  (isLeft: string): Entry['left'] =>
  (lab) =>
    lab.run<Item>(`SELECT ${ITEM} FROM managed_tx t WHERE ${IS_OTHERS} AND ${isLeft}`);

/** All of them are due at once, in the batch that shows who it is. */
const FIRST_SENDS = { why: 'the first batch of sends waits twice for 2 s', mostS: 5 };
const OF_CHAIN: readonly Poison[] = ['hangs', 'refuses', 'malformed', 'slow'];

/** The same work, of remote keys. */
const OF_CUSTODY = {
  of: 'custody',
  poisons: ['hangs', 'refuses', 'slow'],
  others: 'a custody signs what it is given, or does not',
} satisfies Partial<Entry>;

type Work = Pick<Entry, 'store' | 'round' | 'everyMs' | 'atOnce' | 'left'>;

const LANES: Work = {
  store: async (lab, some) => {
    for (const actor of some) await waiting(lab, actor, { next_resubmit_at: 'due' });
  },
  round: (lab) => lab.lanes.tickNow(),
  everyMs: 500,
  left: txsLeft(`t.state <> 'IN_MEMPOOL'`),
};

const BUMPS: Work = {
  store: async (lab, some) => {
    for (const actor of some) await inFlight(lab, actor, {});
    lab.chain.mineEmpty(10);
    await lab.time.until(lab.follow());
  },
  round: (lab) => lab.get(BumpDue).execute(DEV_CHAIN),
  everyMs: 1_000,
  atOnce: true,
  left: txsLeft(
    `NOT EXISTS (SELECT FROM tx_attempt a WHERE a.tx_id = t.tx_id AND a.tx_hash NOT LIKE '0xfa0%' AND a.status <> 'SIGNED')`,
  ),
};

export const REGISTER: readonly Entry[] = [
  {
    name: 'lanes: waiting txs',
    begins: true,
    parts: ['LaneScheduler', 'LaneQueue', 'SignerWorkers', 'EstimatePending', 'pg-tx-queue/NEXT_PENDING'],
    actor: 'signer',
    poisons: ['hangs', 'refuses', 'reverts', 'unfunded', 'paused', 'malformed', 'slow'],
    others: '',
    ...LANES,
  },
  {
    name: 'lanes, by custody',
    begins: true,
    parts: ['LaneScheduler', 'SignerWorkers'],
    actor: 'signer',
    ...OF_CUSTODY,
    ...LANES,
  },
  {
    name: 'resends',
    parts: ['ResendDue', 'ResubmitScheduler', 'pg-txs-in-flight/DUE_FOR_RESUBMIT'],
    actor: 'signer',
    poisons: [...OF_CHAIN, 'unfunded', 'paused'],
    others: 'nothing is estimated',
    store: async (lab, some) => {
      for (const actor of some) await inFlight(lab, actor, { next_resubmit_at: 'due' });
    },
    round: (lab) => lab.get(ResendDue).execute(DEV_CHAIN),
    everyMs: 1_000,
    left: async (lab) => ITEMS_OF_OTHERS.filter(({ actor, n }) => !lab.wire.sent.includes(markOf(actor, n))),
  },
  {
    name: 'receipts',
    parts: [
      'CheckReceipts',
      'RecordMined',
      'ReceiptChecker',
      'PostponeReceiptChecks',
      'pg-txs-in-flight/DUE_FOR_RECEIPT',
    ],
    actor: 'signer',
    poisons: OF_CHAIN,
    others: 'nothing is sent or paid',
    store: async (lab, some) => {
      for (const actor of some) await inFlight(lab, actor, { next_receipt_check_at: 'due' });
      mine(lab, some);
    },
    round: async (lab) => void (await lab.get(CheckReceipts).execute(DEV_CHAIN)),
    everyMs: 1_000,
    left: txsLeft(`t.state = 'IN_MEMPOOL'`),
  },
  {
    name: 'commands',
    parts: ['ExecuteCommands', 'CarryOutCommands', 'CommandScheduler', 'command.statements/QUEUED'],
    actor: 'signer',
    poisons: ['hangs', 'refuses', 'reverts', 'slow'],
    others:
      'answers that are malformed or unfunded have it tried again like those that refuse; of the commands of a paused signer only cancels are carried out',
    store: async (lab, some) => {
      for (const actor of some) await replaced(lab, actor);
    },
    round: (lab) => lab.get(ExecuteCommands).execute(DEV_CHAIN),
    everyMs: 1_000,
    overlaps: true,
    left: (lab) => lab.run<Item>(`SELECT ${ITEM} FROM tx_command t WHERE ${IS_OTHERS} AND t.status = 'QUEUED'`),
  },
  {
    name: 'expiry',
    parts: ['CloseExpired', 'pg-commanded-txs/EXPIRED'],
    actor: 'signer',
    of: 'database',
    poisons: ['hangs', 'refuses', 'slow', 'paused'],
    others: 'the chain is not asked',
    over: { hangs: { why: 'who it is shows after a few time-outs of the database', mostS: 15 } },
    store: async (lab, some) => {
      for (const actor of some) await waiting(lab, actor, { expires_at: 'due', next_resubmit_at: `'infinity'` });
    },
    round: (lab) => lab.get(CloseExpired).execute(DEV_CHAIN),
    everyMs: 1_000,
    left: txsLeft(`t.state = 'PENDING'`),
  },
  {
    name: 'bumps',
    parts: ['BumpDue'],
    actor: 'signer',
    poisons: [...OF_CHAIN, 'unfunded', 'paused'],
    others: 'nothing is estimated',
    over: { hangs: FIRST_SENDS, slow: FIRST_SENDS },
    ...BUMPS,
  },
  {
    name: 'bumps, by custody',
    parts: ['BumpDue'],
    actor: 'signer',
    ...OF_CUSTODY,
    ...BUMPS,
  },
  {
    name: 'webhooks',
    parts: ['PgDeliveryQueue', 'DeliveryScheduler', 'RecordDeliveries', 'delivery.statements/CLAIM'],
    actor: 'endpoint',
    poisons: [...OF_CHAIN, 'paused'],
    others: 'nothing is sent to a chain or paid',
    store: async (lab, some) => {
      for (const actor of some) await deliveries(lab, actor);
    },
    round: async (lab) => void (await lab.get(DeliverDue).execute()),
    everyMs: 1_000,
    left: (lab) =>
      lab.run<Item>(
        `SELECT ('x' || right(d.endpoint_id::text, 3))::bit(12)::int AS actor, d.seq::int AS n FROM webhook_delivery d
          WHERE d.status = 'waiting' AND right(d.endpoint_id::text, 3) <> '000'`,
      ),
  },
];
