import { beforeEach, describe, expect, it } from '@jest/globals';
import { InvariantViolation } from '../../../src/kernel/errors.js';
import { signerKey } from '../../../src/kernel/signer-id.js';
import type { Tx } from '../../../src/kernel/unit-of-work.js';
import type { EventLog, TxEvent } from '../../../src/modules/events/index.js';
import { Fence, FencedUnitOfWork, type Lease } from '../../../src/modules/signers/index.js';
import { AfterCommit } from '../../../src/modules/ledger/application/writing/after-commit.js';
import { WriteChanges } from '../../../src/modules/ledger/application/writing/write-changes.js';
import type { ManagedTx, TxProgress } from '../../../src/modules/ledger/domain/managed-tx.js';
import { fakeOf } from '../../support/fakes/fake-of.js';
import { aHash, aManagedTx, anAttempt, aRequest, aSigner } from '../../support/builders.js';

const FEES = { maxFeePerGas: 2n, maxPriorityFeePerGas: 1n };
const BYTES = { fees: FEES, gasLimit: 40_000n };
const leaseOf = (n: number): Lease => ({ signer: aSigner(n), owner: 'node', token: BigInt(n) });
const LEASES = [1, 2, 3].map(leaseOf);

class TestFence extends Fence {
  readonly nodeId = 'node';
  readonly tx = { open: true } as Tx;
  protected readonly leases: ReadonlyMap<string, Lease>;

  constructor(leases: readonly Lease[]) {
    super();
    this.leases = new Map(leases.map((lease) => [signerKey(lease.signer), lease]));
  }
}

/** What happened, in order: the statements by name, and what comes before and after them. */
let steps: string[];
/** By name, what each statement was given after the fence. */
let given: Map<string, unknown[]>;
let appended: { readonly tx: Tx; readonly author: unknown; readonly events: readonly TxEvent[] }[];
let runs: { readonly operation: string; readonly tokens: bigint[] }[];
let fence: Fence;
/** Runs at every step: to look around, or to fail it. */
let at: (step: string) => void;
/** How many signers each failure put in doubt. */
let inDoubt: number[];
let write: WriteChanges;
/** By name of a statement, what it returns. */
let results: Map<string, unknown[]>;

function step(name: string): void {
  steps.push(name);
  at(name);
}

class RecordedWork extends FencedUnitOfWork {
  override async run<T>(leases: readonly Lease[], operation: string, work: (fence: Fence) => Promise<T>): Promise<T> {
    runs.push({ operation, tokens: leases.map(({ token }) => token) });
    fence = new TestFence(leases);
    step('begin');
    const result = await work(fence);
    step('commit');
    return result;
  }
}

/** A port of which every call is kept. */
function recorded(port: string): never {
  const statement =
    (method: string) =>
    async (under: Fence, ...rest: unknown[]) => {
      expect(under).toBe(fence);
      given.set(`${port} ${method}`, rest);
      step(`${port} ${method}`);
      return results.has(method) ? results.get(method)?.shift() : new Set(['locked']);
    };
  return new Proxy({}, { get: (_target, method) => statement(String(method)) }) as never;
}

beforeEach(() => {
  [steps, given, appended, runs, at] = [[], new Map(), [], [], () => undefined];
  [inDoubt, results] = [[], new Map()];
  const events: EventLog = {
    append: async (tx, author, some) => {
      appended.push({ tx, author, events: [...some] });
      step('events append');
    },
    appendOfSigners: () => Promise.reject(new Error('no event is about a signer')),
  };
  write = new WriteChanges(
    new RecordedWork(),
    recorded('txs'),
    recorded('attempts'),
    recorded('slots'),
    events,
    fakeOf(AfterCommit, { notify: () => step('tell'), inDoubt: (signers) => void inDoubt.push(signers.length) }),
  );
});

const aTx = (txId: string, progress: Partial<TxProgress> = {}): ManagedTx =>
  aManagedTx({ txId, state: 'ALLOCATED', nonce: 7n, ...progress }).build();

/** Changed in the copy, and to be saved. */
function failed(txId: string, progress: Partial<TxProgress> = {}): ManagedTx {
  const tx = aTx(txId, progress);
  tx.failed('refused');
  return tx;
}

/** Only its event is to be written. */
function signed(txId: string, progress: Partial<TxProgress> = {}): ManagedTx {
  const tx = aTx(txId, progress);
  tx.signed(aHash(1), FEES);
  return tx;
}

function fill(txId: string) {
  const tx = aTx(txId, { kind: 'fill' });
  tx.repriced({ txHash: aHash(2), ...BYTES });
  return { tx, request: aRequest() };
}

const slot = (nonce: bigint) => ({ signer: aSigner(), nonce });
const holder = (nonce: bigint) => ({ ...slot(nonce), txId: `tx-${nonce}` });
const outcome = (nonce: bigint) => ({ ...slot(nonce), txHash: aHash(nonce) });
const attempt = (nonce: bigint) => anAttempt({ nonce, txHash: aHash(nonce) });

const cursors = [{ from: { signer: aSigner(), cursor: 1n, released: [], outside: [] }, to: 2n }];
const answer = { attempt: attempt(13n), errorClass: null, error: null, notSent: false, alone: false };
const answered = [{ ...answer, status: 'ACCEPTED' as const }];
/** A change set with all its parts. */
const everything = () => ({
  fills: [fill('fill')],
  txs: [failed('saved')],
  noted: [signed('noted')],
  slots: {
    vacated: [holder(0n)],
    held: [holder(1n)],
    cursors,
    adopted: [holder(2n)],
    filled: [holder(3n)],
    reopened: [slot(4n)],
    consumed: [outcome(5n)],
    released: [slot(6n)],
    freed: [slot(7n)],
  },
  attempts: {
    inserted: [attempt(11n)],
    resent: [attempt(12n)],
    answered,
    decided: [outcome(14n)],
    reopened: [slot(15n)],
  },
  postponed: { timer: 'resubmit' as const, txs: [{ tx: aTx('postponed'), inMs: 5_000 }] },
  fundsArrived: [aSigner()],
});

describe('a change set', () => {
  it('is written in one order: slots are vacated and taken, then attempts, then slots are given up, then rows and events', async () => {
    await write.execute(LEASES, 'test', everything());
    expect(steps).toEqual([
      'begin',
      'slots release',
      'txs vacate',
      'slots hold',
      'slots adopt',
      'slots fill',
      'slots reopen',
      'attempts insert',
      'attempts aboutToSend',
      'attempts recordOutcomes',
      'attempts decide',
      'attempts reopen',
      'slots consume',
      'slots release',
      'txs save',
      'txs insertFills',
      'txs postpone',
      'txs makeFundedDue',
      'txs makeHeldDue',
      'events append',
      'commit',
      'tell',
    ]);
  });

  it('has each of its parts written by its own statement', async () => {
    const changes = everything();
    const { slots, attempts } = changes;
    await write.execute(LEASES, 'test', changes);
    expect(Object.fromEntries(given)).toEqual({
      'slots hold': [slots.held, cursors],
      'slots adopt': [slots.adopted],
      'slots fill': [slots.filled],
      'slots reopen': [slots.reopened],
      'txs insertFills': [changes.fills],
      'attempts insert': [attempts.inserted],
      'attempts aboutToSend': [attempts.resent],
      'attempts recordOutcomes': [answered],
      'attempts decide': [attempts.decided],
      'attempts reopen': [attempts.reopened],
      'slots consume': [slots.consumed],
      'slots release': [slots.released],
      'txs vacate': [slots.vacated],
      'txs save': [changes.txs],
      'txs postpone': [changes.postponed],
      'txs makeFundedDue': [changes.fundsArrived],
      'txs makeHeldDue': [[aSigner()]],
    });
  });

  it('costs no statement for what it leaves out', async () => {
    await write.underFence(LEASES, 'test', async () => ({}));
    expect(steps).toEqual(['begin', 'commit', 'tell']);
    steps = [];
    await write.execute(LEASES, 'test', { txs: [failed('saved')], slots: { released: [] } });
    expect(steps).toEqual(['begin', 'txs save', 'events append', 'commit', 'tell']);
  });

  it('makes due what is held back, where there is room again', async () => {
    await write.execute(LEASES, 'test', { roomCame: [aSigner()] });
    expect(steps).toEqual(['begin', 'txs makeHeldDue', 'commit', 'tell']);
    expect(given.get('txs makeHeldDue')).toEqual([[aSigner()]]);
  });

  it('makes due what is held back, where a slot ends', async () => {
    const ends = { vacated: [holder(0n)], consumed: [outcome(5n)], released: [slot(6n)], forgotten: [slot(8n)] };
    for (const [name, slots] of Object.entries(ends)) {
      given.clear();
      await write.execute(LEASES, 'test', { slots: { [name]: slots } });
      expect(given.get('txs makeHeldDue')).toEqual([[aSigner()]]);
    }
    given.clear();
    await write.execute(LEASES, 'test', { slots: { held: [holder(1n)], cursors } });
    expect(given.has('txs makeHeldDue')).toBe(false);
  });

  it('of txs that wait has what can be locked, in the same transaction', async () => {
    const waiting = [failed('locked'), failed('changed')];
    await write.ofPending(LEASES, 'test', waiting, (locked) => ({ txs: waiting.filter(({ id }) => locked.has(id)) }));
    expect(steps).toEqual(['begin', 'txs lockPending', 'txs save', 'events append', 'commit', 'tell']);
    expect([given.get('txs lockPending'), given.get('txs save')]).toEqual([[waiting], [waiting.slice(0, 1)]]);
  });

  it('is written by one statement of each kind, however many txs it has', async () => {
    await write.execute(LEASES, 'test', { txs: [failed('a'), failed('b')], noted: [signed('c')] });
    expect([new Set(steps).size, runs.length]).toEqual([steps.length, 1]);
  });
});

it('receipts are asked for page by page, each in a transaction of its own, until the last', async () => {
  const pages = [slot(1n), slot(2n), null];
  const asked: unknown[] = [];
  results.set('markReceiptsDue', [...pages]);
  at = (name) => name === 'txs markReceiptsDue' && asked.push(given.get(name));
  await write.receiptsDue(LEASES, 'recover');
  const signers = LEASES.map(({ signer }) => signer);
  expect(asked).toEqual([null, ...pages.slice(0, 2)].map((after) => [signers, after]));
  expect(runs).toEqual([1, 2, 3].map(() => ({ operation: 'recover', tokens: [1n, 2n, 3n] })));
});

describe('the events of a commit', () => {
  it('are those of its fills, its txs and its noted copies, appended once, in its transaction, by its fence', async () => {
    const changes = { fills: [fill('fill')], txs: [failed('a'), failed('b')], noted: [signed('noted')] };
    await write.execute(LEASES, 'test', changes);
    expect(appended).toHaveLength(1);
    expect([appended[0]?.tx, appended[0]?.author]).toEqual([fence.tx, fence]);
    expect(appended[0]?.author).toBe(fence);
    expect(appended[0]?.events.map(({ txId, reason }) => [txId, reason])).toEqual([
      ['fill', 'gas_bumped'],
      ['a', 'failed'],
      ['b', 'failed'],
      ['noted', 'signed'],
    ]);
  });

  it('are written only once when a copy is changed and written again', async () => {
    const [saved, noted] = [aTx('saved'), signed('noted')];
    saved.postponed('NODE_REFUSED', 1, 'no');
    await write.execute(LEASES, 'first', { txs: [saved], noted: [noted] });
    saved.failed('no');
    await write.execute(LEASES, 'second', { txs: [saved], noted: [noted] });
    expect(appended.map(({ events }) => events.map(({ reason }) => reason))).toEqual([
      ['updated', 'signed'],
      ['failed'],
    ]);
  });
});

describe('the copies of a change set', () => {
  const looks = (txs: readonly ManagedTx[]) =>
    txs.map((tx) => [tx.progress.version, tx.enteredState, tx.pendingEvents().length]);

  it('are marked saved only after the commit, and after everybody was told what state they entered', async () => {
    const [filled, saved] = [fill('fill'), failed('saved')];
    const seen: unknown[] = [];
    at = (name) => ['commit', 'tell'].includes(name) && seen.push(...looks([filled.tx, saved]));
    await write.execute(LEASES, 'test', { fills: [filled], txs: [saved] });
    const unsaved = [
      [0, null, 1],
      [0, 'FAILED', 1],
    ];
    expect(seen).toEqual([...unsaved, ...unsaved]);
    expect(looks([filled.tx, saved])).toEqual([
      [1, null, 0],
      [1, null, 0],
    ]);
  });

  it('keep their version when only their events were written: their rows are as they were', async () => {
    const noted = signed('noted', { version: 4 });
    await write.execute(LEASES, 'test', { noted: [noted] });
    expect(looks([noted])).toEqual([[4, null, 0]]);
  });
});

describe('a transaction that fails', () => {
  it.each(['begin', 'txs save', 'commit'])(
    'at %s may have happened: all that is known of its signers is in doubt',
    async (name) => {
      await write.execute(LEASES, 'test', { txs: [failed('a')] });
      expect(inDoubt).toEqual([]);
      at = (now) => {
        if (now === name) throw new Error('the connection broke');
      };
      await expect(write.execute(LEASES, 'test', { txs: [failed('a')] })).rejects.toThrow('the connection broke');
      await expect(write.underFence(LEASES, 'test', async () => ({ txs: [failed('a')] }))).rejects.toThrow();
      expect(inDoubt).toEqual([1, 3]);
    },
  );

  const everyStep = ['begin', 'slots hold', 'attempts insert', 'txs save', 'events append', 'commit'];

  it.each(everyStep)('at its step "%s" tells nobody, and leaves the copies to be written again', async (bad) => {
    at = (name) => {
      if (name === bad) throw new Error(`no ${bad}`);
    };
    const changes = everything();
    await expect(write.execute(LEASES, 'test', changes)).rejects.toThrow(`no ${bad}`);
    expect(steps.at(-1)).toBe(bad);
    const copies = [...changes.fills.map(({ tx }) => tx), ...changes.txs, ...changes.noted];
    expect(copies.map((tx) => [tx.progress.version, tx.enteredState, tx.pendingEvents().length])).toEqual([
      [0, null, 1],
      [0, 'FAILED', 1],
      [0, null, 1],
    ]);
  });

  it('before it is known what is to change writes nothing at all', async () => {
    const unread = write.underFence(LEASES, 'test', () => Promise.reject(new Error('unread')));
    await expect(unread).rejects.toThrow('unread');
    expect([steps, given.size]).toEqual([['begin'], 0]);
  });
});

describe('the leases that are checked', () => {
  it('are those of the signers in the change set, and no others', async () => {
    const third = { signer: aSigner(3) };
    await write.execute(LEASES, 'test', { txs: [failed('a', third)], slots: { released: [slot(7n)] } });
    expect(runs).toEqual([{ operation: 'test', tokens: [1n, 3n] }]);
  });

  it('are all that were given where what is to change is read under them', async () => {
    const changes = { txs: [failed('a')] };
    const written = await write.underFence(LEASES, 'test', async (under) => {
      expect(under).toBe(fence);
      return changes;
    });
    expect([runs, written]).toEqual([[{ operation: 'test', tokens: [1n, 2n, 3n] }], changes]);
  });

  it('are none for a change set that changes nothing: it opens no transaction', async () => {
    await write.execute(LEASES, 'test', { txs: [], noted: [], slots: { released: [] }, attempts: { inserted: [] } });
    expect([runs, steps]).toEqual([[], []]);
  });

  it('must be those of its signers: a change set that nobody may write is never taken for written', async () => {
    const stranger = failed('a', { signer: aSigner(9) });
    at = (name) => void (name === 'txs save' && fence.tokenFor(stranger.signer));
    await expect(write.execute(LEASES, 'test', { txs: [stranger] })).rejects.toThrow(InvariantViolation);
    expect([steps.includes('tell'), stranger.pendingEvents().length]).toEqual([false, 1]);
  });
});
